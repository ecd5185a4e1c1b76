"""A guard on the processes that a program starts: they end with it, however it ends."""

import subprocess

__all__ = ["guard_on"]


def guard_on(group: int) -> subprocess.Popen[bytes]:
    """Start a process that kills a process group when this process dies in any way, which closes the pipe between the two.

    A line on its input ends it, after the group has ended.
    """
    return subprocess.Popen(  # noqa: S603 - a constant, and a number
        ["/bin/sh", "-c", 'read _ || kill -s KILL -- "-$1"', "sh", str(group)],
        env={},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
