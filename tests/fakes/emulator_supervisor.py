"""Runs a program until standard input ends, and then ends all of its group: `emulator_supervisor LOG COMMAND…`.

The program ends with whoever holds the other end of the pipe, however that ended.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

_STOP_SECONDS = 5.0
_LOOK_SECONDS = 0.1


def main() -> int:
    """The program's exit status, where it ended by itself."""
    with Path(sys.argv[1]).open("wb") as log:
        process = subprocess.Popen(
            sys.argv[2:],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        while process.poll() is None:
            if select.select([sys.stdin], [], [], _LOOK_SECONDS)[0]:
                break
    finally:
        for number in (signal.SIGINT, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_STOP_SECONDS)
    return process.returncode or 0


if __name__ == "__main__":
    # Signals to the group of the tests (Ctrl+C) are not for this: the pipe's end is.
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, signal.SIG_IGN)
    sys.exit(main())
