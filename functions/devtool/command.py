"""Runs one program: no shell, nothing of our environment, within a time and an amount of output, and none of it stays behind."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from a2a_hub.http.messages import Cancellation
from functions.devtool.failure import Fault, ToolFailed
from functions.devtool.programs import Programs
from functions.devtool.workspace import is_visible

_HEAD_BYTES = _TAIL_BYTES = 16_000
_CHUNK_BYTES = 65_536
# What is shown while it runs is stored each time: less and less often.
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.25, 8.0
# What a program that has ended left running may hold the pipe for ever.
_AFTER_END_SECONDS = 0.5
_LOOK_SECONDS = 0.05


class _Output:
    """The first and the last of what a program wrote; what came between is only counted."""

    def __init__(self) -> None:
        self._head = b""
        self._tail = b""
        self._left_out = 0

    def add(self, chunk: bytes) -> None:
        """More of it."""
        space = _HEAD_BYTES - len(self._head)
        self._head += chunk[:space]
        tail = self._tail + chunk[space:] if space > 0 else self._tail + chunk
        self._left_out += max(0, len(tail) - _TAIL_BYTES)
        self._tail = tail[-_TAIL_BYTES:]

    @property
    def text(self) -> str:
        """What a person reads: without control characters, which would move a terminal's cursor."""
        left_out = f"\n… {self._left_out} bytes …\n".encode() if self._left_out else b""
        text = (self._head + left_out + self._tail).decode("utf-8", "replace").replace("\r\n", "\n")
        return "".join(each for each in text if is_visible(each) or each in "\n\t")


class Running(Iterator[str]):
    """A program that runs: each step is its whole output so far. At the end, `output` is all of it.

    Raises ToolFailed where it could not be started, ended with another status than 0, or took too long. Whoever cancels, it
    and all that it started are killed; then it just ends.
    """

    def __init__(
        self, programs: Programs, arguments: Sequence[str], *, folder: Path, cancellation: Cancellation
    ) -> None:
        self._programs = programs
        self._program = arguments[0]
        self._output = _Output()
        self._cancellation = cancellation
        self._pause = _FIRST_PAUSE_SECONDS
        self._reaping = threading.Lock()
        self._deadline = time.monotonic() + programs.seconds
        file = shutil.which(self._program, path=programs.path)
        if file is None:
            raise ToolFailed(Fault.NOT_STARTED, program=self._program)
        try:
            self._process = subprocess.Popen(  # noqa: S603 - this is what the agent is for
                arguments,
                executable=file,
                cwd=folder,
                env=_environment(folder, programs.path),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except (OSError, ValueError):
            raise ToolFailed(Fault.NOT_STARTED, program=self._program) from None
        try:
            self._guard = _Guard(self._process.pid)
        except OSError:
            self._process.kill()
            self._process.wait()
            raise ToolFailed(Fault.NOT_STARTED, program=self._program) from None
        cancellation.on_cancel(self.kill)

    @property
    def output(self) -> str:
        """What it wrote."""
        return self._output.text

    def __next__(self) -> str:
        if self._has_ended():
            return self._ended()
        self._read(min(time.monotonic() + self._pause, self._deadline))
        if self._has_ended():
            return self._ended()
        if time.monotonic() >= self._deadline:
            self.kill()
            raise ToolFailed(Fault.TIMEOUT, seconds=self._programs.seconds, output=self._output.text)
        self._pause = min(self._pause * 1.5, _LONGEST_PAUSE_SECONDS)
        return self._output.text

    def _ended(self) -> str:
        self._read(time.monotonic() + _AFTER_END_SECONDS)
        status = self._reaped()
        if status != 0 and not self._cancellation.cancelled:
            raise ToolFailed(Fault.EXIT, status=status, status_code=status, output=self._output.text)
        raise StopIteration

    def _has_ended(self) -> bool:
        """Whether the program has; its number stays its own until it is waited for."""
        if self._process.returncode is not None:
            return True
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def _read(self, until: float) -> None:
        """Reads until then, or until nobody writes any more."""
        assert self._process.stdout is not None, "it is a pipe"
        pipe = self._process.stdout.fileno()
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        while (left := until - time.monotonic()) > 0:
            if not poll.poll(min(left, _LOOK_SECONDS) * 1000):
                if self._has_ended():
                    return
                continue
            chunk = os.read(pipe, _CHUNK_BYTES)
            if chunk:
                self._output.add(chunk)
            elif self._has_ended():
                return
            else:
                # It has closed its output before its end, which is all that is waited for now.
                time.sleep(min(left, _LOOK_SECONDS))

    def kill(self) -> None:
        """The program and all that it started are gone; idempotent."""
        with self._reaping:
            if self._process.returncode is None:
                # The number of its group is nobody else's before it is waited for.
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)

    def _reaped(self) -> int:
        self.kill()
        with self._reaping:
            if self._process.returncode is None:
                self._guard.dismiss()
            return self._process.wait()

    def close(self) -> None:
        """Leaves nothing behind; idempotent."""
        self._reaped()
        if self._process.stdout is not None:
            self._process.stdout.close()


class _Guard:
    """A process that kills a group of processes when ours is gone, however it went: then the pipe between the two is closed."""

    def __init__(self, group: int) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own words, and a number
            ["/bin/sh", "-c", 'read _ || kill -s KILL -- "-$1"', "sh", str(group)],
            env={},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def dismiss(self) -> None:
        """The group has ended: there is nothing to kill."""
        self._process.communicate(b"\n")


def _environment(folder: Path, path: str) -> dict[str, str]:
    return {
        "PATH": path,
        "HOME": str(folder),
        "PWD": str(folder),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "GIT_TERMINAL_PROMPT": "0",
    }
