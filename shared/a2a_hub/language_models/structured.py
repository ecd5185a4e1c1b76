"""One JSON answer of a language model, by the schema of a type and read into it."""

from typing import Any, TypeVar

import msgspec

from a2a_hub.gemini.failure import Cause, Failure, ModelFailed
from a2a_hub.gemini.prompt import Prompt
from a2a_hub.http.messages import Cancellation
from a2a_hub.language_models.model import LanguageModel

_MOST_CHARACTERS = 2_000
_T = TypeVar("_T")


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
        if len(reply) > _MOST_CHARACTERS:
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
