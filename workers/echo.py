"""A worker that repeats the user's text: `TASKS_URL=… WORKER_TOKEN=… python -m workers.echo ROLE…`."""

import argparse
import os

from workers import client
from workers.client import Question, Work


def echo(work: Work) -> str:
    """Return the user's last text; ask back once if it ends with a question mark."""
    if work.text.endswith(("?", "？")) and len(work.history) == 1:
        raise Question(f"Do you mean: {work.text}")
    work.progress("Listening")
    return f"You said: {work.text}"


def main() -> None:
    """Run until stopped."""
    parser = argparse.ArgumentParser(
        prog="python -m workers.echo",
        description="Answer each task with its own text, to try the way of a task. A text that ends with a question mark is "
        "asked back once.",
        epilog=client.SETTINGS_HELP,
    )
    parser.add_argument("role", nargs="*", help="the roles whose tasks it takes; none: all roles of its token")
    client.run_worker(echo, roles=parser.parse_args().role, environ=os.environ)


if __name__ == "__main__":
    main()
