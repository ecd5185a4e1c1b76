"""A prompt for a model, and the pieces of its answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from a2a_hub.gemini.failure import Cause, Tokens, cut_short_text
from a2a_hub.text.language import Language


@dataclass(frozen=True, slots=True)
class UserTurn:
    """A text of the person."""

    text: str


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """A text of the model."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCall:
    """A function that the model calls; `arguments` are None if they are no JSON object.

    Its `signature` (base64) is sent back to the model with the call.
    """

    name: str
    arguments: dict[str, Any] | None
    signature: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionResult:
    """The result, or the error, of the function that was called last."""

    name: str
    text: str
    succeeded: bool


Turn = UserTurn | ModelTurn | FunctionCall | FunctionResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A request to a model. `instruction` is the operator's, `text` holds other people's words.

    `json_schema` is the schema of the JSON answer; None for text. `turns` are a whole dialogue in place of `text`;
    `functions` are what the model may call in it, each with `name`, `description` and `parameters`, a JSON schema.
    """

    instruction: str
    text: str = ""
    temperature: float = 0.2
    json_schema: Mapping[str, Any] | None = None
    turns: Sequence[Turn] = ()
    functions: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class Waiting:
    """The model cannot answer at the moment; it is asked again in `seconds`."""

    cause: Cause
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The end of an answer that is complete, or that reached the maximum length (`is_cut_short`)."""

    finish: str
    tokens: Tokens
    is_cut_short: bool


def read_reply(
    pieces: Iterable[str | FunctionCall | Waiting | Ended], language: Language
) -> tuple[str, FunctionCall | None]:
    """Return the text of an answer, with a note if it was cut short, and the first function that it calls."""
    texts: list[str] = []
    called: FunctionCall | None = None
    for piece in pieces:
        match piece:
            case str():
                texts.append(piece)
            case FunctionCall():
                called = called or piece
            case Ended(is_cut_short=True):
                texts.append(f"\n\n{cut_short_text(language)}")
    return "".join(texts), called
