"""Asks a model, and keeps what it told and how it failed; and a model that says what it is told to."""

from typing import Any

from a2a_hub.gemini.client import Gemini
from a2a_hub.gemini.failure import Failure, ModelFailed
from a2a_hub.gemini.prompt import Prompt
from a2a_hub.http.messages import Cancellation
from tests.fakes.http_server import Exchange, HttpServer

QUESTION = "Water boils at 100 degrees.\nSnow is white.\nWhen does water boil?"
ANSWER = "Water boils at 100 degrees."
PROMPT = Prompt(instruction="Answer briefly.", text=QUESTION)


def ask(model: Gemini, prompt: Prompt = PROMPT) -> list[Any]:
    return list(model.stream(prompt, cancellation=Cancellation()))


def failure(model: Gemini) -> tuple[list[Any], Failure]:
    """Return what was told before it failed, and why it did."""
    told: list[Any] = []
    try:
        for piece in model.stream(PROMPT, cancellation=Cancellation()):
            told += [piece]
    except ModelFailed as failed:
        return told, failed.failure
    raise AssertionError(f"it did not fail: {told}")


def text_of(pieces: list[Any]) -> str:
    return "".join(piece for piece in pieces if isinstance(piece, str))


def model_says(*pieces: str, finish: str = "STOP") -> HttpServer:
    """A model that says this, whatever it is asked, and ends like this."""

    def answer(exchange: Exchange) -> None:
        exchange.start_stream()
        for piece in pieces:
            exchange.event({"candidates": [{"content": {"parts": [{"text": piece}]}}]})
        exchange.event({"candidates": [{"finishReason": finish}]})

    return HttpServer(answer)
