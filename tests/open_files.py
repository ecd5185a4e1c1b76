"""Which files the running process holds."""

import contextlib
from pathlib import Path


def is_held(path: Path) -> bool:
    """Return True if this process has the file at `path` open."""
    for descriptor in Path("/dev/fd").iterdir():
        # The one that lists them is gone by now.
        with contextlib.suppress(OSError):
            if descriptor.samefile(path):
                return True
    return False
