"""A worker of a soak: says what it was told after a moment, with a short lease."""

import os
import time

from workers.client import Client, Work, from_environment


def _work(work: Work) -> str:
    work.progress("Begun")
    time.sleep(0.15)
    return f"You said: {work.text}"


if __name__ == "__main__":
    seconds = int(os.environ["LEASE_SECONDS"])
    Client(os.environ["TASKS_URL"], from_environment(os.environ), lease_seconds=seconds).run(_work)
