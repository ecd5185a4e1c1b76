"""One JSON answer of a language model, read into a type."""

from typing import TypeVar

import msgspec

from a2a_hub.gemini.failure import Cause, Failure, ModelFailed
from a2a_hub.gemini.prompt import Prompt
from a2a_hub.http.messages import Cancellation
from a2a_hub.language_models.model import LanguageModel

_MOST_CHARACTERS = 2_000
_T = TypeVar("_T")


def structured(
    model: LanguageModel, prompt: Prompt, kind: type[_T], *, cancellation: Cancellation, timeout_seconds: float
) -> _T:
    """Return the model's answer. Raises ModelFailed, also for one that has another form, or over 2,000 characters."""
    reply = ""
    for piece in model.stream(prompt, cancellation=cancellation, timeout_seconds=timeout_seconds):
        if isinstance(piece, str):
            reply += piece
        if len(reply) > _MOST_CHARACTERS:
            break
    try:
        return msgspec.json.decode(reply[reply.find("{") : reply.rfind("}") + 1], type=kind)
    except (msgspec.MsgspecError, UnicodeEncodeError):
        failure = Failure(cause=Cause.BROKEN, detail="the model did not answer in the form that it was given")
        raise ModelFailed(failure) from None
