"""The client of a Gemini model: when it asks again, and when it stops."""

import threading
from collections.abc import Iterator

import pytest

from a2a_hub.gemini.failure import Cause, ModelFailed
from a2a_hub.gemini.prompt import Waiting
from a2a_hub.http.messages import Cancellation
from tests.fakes.http_server import Exchange, HttpServer
from tests.fakes.model_answers import ANSWER, PROMPT, ask, failure, text_of
from tests.fakes.vertex import Vertex, gemini, vertex


@pytest.fixture
def service() -> Iterator[Vertex]:
    with vertex() as service:
        yield service


@pytest.mark.parametrize(("fault", "cause"), [("quota", Cause.QUOTA), ("server-error", Cause.OVERLOADED)])
def test_what_passes_is_tried_again(service: Vertex, fault: str, cause: Cause) -> None:
    service.inject(fault, times=2)
    pieces = ask(gemini(service.url))

    assert [piece.cause for piece in pieces[:2]] == [cause, cause]
    assert pieces[0].seconds < pieces[1].seconds
    assert text_of(pieces) == ANSWER
    assert service.faults() == {}


def test_attempts_end_before_the_time_does(service: Vertex) -> None:
    service.inject("quota")
    pieces, why = failure(gemini(service.url, timeout_seconds=4.8, first_wait_seconds=0.4))

    assert why.cause is Cause.QUOTA
    assert pieces
    assert sum(piece.seconds for piece in pieces) < 4.3


def test_a_wait_that_the_service_asks_for_and_nobody_has_time_for_is_not_begun() -> None:
    def busy(exchange: Exchange) -> None:
        exchange.answer(429, b"{}", retry_after="7")

    with HttpServer(busy) as server:
        pieces, why = failure(gemini(server.url, timeout_seconds=5.0))
    assert (pieces, why.cause, why.retry_after_seconds) == ([], Cause.QUOTA, 7.0)
    assert len(server.received) == 1


def test_a_wait_that_the_service_asks_for_is_kept() -> None:
    def busy_at_first(exchange: Exchange) -> None:
        if len(server.received) == 1:
            exchange.answer(503, b"not even JSON", retry_after="1")
        else:
            exchange.start_stream()
            exchange.event({"candidates": [{"content": {"parts": [{"text": "Yes."}]}, "finishReason": "STOP"}]})

    with HttpServer(busy_at_first) as server:
        pieces = ask(gemini(server.url))
    assert pieces[0] == Waiting(Cause.OVERLOADED, 1.0)
    assert text_of(pieces) == "Yes."


def test_nothing_is_asked_again_once_a_word_was_told() -> None:
    def half(exchange: Exchange) -> None:
        exchange.start_stream()
        exchange.event({"candidates": [{"content": {"parts": [{"text": "Half"}]}}]})
        exchange.event({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "secret"}})

    with HttpServer(half) as server:
        pieces, why = failure(gemini(server.url))
    assert (pieces, why.cause) == (["Half"], Cause.QUOTA)
    assert "secret" not in why.detail
    assert len(server.received) == 1


def test_who_leaves_ends_the_wait_for_the_next_attempt(service: Vertex) -> None:
    service.inject("quota")
    cancellation = Cancellation()
    pieces = gemini(service.url, first_wait_seconds=10.0).stream(PROMPT, cancellation=cancellation)

    assert isinstance(next(pieces), Waiting)
    cancellation.cancel()
    with pytest.raises(ModelFailed, match="cancelled"):
        next(pieces)


def test_who_leaves_ends_the_answer(service: Vertex) -> None:
    service.inject("stall", tokens=1)
    cancellation = Cancellation()
    pieces = gemini(service.url).stream(PROMPT, cancellation=cancellation)

    assert next(pieces) == "Water"
    threading.Timer(0.05, cancellation.cancel).start()
    with pytest.raises(ModelFailed, match="cancelled"):
        next(pieces)


def test_a_model_is_called_so_often_a_day_and_not_more(service: Vertex) -> None:
    model = gemini(service.url, calls_per_day=2)
    assert [text_of(ask(model)) for _ in range(2)] == [ANSWER, ANSWER]
    pieces, why = failure(model)
    assert (pieces, why.cause) == ([], Cause.USED_UP)
