"""A worker that says what it was told: `TASKS_URL=… WORKER_TOKEN=… python -m workers.echo ROLE…`."""

import os
import sys

from workers import client
from workers.client import Question, Work


def echo(work: Work) -> str:
    """The user's last text; a text that ends with a question mark is asked back, once."""
    if work.text.endswith(("?", "？")) and len(work.history) == 1:
        raise Question(f"Do you mean: {work.text}")
    work.progress("Listening")
    return f"You said: {work.text}"


if __name__ == "__main__":
    client.run_worker(echo, roles=sys.argv[1:], environ=os.environ)
