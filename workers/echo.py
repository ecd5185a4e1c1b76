"""A worker that repeats the user's text: `TASKS_URL=… WORKER_TOKEN=… python -m workers.echo ROLE…`."""

import os
import sys

from workers import client
from workers.client import Question, Work


def echo(work: Work) -> str:
    """Return the user's last text; ask back once if it ends with a question mark."""
    if work.text.endswith(("?", "？")) and len(work.history) == 1:
        raise Question(f"Do you mean: {work.text}")
    work.progress("Listening")
    return f"You said: {work.text}"


if __name__ == "__main__":
    client.run_worker(echo, roles=sys.argv[1:], environ=os.environ)
