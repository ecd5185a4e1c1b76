"""The readers in a child process with limits of memory and time: a hostile file ends the child, not its parent.

The parent writes (path, uri, content), the child answers with (document, reason); both as msgpack with their length
before them. One child reads many files; after a crash or a timeout the next file has a new one.
"""

import contextlib
import resource
import subprocess
import sys
from collections.abc import Iterable, Iterator
from threading import Timer
from typing import IO, Self

import msgspec

from functions.docqa.ingestion.blocks import Unreadable
from functions.docqa.model import Document, Skipped

MEMORY_BYTES = 1024 * 1024 * 1024
CPU_SECONDS = 60
WALL_SECONDS = 90.0
_MAX_ANSWER_BYTES = 256 * 1024 * 1024
_LENGTH_BYTES = 8
_START = "import sys; sys.path[:] = sys.argv[1:]; from functions.docqa.ingestion.child import serve; serve()"
_TOO_MUCH = "reading it took more memory or time than a file may"


class _Answer(msgspec.Struct):
    document: Document | None
    reason: str = ""


_ANSWER = msgspec.msgpack.Decoder(_Answer)


def read_all(
    files: Iterable[tuple[str, str, bytes]], *, wall_seconds: float = WALL_SECONDS
) -> Iterator[Document | Skipped]:
    """Read each (path, uri, content) in a limited child process; yields one result for each, in their order."""
    with _Child(wall_seconds) as child:
        for path, uri, content in files:
            answer = child.read(path, uri, content) or _Answer(None, _TOO_MUCH)
            yield answer.document or Skipped(path, answer.reason)


class _Child:
    """A process that reads files until it crashes or is closed, and is started when it is needed."""

    def __init__(self, wall_seconds: float) -> None:
        self._wall_seconds = wall_seconds
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def read(self, path: str, uri: str, content: bytes) -> _Answer | None:
        """Return what the child answers; None when it crashed or took too long."""
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = self._started()
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        timer = Timer(self._wall_seconds, process.kill)
        timer.daemon = True
        timer.start()
        try:
            _send(process.stdin, msgspec.msgpack.encode((path, uri, content)))
            answer = _received(process.stdout, _MAX_ANSWER_BYTES)
            if answer:
                return _ANSWER.decode(answer)
        except (OSError, msgspec.MsgspecError):
            pass
        finally:
            timer.cancel()
        self._end()
        return None

    def _started(self) -> "subprocess.Popen[bytes]":
        # Without the parent's environment: a document that takes over the child finds no credentials in it.
        process = subprocess.Popen(  # noqa: S603 (this interpreter, with a fixed program)
            [sys.executable, "-S", "-E", "-c", _START, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
        )
        assert process.stdout is not None
        _received(process.stdout, 0)  # it is ready: the time of a file begins with its first byte
        return process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with contextlib.suppress(OSError), process:
                pass  # its end closes the pipes and waits


def serve() -> None:
    """Read what the parent sends until it closes; runs in the child."""
    from functions.docqa.ingestion.reader import read

    # macOS may refuse a limit of memory; processor time and the parent's clock hold there, too.
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    _send(sink, b"")
    while request := _received(source, sys.maxsize):
        path, uri, content = msgspec.msgpack.decode(request, type=tuple[str, str, bytes])
        used = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(used.ru_utime + used.ru_stime) + CPU_SECONDS
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        try:
            answer = msgspec.msgpack.encode(_Answer(read(path, uri, content)))
        except Unreadable as error:
            answer = msgspec.msgpack.encode(_Answer(None, str(error)))
        except MemoryError:
            return
        except Exception:  # one file's defect is no other's
            answer = msgspec.msgpack.encode(_Answer(None, "damaged, or of a form that is not read"))
        _send(sink, answer)


def _send(sink: IO[bytes], message: bytes) -> None:
    sink.write(len(message).to_bytes(_LENGTH_BYTES, "big"))
    sink.write(message)
    sink.flush()


def _received(source: IO[bytes], most: int) -> bytes:
    """Return the next message; empty at the end, or when it is longer than `most`."""
    head = source.read(_LENGTH_BYTES)
    length = int.from_bytes(head, "big") if len(head) == _LENGTH_BYTES else 0
    message = source.read(length) if length <= most else b""
    return message if len(message) == length else b""
