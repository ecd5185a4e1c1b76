"""The allowed programs, their command lines (words and quotes, but no shell), and a run of one.

A run gets nothing of this process's environment, sees no other process where the system allows that, is limited in time and
output, and leaves no process behind.
"""

import ctypes
import os
import select
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from msgspec import Struct

from a2a_hub.http.messages import Cancellation
from a2a_hub.runtime.process_guard import guard_on
from functions.devtool.texts import Fault, ToolFailed
from functions.devtool.workspace import is_visible

_MAX_COMMAND_CHARACTERS = 4_000
_OPERATORS = frozenset(";&|<>()`")
_HEAD_BYTES = _TAIL_BYTES = 16_000
_CHUNK_BYTES = 65_536
# The output is stored each time that it is shown: at growing intervals.
_FIRST_PAUSE_SECONDS, _MAX_PAUSE_SECONDS = 0.25, 8.0
# Processes that a program leaves behind may hold the pipe for ever.
_AFTER_END_SECONDS = 0.5
_POLL_SECONDS = 0.05
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


class AllowedPrograms(Struct, frozen=True):
    """The names of the allowed programs. `path` is the search path, as in PATH; `seconds` is the time limit."""

    names: frozenset[str]
    path: str
    seconds: float

    def parse(self, command: str) -> list[str]:
        """Return the program and its arguments. Raises ToolFailed for a command that is not allowed."""
        if not self.names:
            raise ToolFailed(Fault.NO_COMMANDS)
        if len(command) > _MAX_COMMAND_CHARACTERS or not all(map(is_visible, command)):
            raise ToolFailed(Fault.NOT_A_COMMAND)
        try:
            arguments = shlex.split(command)
        except ValueError:
            raise ToolFailed(Fault.NOT_A_COMMAND) from None
        if not arguments:
            raise ToolFailed(Fault.NOT_A_COMMAND)
        operator = _operator(command)
        if operator:
            raise ToolFailed(Fault.SHELL, operator=operator)
        if arguments[0] not in self.names:
            raise ToolFailed(Fault.PROGRAM, program=arguments[0][:80], programs=", ".join(sorted(self.names)))
        return arguments


def _operator(command: str) -> str:
    """Return the first operator of a shell outside of quotes; "" if there is none."""
    quote, escaped = "", False
    for character in command:
        if escaped:
            escaped = False
        elif character == "\\" and quote != "'":
            escaped = True
        elif quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in _OPERATORS:
            return character
    return ""


class _Output:
    """The beginning and the end of a program's output; the bytes in between are only counted."""

    def __init__(self) -> None:
        self._head = b""
        self._tail = b""
        self._skipped_bytes = 0

    def add(self, chunk: bytes) -> None:
        """Append output."""
        space = _HEAD_BYTES - len(self._head)
        self._head += chunk[:space]
        tail = self._tail + chunk[space:] if space > 0 else self._tail + chunk
        self._skipped_bytes += max(0, len(tail) - _TAIL_BYTES)
        self._tail = tail[-_TAIL_BYTES:]

    @property
    def text(self) -> str:
        """The output as text, without control characters, which would move a terminal's cursor."""
        gap = f"\n… {self._skipped_bytes} bytes …\n".encode() if self._skipped_bytes else b""
        text = (self._head + gap + self._tail).decode("utf-8", "replace").replace("\r\n", "\n")
        return "".join(each for each in text if is_visible(each) or each in "\n\t")


class RunningProgram(Iterator[str]):
    """A running program: each step is its whole output so far. At the end, `output` is all of it.

    Raises ToolFailed if it cannot be started, ends with another status than 0, or takes too long. On cancellation it is killed
    with all that it started, and the iteration ends.
    """

    def __init__(
        self, programs: AllowedPrograms, arguments: Sequence[str], *, folder: Path, cancellation: Cancellation
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
            # What a program keeps in its home, such as settings of git, is neither in the workspace nor there for the next one.
            self._home = tempfile.mkdtemp(prefix="devtool-home-")
            self._process = subprocess.Popen(  # noqa: S603 - this is what the agent is for
                [*isolating_prefix(), file, *arguments[1:]],
                cwd=folder,
                env=_environment(folder, home=self._home, path=programs.path),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except (OSError, ValueError):
            raise ToolFailed(Fault.NOT_STARTED, program=self._program) from None
        try:
            self._guard = guard_on(self._process.pid)
        except OSError:
            self._process.kill()
            self._process.wait()
            raise ToolFailed(Fault.NOT_STARTED, program=self._program) from None
        cancellation.on_cancel(self.kill)

    @property
    def output(self) -> str:
        """The output."""
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
        self._pause = min(self._pause * 1.5, _MAX_PAUSE_SECONDS)
        return self._output.text

    def _ended(self) -> str:
        self._read(time.monotonic() + _AFTER_END_SECONDS)
        status = self._reap()
        if status != 0 and not self._cancellation.cancelled:
            raise ToolFailed(Fault.EXIT, status=status, status_code=status, output=self._output.text)
        raise StopIteration

    def _has_ended(self) -> bool:
        """Return True if the program has ended; its process id stays reserved until it is waited for."""
        if self._process.returncode is not None:
            return True
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def _read(self, until: float) -> None:
        """Read until then, or until the pipe has no writer."""
        assert self._process.stdout is not None, "it is a pipe"
        pipe = self._process.stdout.fileno()
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        while (left := until - time.monotonic()) > 0:
            if not poll.poll(min(left, _POLL_SECONDS) * 1000):
                if self._has_ended():
                    return
                continue
            chunk = os.read(pipe, _CHUNK_BYTES)
            if chunk:
                self._output.add(chunk)
            elif self._has_ended():
                return
            else:
                # The program has closed its output, and only its end is awaited.
                time.sleep(min(left, _POLL_SECONDS))

    def kill(self) -> None:
        """Kill the program and all that it started; idempotent."""
        with self._reaping:
            if self._process.returncode is None:
                # The id of its process group is reserved until the program is waited for.
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)

    def _reap(self) -> int:
        self.kill()
        with self._reaping:
            if self._process.returncode is None:
                self._guard.communicate(b"\n")
            return self._process.wait()

    def close(self) -> None:
        """Kill and release everything; idempotent."""
        self._reap()
        if self._process.stdout is not None:
            self._process.stdout.close()
        shutil.rmtree(self._home, ignore_errors=True)


def _environment(folder: Path, *, home: str, path: str) -> dict[str, str]:
    return {
        "PATH": path,
        "HOME": home,
        "PWD": str(folder),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "GIT_TERMINAL_PROMPT": "0",
        # Files of any name can make a folder a bare repository, whose settings name programs that git runs.
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.bareRepository",
        "GIT_CONFIG_VALUE_0": "explicit",
    }
