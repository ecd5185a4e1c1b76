"""What the chunks of a streamed answer say: text, calls of functions, how it ended, and what it was charged for.

Vertex AI's reference, GenerateContentResponse. A blocked question has `promptFeedback` and no candidate; a blocked answer a
`finishReason` other than STOP, and what came before it was already sent.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from a2a_hub.gemini.failure import Cause, Failure, ModelFailed, Tokens

_CAUSES = {
    "SAFETY": Cause.ANSWER_BLOCKED,
    "BLOCKLIST": Cause.ANSWER_BLOCKED,
    "PROHIBITED_CONTENT": Cause.ANSWER_BLOCKED,
    "SPII": Cause.ANSWER_BLOCKED,
    "MODEL_ARMOR": Cause.ANSWER_BLOCKED,
    "RECITATION": Cause.RECITATION,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """An answer that is complete, or that reached the longest length (`is_cut_short`)."""

    finish: str
    tokens: Tokens
    is_cut_short: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCall:
    """The model wants a function to be called. `signature` is its own (base64), which it wants to see again with the call."""

    name: str
    arguments: dict[str, Any]
    signature: str = ""


class Reader:
    """Reads the chunks of one answer, in their order."""

    def __init__(self) -> None:
        self._finish = ""
        self._tokens = Tokens()
        self._says_something = False

    def said(self, chunk: Any) -> Iterator[str | FunctionCall]:
        """What one `GenerateContentResponse` says, without the model's thoughts. Raises ModelFailed when it was blocked."""
        self._tokens = _tokens(chunk.usage_metadata) or self._tokens
        feedback = chunk.prompt_feedback
        if feedback is not None and feedback.block_reason is not None:
            raise self._failed(Cause.QUESTION_BLOCKED, str(feedback.block_reason.value))
        for candidate in (chunk.candidates or ())[:1]:
            for part in (candidate.content.parts if candidate.content else None) or ():
                if part.text and not part.thought:
                    self._says_something = self._says_something or not part.text.isspace()
                    yield part.text
                if part.function_call is not None:
                    self._says_something = True
                    yield _call(part)
            if candidate.finish_reason is not None:
                self._finish = str(candidate.finish_reason.value)

    def ended(self) -> Ended:
        """How the answer ended. Raises ModelFailed for an end that leaves no usable answer."""
        match self._finish:
            case "":
                raise self._failed(Cause.CUT, "")
            case "STOP" | "MAX_TOKENS" if not self._says_something:
                raise self._failed(Cause.EMPTY, self._finish)
            case "STOP" | "MAX_TOKENS":
                is_cut_short = self._finish == "MAX_TOKENS"
                return Ended(finish=self._finish, tokens=self._tokens, is_cut_short=is_cut_short)
            case _:
                raise self._failed(_CAUSES.get(self._finish, Cause.BROKEN), self._finish)

    def _failed(self, cause: Cause, finish: str) -> ModelFailed:
        word = finish if finish.replace("_", "").isalpha() else ""
        detail = f"the model ended with {word}" if word else "the stream ended before the answer did"
        return ModelFailed(Failure(cause=cause, detail=detail, finish=word, tokens=self._tokens))


def _call(part: Any) -> FunctionCall:
    signature = part.thought_signature
    return FunctionCall(
        name=part.function_call.name or "",
        arguments=dict(part.function_call.args or {}),
        signature=base64.b64encode(signature).decode() if signature else "",
    )


def _tokens(usage: Any) -> Tokens | None:
    if usage is None:
        return None
    return Tokens(
        prompt=usage.prompt_token_count or 0,
        answer=usage.candidates_token_count or 0,
        thoughts=usage.thoughts_token_count or 0,
        total=usage.total_token_count or 0,
    )
