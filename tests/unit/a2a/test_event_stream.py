"""The body of a stream: the first event at once, comments in silence, an error as the last event, closing as leaving."""

import threading
from collections.abc import Iterator

from a2a_hub.a2a.bindings import sse
from a2a_hub.a2a.bindings.sse import EventStream
from a2a_hub.a2a.model import Event, Message, Part, Role
from a2a_hub.a2a.relay import Relay, Subscription
from a2a_hub.runtime.threads import Threads

PATIENCE_SECONDS = 30.0
AT_ONCE = 0.001


def _message(text: str) -> Message:
    return Message(message_id="m", role=Role.AGENT, parts=(Part(text=text),))


def _stream(
    source: Iterator[Event], *, idle_seconds: float = PATIENCE_SECONDS, left: threading.Event | None = None
) -> EventStream:
    relay = Relay(source, on_abandoned=(left or threading.Event()).set)
    subscription: Subscription[Event] | None = relay.subscribe(idle_seconds=idle_seconds)
    assert subscription is not None
    relay.start(Threads("test"), on_end=lambda: None)
    return EventStream(
        next(subscription),
        subscription,
        encode=lambda event: event.parts[0].text.encode(),  # type: ignore[union-attr]
        encode_failure=lambda error: type(error).__name__.encode(),
    )


def test_events_follow_the_first() -> None:
    stream = _stream(iter([_message("one"), _message("two")]))
    assert b"".join(stream) == b"data: one\n\ndata: two\n\n"


def test_silence_is_a_comment_from_the_first_chunk_on() -> None:
    go_on = threading.Event()

    def source() -> Iterator[Event]:
        assert go_on.wait(PATIENCE_SECONDS)
        yield _message("late")

    stream = _stream(source(), idle_seconds=AT_ONCE)
    assert [next(stream) for _ in range(3)] == [sse.KEEP_ALIVE] * 3
    go_on.set()
    assert [chunk for chunk in stream if chunk != sse.KEEP_ALIVE] == [b"data: late\n\n"]


def test_an_error_is_the_last_event() -> None:
    def source() -> Iterator[Event]:
        yield _message("one")
        raise KeyError("broken")

    assert list(_stream(source())) == [b"data: one\n\n", b"data: KeyError\n\n"]


def test_an_event_that_cannot_be_written_is_an_error_too() -> None:
    stream = _stream(iter([_message("one"), _message("\ud800"), _message("three")]))
    assert list(stream) == [b"data: one\n\n", b"data: UnicodeEncodeError\n\n"]


def test_a_client_that_leaves_ends_the_work() -> None:
    left, go_on = threading.Event(), threading.Event()

    def source() -> Iterator[Event]:
        yield _message("one")
        assert go_on.wait(PATIENCE_SECONDS)
        yield _message("two")

    stream = _stream(source(), left=left)
    assert next(stream) == b"data: one\n\n"
    stream.close()
    assert left.is_set()
    go_on.set()
    assert list(stream) == []
