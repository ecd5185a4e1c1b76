"""The interface of language models: a call as a span, an answer in a form, an examination."""

import math
import time
from collections.abc import Iterable, Iterator
from typing import Any, Protocol, TypeVar

import msgspec

from a2a_hub.diagnosis import report
from a2a_hub.gemini.failure import Cause, Failure, ModelFailed
from a2a_hub.gemini.prompt import Ended, FunctionCall, Prompt, Waiting
from a2a_hub.http.messages import Cancellation
from a2a_hub.telemetry import tracing

_MAX_CHARACTERS = 2_000
_EXAMINATION_SECONDS = 6.0
_EXAMINATION = Prompt(instruction="Answer with the one word that you are given.", text="ready")
_T = TypeVar("_T")


class LanguageModel(Protocol):
    """A model, whose answers are streamed. Thread-safe, across a fork too."""

    @property
    def name(self) -> str:
        """The name of the model, for operators."""

    def stream(
        self, prompt: Prompt, *, cancellation: Cancellation, timeout_seconds: float = math.inf
    ) -> Iterator[str | FunctionCall | Waiting | Ended]:
        """Yield the pieces of the answer as they come, `Ended` last. Raises ModelFailed.

        `timeout_seconds` and the deadline of `cancellation` shorten the limit of the model's settings.
        """

    def hint(self, step: str, failure: Failure) -> dict[str, str]:
        """Return the report of a failed step, for operators only."""


def structured(
    model: LanguageModel,
    form: msgspec.json.Decoder[_T],
    *,
    instruction: str,
    text: str,
    cancellation: Cancellation,
    timeout_seconds: float,
) -> _T:
    """Return the model's answer. Raises ModelFailed, also for one that has another form, or over 2,000 characters."""
    prompt = Prompt(instruction=instruction, text=text, temperature=0.0, json_schema=schema_of(form.type))
    reply = ""
    for piece in model.stream(prompt, cancellation=cancellation, timeout_seconds=timeout_seconds):
        if isinstance(piece, str):
            reply += piece
        if len(reply) > _MAX_CHARACTERS:
            break
    try:
        return form.decode(reply[reply.find("{") : reply.rfind("}") + 1])
    except (msgspec.MsgspecError, UnicodeEncodeError):
        failure = Failure(cause=Cause.BROKEN, detail="the model did not answer in the form that it was given")
        raise ModelFailed(failure) from None


def schema_of(kind: type) -> dict[str, Any]:
    """Return the schema of a struct in the subset that all models understand: every field required, and no others."""
    (schema,), parts = msgspec.json.schema_components([kind], ref_template="{name}")

    def written(each: dict[str, Any]) -> dict[str, Any]:
        each = parts.get(each.get("$ref", ""), each)
        if "items" in each:
            return {"type": "array", "items": written(each["items"])}
        if "properties" not in each:
            return {"type": each["type"]}
        fields = {name: written(field) for name, field in each["properties"].items()}
        return {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": False}

    return written(schema)


def traced(model: str, provider: str, pieces: Iterable[_T]) -> Iterator[_T]:
    """Yield the pieces of a model's answer inside a span, by the conventions of OpenTelemetry for generative AI."""
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


def examine_model(model: LanguageModel | None, *, without: str) -> Iterator[report.Step]:
    """Ask the model for one word; yield the step, with the remedy of a failure; without a model, skip."""
    if model is None:
        yield report.skipped("model", without)
        return
    started = time.monotonic()
    try:
        for _ in model.stream(_EXAMINATION, cancellation=Cancellation(), timeout_seconds=_EXAMINATION_SECONDS):
            pass
    except ModelFailed as failed:
        hint = model.hint("model", failed.failure)
        detail = f" ({hint['detail']})" if hint["detail"] else ""
        yield report.failed("model", f"{model.name}: {hint['cause'].replace('_', ' ')}{detail}", remedy=hint["remedy"])
        return
    fix = "ask again; where it stays slow, choose a faster model, or see status.cloud.google.com"
    yield report.in_time("model", f"{model.name} answers", seconds=time.monotonic() - started, fix=fix)
