"""Where the hub is that a command asks, when it was not told."""

from collections.abc import Mapping

_LOCAL_PORT = "8080"


def local_hub(environment: Mapping[str, str]) -> str:
    """The address of the run that `make run` starts in the same environment: HUB_PORT, or 8080."""
    return f"http://127.0.0.1:{environment.get('HUB_PORT') or _LOCAL_PORT}"
