"""The body of a stream: the first event at once, comments in silence, an error as the last event, closing as leaving."""

import threading
from collections.abc import Callable, Iterator

from a2a_hub.a2a.bindings import sse
from a2a_hub.a2a.event_stream import EventStream
from a2a_hub.a2a.model import Event, Message, Part, Role
from a2a_hub.http.messages import Response, blocking

SECONDS = 15.0


class Source:
    """Events that a test puts in: None is a pause, an exception a failure."""

    def __init__(self, *events: Event | Exception | None) -> None:
        self.events = list(events)
        self.wake: Callable[[], None] = lambda: None
        self.closed = False

    def poll(self) -> Event | None:
        if self.closed or not self.events:
            raise StopIteration
        event = self.events.pop(0)
        if isinstance(event, Exception):
            raise event
        return event

    def on_ready(self, wake: Callable[[], None]) -> None:
        self.wake = wake
        wake()

    def close(self) -> None:
        self.closed = True


def _message(text: str) -> Message:
    return Message(message_id="m", role=Role.AGENT, parts=(Part(text=text),))


def _stream(source: Source, *, clock: Callable[[], float] = lambda: 0.0) -> EventStream:
    return EventStream(
        source,
        keep_alive_seconds=SECONDS,
        encode=lambda event: event.parts[0].text.encode(),  # type: ignore[union-attr]
        encode_failure=lambda error: type(error).__name__.encode(),
        respond=lambda error: Response(status=400, body=str(error).encode()),
        clock=clock,
    )


def _chunks(stream: EventStream) -> list[bytes]:
    body = blocking(Response(body=stream)).body
    assert isinstance(body, Iterator)
    return list(body)


def test_events_follow_the_first() -> None:
    assert _chunks(_stream(Source(_message("one"), _message("two")))) == [b"data: one\n\n", b"data: two\n\n"]


def test_silence_is_a_comment_from_the_first_chunk_on_and_as_late_as_it_may_be() -> None:
    now = [0.0]
    stream = _stream(Source(None, None, None, None, _message("late")), clock=lambda: now[0])
    told = []
    for now[0] in (14.0, 15.0, 29.5, 31.0, 31.0):
        chunk = stream.poll()
        told.append((chunk, stream.idle_seconds))
    assert told == [
        (None, 1.0),
        (sse.KEEP_ALIVE, SECONDS),
        (None, 30.0 - 29.5),
        (sse.KEEP_ALIVE, SECONDS),
        (b"data: late\n\n", SECONDS),
    ]


def test_an_error_is_the_last_event() -> None:
    stream = _stream(Source(_message("one"), KeyError("broken"), _message("two")))
    assert _chunks(stream) == [b"data: one\n\n", b"data: KeyError\n\n"]


def test_an_error_before_the_first_event_is_an_ordinary_response() -> None:
    for events in ((KeyError("broken"),), (None, KeyError("broken"))):
        source = Source(*events)
        response = blocking(Response(body=_stream(source)))
        assert (response.status, response.body) == (400, b"'broken'")
        assert source.closed


def test_a_stream_without_an_event_is_an_ordinary_response() -> None:
    response = blocking(Response(body=_stream(Source())))
    assert (response.status, response.body) == (400, b"The agent sent no result")


def test_an_event_that_cannot_be_written_is_an_error_too() -> None:
    stream = _stream(Source(_message("one"), _message("\ud800"), _message("three")))
    assert _chunks(stream) == [b"data: one\n\n", b"data: UnicodeEncodeError\n\n"]


def test_a_thread_that_waits_is_woken_from_another() -> None:
    source = Source(None, _message("woken"))
    assert _chunks(_stream(source)) == [b"data: woken\n\n"]
    waiting = Source(_message("one"))
    body = blocking(Response(body=_stream(waiting))).body
    assert isinstance(body, Iterator)
    assert next(body) == b"data: one\n\n"
    waiting.events = [None, _message("two")]
    threading.Timer(0.01, lambda: waiting.wake()).start()
    assert next(body) == b"data: two\n\n"


def test_a_client_that_leaves_closes_the_source() -> None:
    source = Source(_message("one"), _message("two"))
    stream = _stream(source)
    assert stream.poll() == b"data: one\n\n"
    stream.close()
    assert source.closed
    assert _chunks(stream) == []
