"""A prompt for a model, and the pieces of its answer."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from a2a_hub.gemini.failure import Cause, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A request to a model. `instruction` is the operator's, `text` holds other people's words.

    `json_schema` is the schema of the JSON answer; None for text. `turns`, in the API's form, are a
    whole dialogue in place of `text`; `functions` declares what the model may call in it.
    """

    instruction: str
    text: str
    temperature: float = 0.2
    json_schema: Mapping[str, Any] | None = None
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


def call_turn(name: str, arguments: Mapping[str, Any], signature: str) -> dict[str, Any]:
    """Return the turn in which the model called a function."""
    part: dict[str, Any] = {"function_call": {"name": name, "args": dict(arguments)}}
    if signature:
        part["thought_signature"] = base64.b64decode(signature)
    return turn("model", part)


def result_turn(name: str, text: str, *, succeeded: bool) -> dict[str, Any]:
    """Return the turn with the result of a function, or its error."""
    return turn("user", {"function_response": {"name": name, "response": {"output" if succeeded else "error": text}}})


def turn(role: str, part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a turn of one part."""
    return {"role": role, "parts": [dict(part)]}


def read_reply(pieces: Iterable[str | FunctionCall | Waiting | Ended]) -> tuple[str, FunctionCall | None, bool]:
    """Return the text of an answer, the first function that it calls, and True if the text was cut short."""
    texts: list[str] = []
    called: FunctionCall | None = None
    is_cut_short = False
    for piece in pieces:
        match piece:
            case str():
                texts.append(piece)
            case FunctionCall():
                called = called or piece
            case Ended():
                is_cut_short = piece.is_cut_short
    return "".join(texts), called, is_cut_short
