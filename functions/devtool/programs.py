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
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
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

    def run(self, command: str, *, folder: Path, cancellation: Cancellation) -> Generator[str, None, str]:
        """Run a command; yield its whole output so far at growing intervals, and return all of it.

        Raises ToolFailed if it is not allowed, cannot be started, ends with another status than 0, or takes too long. However the
        generator ends, and on cancellation, the program is killed with all that it started.
        """
        program, *arguments = self.parse(command)
        output, pause_seconds = _Output(), _FIRST_PAUSE_SECONDS
        deadline = time.monotonic() + self.seconds
        file = shutil.which(program, path=self.path)
        if file is None:
            raise ToolFailed(Fault.NOT_STARTED, program=program)
        try:
            group = _ProcessGroup([file, *arguments], folder=folder, path=self.path)
        except (OSError, ValueError):
            raise ToolFailed(Fault.NOT_STARTED, program=program) from None
        with closing(group):
            cancellation.on_cancel(group.kill)
            while not group.read_into(output, until=min(time.monotonic() + pause_seconds, deadline)):
                if time.monotonic() >= deadline:
                    raise ToolFailed(Fault.TIMEOUT, seconds=self.seconds, output=output.text)
                pause_seconds = min(pause_seconds * 1.5, _MAX_PAUSE_SECONDS)
                yield output.text
            group.read_into(output, until=time.monotonic() + _AFTER_END_SECONDS)
            status = group.close()
        if status != 0 and not cancellation.cancelled:
            raise ToolFailed(Fault.EXIT, status=status, status_code=status, output=output.text)
        return output.text


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


class _ProcessGroup:
    """A program and all that it starts, which ends with this process. Raises OSError or ValueError if it cannot be started."""

    def __init__(self, command: Sequence[str], *, folder: Path, path: str) -> None:
        self._reaping = threading.Lock()
        # What a program keeps in its home, such as settings of git, is neither in the workspace nor there for the next one.
        self._home = tempfile.mkdtemp(prefix="devtool-home-")
        self._process = subprocess.Popen(  # noqa: S603 - this is what the agent is for
            [*isolating_prefix(), *command],
            cwd=folder,
            env=_environment(folder, home=self._home, path=path),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            self._guard = guard_on(self._process.pid)
        except OSError:
            self._process.kill()
            self._process.wait()
            raise

    def read_into(self, output: _Output, *, until: float) -> bool:
        """Read until then, or until the program has ended and its output is read. Return True if it has ended."""
        assert self._process.stdout is not None, "it is a pipe"
        pipe = self._process.stdout.fileno()
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        while (left := until - time.monotonic()) > 0:
            if not poll.poll(min(left, _POLL_SECONDS) * 1000):
                if self._has_ended():
                    return True
                continue
            chunk = os.read(pipe, _CHUNK_BYTES)
            if chunk:
                output.add(chunk)
            elif self._has_ended():
                return True
            else:
                # The program has closed its output, and only its end is awaited.
                time.sleep(min(left, _POLL_SECONDS))
        return self._has_ended()

    def _has_ended(self) -> bool:
        # The process id stays reserved until it is waited for.
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def kill(self) -> None:
        """Kill the group; idempotent."""
        with self._reaping:
            if self._process.returncode is None:
                # The id of the group is reserved until the program is waited for.
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> int:
        """Kill the group, release everything, and return the program's status; idempotent."""
        self.kill()
        with self._reaping:
            if self._process.returncode is None:
                self._guard.communicate(b"\n")
            status = self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        # TemporaryDirectory would change modes through links that the program made (CVE-2023-6597).
        shutil.rmtree(self._home, ignore_errors=True)
        return status


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
