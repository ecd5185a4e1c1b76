"""A worker that runs a command per task: the task's text is its input, and its output is the answer.

`TASKS_URL=… WORKER_TOKEN=… python -m workers.shell_command --role developer --seconds 600 -- wc -w`

No shell sees the text, the command sees no token, and its time and output are limited.
"""

import argparse
import contextlib
import ctypes
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence

from workers import client
from workers.client import Failed, Work

_TOO_LONG = "The command took too long. / コマンドが制限時間内に終わりませんでした。"
_TOO_MUCH = "The command wrote too much. / コマンドの出力が多すぎます。"
_ENDED_BADLY = "The command failed (status {status}). / コマンドが失敗しました（終了コード{status}）。"
_POLL_SECONDS = 0.2
_PR_SET_DUMPABLE = 4


class Command:
    """A program and its arguments; one run is limited to `seconds` and `max_bytes` of output."""

    def __init__(self, arguments: Sequence[str], *, seconds: float, max_bytes: int) -> None:
        self._arguments = list(arguments)
        self._seconds = seconds
        self._max_bytes = max_bytes
        self._environment = {name: value for name, value in os.environ.items() if name != "WORKER_TOKEN"}

    def __call__(self, work: Work) -> str:
        """Run the command and return its output. Its whole process group has ended afterwards."""
        with tempfile.TemporaryFile() as text:
            text.write(work.text.encode())
            text.seek(0)
            with subprocess.Popen(
                self._arguments,
                bufsize=0,
                stdin=text,
                stdout=subprocess.PIPE,
                env=self._environment,
                start_new_session=True,
            ) as process:
                try:
                    written = self._read(process, work)
                finally:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
        if process.returncode and not work.cancelled.is_set():
            raise Failed(_ENDED_BADLY.format(status=process.returncode))
        return written.decode(errors="replace").strip() or "OK"

    def _read(self, process: subprocess.Popen[bytes], work: Work) -> bytes:
        assert process.stdout is not None
        written, deadline = b"", time.monotonic() + self._seconds
        while not work.cancelled.is_set():
            has_ended = process.poll() is not None
            is_readable = select.select([process.stdout], (), (), _POLL_SECONDS)[0]
            piece = process.stdout.read(65536) if is_readable else b""
            written += piece
            if len(written) > self._max_bytes:
                raise Failed(_TOO_MUCH)
            # Another process may hold the output open for ever.
            if has_ended and not piece:
                return written
            if time.monotonic() > deadline:
                raise Failed(_TOO_LONG)
            if is_readable and not piece:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_POLL_SECONDS)
        return b""


def hide_environment() -> None:
    """Keep the command, which runs as the same user, from reading this process's token (prctl(2), proc(5))."""
    # Other systems than Linux have neither the call nor the file.
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def main() -> None:
    """Run until stopped."""
    hide_environment()
    parser = argparse.ArgumentParser(
        prog="python -m workers.shell_command",
        description="Run a command for each task: the task's text is its input, its output is the answer. No shell sees the "
        "text, and the command does not see the token.",
        epilog=client.SETTINGS_HELP,
    )
    add = parser.add_argument
    add(
        "--role",
        action="append",
        default=[],
        help="a role whose tasks it takes; repeat it for several (all of its token)",
    )
    add("--seconds", type=float, default=600.0, help="how long the command may run for one task (600)")
    add("--most-bytes", type=int, default=1_000_000, help="how much it may write (1000000)")
    add("command", nargs="+", help="the program and its arguments, after --")
    options = parser.parse_args()
    if shutil.which(options.command[0]) is None:
        parser.error(f"there is no program {options.command[0]}")
    command = Command(options.command, seconds=options.seconds, max_bytes=options.most_bytes)
    client.run_worker(command, roles=options.role, environ=os.environ)


if __name__ == "__main__":
    main()
