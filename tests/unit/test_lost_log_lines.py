"""Where the log cannot be written, its lines are lost, and nothing else."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_ANSWERS_ONE_REQUEST = """
import sys
from a2a_hub.runtime.function import health, stdout_log
from a2a_hub.http.messages import Request

log = stdout_log("hub")
log.line("WARNING", "A line beside the requests")
answer = log.requests(lambda request, _: health(request))(Request(method="GET", path="/health"))
sys.stderr.write(answer.body.decode())
"""


@contextmanager
def _full_disk() -> Iterator[int]:
    with Path("/dev/full").open("wb") as out:
        yield out.fileno()


@contextmanager
def _reader_that_left() -> Iterator[int]:
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


@contextmanager
def _reader_that_does_not_read() -> Iterator[int]:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with suppress(BlockingIOError):
        while True:
            os.write(writer, bytes(4096))
    os.set_blocking(writer, True)
    yield writer
    os.close(writer)
    os.close(reader)


@pytest.mark.parametrize("place", [_full_disk, _reader_that_left, _reader_that_does_not_read])
def test_a_request_is_answered_though_its_line_cannot_be_written(
    place: Callable[[], AbstractContextManager[int]],
) -> None:
    with place() as out:
        done = subprocess.run(
            [sys.executable, "-c", _ANSWERS_ONE_REQUEST],
            stdout=out,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(_ROOT)},
            text=True,
            check=False,
            timeout=60,
        )
    assert (done.returncode, done.stderr) == (0, '{"status":"ok"}')
