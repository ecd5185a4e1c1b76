"""A worker that says what it was told: `TASKS_URL=… WORKER_TOKEN=… python -m workers.echo ROLE…`."""

import logging
import os
import signal
import sys

from workers.client import Client, Question, Work
from workers.credentials import from_environment


def echo(work: Work) -> str:
    """The user's last text; a text that ends with a question mark is asked back, once."""
    if work.text.endswith(("?", "？")) and len(work.history) == 1:
        raise Question(f"Do you mean: {work.text}")
    work.progress("Listening")
    return f"You said: {work.text}"


if __name__ == "__main__":
    logging.basicConfig()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    Client(os.environ["TASKS_URL"], from_environment(os.environ), roles=sys.argv[1:]).run(echo)
