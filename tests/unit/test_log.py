"""One JSON line for each request, in Cloud Logging's fields, without tokens and texts."""

import json
import sqlite3
from collections.abc import Callable, Generator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.http.messages import Request, Response, blocking
from a2a_hub.telemetry.log import Log, Record
from tests.fakes.polled_body import Chunks

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"
TOKEN = "Bearer ya29.a0AfH6"
WORDS = "what the caller said"


class Lines:
    """A log that keeps what it writes; its clock moves a quarter of a second with each look at it."""

    def __init__(self, *, project: str | None = None, with_text: bool = False) -> None:
        self.raw: list[bytes] = []
        self._now = 0.0
        self.log = Log(
            self.raw.append,
            clock=self._tick,
            new_id=lambda: "r-1",
            function="hub",
            now=lambda: datetime(2026, 11, 27, 12, tzinfo=UTC),
            project=project,
            with_text=with_text,
        )

    def _tick(self) -> float:
        self._now += 0.25
        return self._now

    @property
    def parsed(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.raw]


def _request(path: str = "/", **headers: str) -> Request:
    return Request(method="POST", path=path, headers=headers)


def _answering(response: Response) -> Any:
    def handle(request: Request, record: Record) -> Response:
        record["route"] = "expense"
        return response

    return handle


def _stream(lines: Lines) -> Generator[bytes]:
    stream = blocking(lines.log.requests(_answering(Response(body=Chunks((b"a", b"b")))))(_request())).body
    assert isinstance(stream, Generator)
    return stream


def test_a_request_is_one_line_with_cloud_loggings_fields() -> None:
    lines = Lines(project="my-project")
    request = _request(traceparent=f"00-{TRACE}-{SPAN}-01")
    lines.log.requests(_answering(Response(body=b"{}")))(request)
    assert lines.parsed == [
        {
            "severity": "INFO",
            "time": "2026-11-27T12:00:00.000+00:00",
            "message": "POST / 200",
            "function": "hub",
            "httpRequest": {
                "requestMethod": "POST",
                "requestUrl": "/",
                "status": 200,
                "latency": "0.25000s",
            },
            "ms": 250.0,
            "requestId": "r-1",
            "route": "expense",
            "logging.googleapis.com/trace": f"projects/my-project/traces/{TRACE}",
            "logging.googleapis.com/spanId": SPAN,
            "logging.googleapis.com/trace_sampled": True,
        }
    ]
    assert lines.raw[0].endswith(b"}\n")
    assert lines.raw[0].count(b"\n") == 1


@pytest.mark.parametrize(("status", "severity"), [(200, "INFO"), (304, "INFO"), (404, "WARNING"), (500, "ERROR")])
def test_the_severity_follows_the_status(status: int, severity: str) -> None:
    lines = Lines()
    lines.log.requests(_answering(Response(status=status)))(_request())
    assert lines.parsed[0]["severity"] == severity


@pytest.mark.parametrize(
    "traceparent", ["", "x", TRACE, f"00-{TRACE}-{SPAN}", f"00-{TRACE.upper()}-{SPAN}-01", "0" * 10_000]
)
def test_a_broken_traceparent_is_left_out(traceparent: str) -> None:
    lines = Lines()
    lines.log.requests(_answering(Response()))(_request(traceparent=traceparent))
    assert "logging.googleapis.com/trace" not in lines.parsed[0]


def test_a_stream_is_one_line_at_its_end() -> None:
    lines = Lines()
    stream = _stream(lines)
    assert next(stream) == b"a"
    assert lines.raw == []
    assert list(stream) == [b"b"]
    stream.close()
    assert len(lines.raw) == 1


def test_a_stream_that_is_left_early_is_one_line() -> None:
    lines = Lines()
    stream = _stream(lines)
    next(stream)
    stream.close()
    assert len(lines.raw) == 1


def test_a_handler_that_breaks_is_a_line_with_its_stack_and_without_its_text() -> None:
    lines = Lines()

    def handle(request: Request, record: Record) -> Response:
        try:
            raise KeyError(WORDS)
        except KeyError as error:
            raise ValueError(TOKEN) from error

    with pytest.raises(ValueError, match=TOKEN):
        lines.log.requests(handle)(_request())
    stack, line = lines.parsed
    assert line["httpRequest"]["status"] == 500
    assert stack["severity"] == line["severity"] == "ERROR"
    assert stack["requestId"] == line["requestId"] == "r-1"
    assert stack["stack_trace"].startswith("Traceback (most recent call last):\n")
    assert "KeyError" in stack["stack_trace"]
    assert stack["stack_trace"].endswith("ValueError\n")
    assert TOKEN.encode() not in b"".join(lines.raw)
    assert WORDS.encode() not in b"".join(lines.raw)


@pytest.mark.parametrize(
    ("break_down", "named"),
    [
        (lambda: sqlite3.connect("/").execute("SELECT 1"), "OperationalError SQLITE_CANTOPEN\n"),
        (lambda: Path("/", WORDS, TOKEN).read_bytes(), "FileNotFoundError ENOENT\n"),
        (lambda: int(TOKEN), "ValueError\n"),
    ],
)
def test_what_the_system_calls_a_failure_is_named_without_its_text(
    break_down: Callable[[], object], named: str
) -> None:
    lines = Lines()
    try:
        break_down()
    except (OSError, ValueError, sqlite3.Error):
        lines.log.exception("It broke", {"requestId": "r-1"})
    assert lines.parsed[0]["stack_trace"].endswith(f"\n{named}")
    assert TOKEN.encode() not in b"".join(lines.raw)


def test_an_exceptions_text_is_there_when_texts_are_asked_for() -> None:
    lines = Lines(with_text=True)
    try:
        raise ValueError("what was said")
    except ValueError:
        lines.log.exception("It broke", {"requestId": "r-1"})
    assert lines.parsed[0]["stack_trace"].endswith("ValueError: what was said\n")


def test_a_path_of_any_characters_stays_one_line() -> None:
    lines = Lines()
    lines.log.requests(_answering(Response()))(_request('/\n{"severity":"ERROR"}\x00日本\u2028'))
    assert len(b"".join(lines.raw).splitlines()) == 1
    assert lines.parsed[0]["severity"] == "INFO"
