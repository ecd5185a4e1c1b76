"""Ends process groups when the process that started them is gone, however it went (kill -9 included)."""

import contextlib
import os
import signal
from types import TracebackType
from typing import Self


class ParentWatch:
    """A watcher process at the other end of a pipe: when the pipe closes, it kills the registered groups.

    Enter it before any thread is started.
    """

    def __enter__(self) -> Self:
        """Start the watcher, in a session of its own, without this process's input and output."""
        read_end, self._write_end = os.pipe()
        self._watcher = os.fork()
        if self._watcher == 0:
            os.close(self._write_end)
            _watch(read_end)
            os._exit(0)
        os.close(read_end)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the watcher, and with it every group that is still held."""
        os.close(self._write_end)
        os.waitpid(self._watcher, 0)

    def register(self, group: int) -> None:
        """End `group` with this process from now on."""
        os.write(self._write_end, f"+{group}\n".encode())

    def release(self, group: int) -> None:
        """Release `group`, which has ended: its number may be reused."""
        os.write(self._write_end, f"-{group}\n".encode())


def _watch(read_end: int) -> None:
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    held: set[int] = set()
    with open(read_end, encoding="ascii") as lines:
        for line in lines:
            (held.add if line[0] == "+" else held.discard)(int(line[1:]))
    for group in held:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
