"""A worker as a program: its settings come from the environment, SIGTERM ends it, and what it cannot do is told in one line."""

import logging
import signal
import sys
from collections.abc import Callable, Mapping, Sequence

from workers.client import Client, Work
from workers.credentials import from_environment
from workers.tasks_function import Refused


def run(do: Callable[[Work], str], *, roles: Sequence[str], environ: Mapping[str, str]) -> None:
    """Works until it is told to end. Exits with 1 when it is told nowhere to work, or is not let in."""
    url = environ.get("TASKS_URL", "")
    if not url.startswith(("http://", "https://")):
        sys.exit(
            f"TASKS_URL is {url!r}: it has to be the address of the tasks function, which `make run` prints"
        )
    logging.basicConfig()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    try:
        Client(url, from_environment(environ), roles=roles).run(do)
    except Refused as refused:
        sys.exit(f"the tasks function does not let this worker in: {refused}")
    except KeyboardInterrupt:
        sys.exit(130)
