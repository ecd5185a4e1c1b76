"""Isolation of commands from the other processes of the machine, and of this process's environment from everybody."""

import ctypes
import shutil
import subprocess
from functools import cache

# Both give a command a process table of its own, in which it sees itself alone, and end with all that it started.
_MEANS = (
    "unshare --user --map-current-user --pid --fork --kill-child --mount-proc --",
    "bwrap --die-with-parent --unshare-pid --bind / / --dev-bind /dev /dev --proc /proc --",
)
_PROBE_SECONDS = 5
_PR_SET_DUMPABLE = 4


@cache
def isolating_prefix() -> tuple[str, ...]:
    """Return the program and arguments that isolate a command, found once; empty where the system allows none of them."""
    for program, *arguments in map(str.split, _MEANS):
        if file := shutil.which(program):
            prefix = (file, *arguments)
            try:
                command = [*prefix, "/bin/sh", "-c", ":"]
                subprocess.run(command, env={}, timeout=_PROBE_SECONDS, check=True, capture_output=True)  # noqa: S603 - constants
            except (OSError, subprocess.SubprocessError):
                continue
            return prefix
    return ()


def hide_environment() -> None:
    """Keep other processes of this user from reading this process's environment and memory (prctl(2), proc(5))."""
    try:
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    except (OSError, AttributeError):
        return  # Not Linux: there is no such file.
