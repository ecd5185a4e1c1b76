"""The span and the metrics of one call of a model, by the conventions of OpenTelemetry for generative AI."""

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from a2a_hub.gemini.prompt import Ended
from a2a_hub.telemetry import tracing

P = TypeVar("P")


def traced(model: str, provider: str, pieces: Iterable[P]) -> Iterator[P]:
    """Yield the pieces of a model's answer inside a span."""
    about = {"gen_ai.operation.name": "chat", "gen_ai.request.model": model, "gen_ai.provider.name": provider}
    started = time.monotonic()
    with tracing.child(f"chat {model}", about) as span:
        for piece in pieces:
            if isinstance(piece, Ended):
                used = {"input": piece.tokens.prompt, "output": piece.tokens.answer}
                span.set({f"gen_ai.usage.{kind}_tokens": count for kind, count in used.items()})
                for kind, count in used.items():
                    tracing.add("a2a_hub.tokens", count, **about, **{"gen_ai.token.type": kind})
            yield piece
    tracing.measure("gen_ai.client.operation.duration", time.monotonic() - started, about, span.traceparent)
