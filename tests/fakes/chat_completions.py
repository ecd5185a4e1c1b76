"""A server of OpenAI's chat completions, whose model says what the test writes, and the settings of such a server."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from a2a_hub.language_models.openai_compatible import OpenAiSettings
from tests.fakes.http_server import Exchange, HttpServer

Reply = Sequence[str]
"""The pieces of what the model says."""


class ChatCompletions(HttpServer):
    """`reply` gets the body of a request, and returns what is said; or it answers by itself and returns None."""

    def __init__(self, reply: Callable[[dict[str, Any], Exchange], Reply | None]) -> None:
        super().__init__(self._answer)
        self._reply = reply
        self.requests: list[dict[str, Any]] = []

    def _answer(self, exchange: Exchange) -> None:
        body = exchange.received.json
        self.requests.append(body)
        pieces = self._reply(body, exchange)
        if pieces is None:
            return
        exchange.head(content_type="text/event-stream")
        for piece in pieces:
            send_chunk(exchange, {"choices": [{"index": 0, "delta": {"content": piece}}]})
        send_chunk(exchange, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        exchange.send(b"data: [DONE]\n\n")


def openai_settings(url: str, **changes: Any) -> OpenAiSettings:
    """The settings of a model of the server whose address is `url`."""
    known: dict[str, Any] = {
        "variable": "ANSWER_MODEL",
        "url": url,
        "model": "scripted",
        "key": "",
        "timeout_seconds": 20.0,
        "idle_seconds": 10.0,
        "max_output_tokens": 1000,
        "calls_per_day": 0,
    }
    return OpenAiSettings(**(known | changes))


def send_chunk(exchange: Exchange, chunk: dict[str, Any]) -> None:
    """Sends one event of a stream."""
    exchange.send(b"data: " + json.dumps(chunk).encode() + b"\n\n")
