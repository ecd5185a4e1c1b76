"""A prompt for a model, and the pieces of its answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from a2a_hub.gemini.failure import Cause, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A request to a model. `instruction` is the operator's, `text` holds other people's words.

    `schema`, in the API's form, is that of the JSON answer; None for text. `turns`, in the API's form, are a whole dialogue in
    place of `text`; `functions` declares what the model may call in it.
    """

    instruction: str
    text: str
    temperature: float = 0.2
    schema: Mapping[str, Any] | None = None
    turns: Sequence[Mapping[str, Any]] = ()
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


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCall:
    """A function that the model calls. Its `signature` (base64) is sent back to it with the call."""

    name: str
    arguments: dict[str, Any]
    signature: str = ""
