"""Follow-up questions in full, by a model: "and for P-2?" becomes "When must a P-2 incident be reported?"."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from a2a_hub.gemini.failure import ModelFailed
from a2a_hub.http.messages import Cancellation
from a2a_hub.language_models.model import LanguageModel, structured
from a2a_hub.text.language import language_of
from a2a_hub.text.quantities import quantities

_TIMEOUT_SECONDS = 4.0
_MAX_CHARACTERS = 500
_INSTRUCTION = Path(__file__).with_suffix(".md")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class _Reply(msgspec.Struct):
    question: str


_REPLY = msgspec.json.Decoder(_Reply)


def rewritten(
    model: LanguageModel, question: str, earlier: Sequence[tuple[str, str]], *, cancellation: Cancellation
) -> str | None:
    """Return the complete question, unchanged if it is complete.

    None if the model fails, is late, or brings in a number that nobody has asked about.

    `earlier` are the questions and answers before it, the oldest first.
    """
    if len(question) > _MAX_CHARACTERS:
        return None
    lines = [_line(earlier_question=asked, answer=answer) for asked, answer in earlier]
    try:
        reply = structured(
            model,
            _REPLY,
            instruction=_INSTRUCTION.read_text(encoding="utf-8"),
            text="\n".join([*lines, _line(question=question)]),
            cancellation=cancellation,
            timeout_seconds=_TIMEOUT_SECONDS,
        )
    except ModelFailed:
        return None
    found = " ".join(reply.question.split())
    return question if found == " ".join(question.split()) else _checked(found, question, earlier)


def _checked(found: str, question: str, earlier: Sequence[tuple[str, str]]) -> str | None:
    """Return what was found if its language, numbers and codes are those of the questions.

    The verifier lets a sentence repeat the numbers of its question: they must be the asker's own.
    """
    if not found or len(found) > _MAX_CHARACTERS:
        return None
    asked = [question, *(each for each, _ in earlier)]
    known = {quantity.term for text in asked for quantity in quantities(text)}
    # "and at 46?" becomes "46 kg" by the unit of the question before.
    numbers = set(_NUMBER.findall(" ".join(asked)))
    if language_of(found) not in map(language_of, asked):
        return None
    added = [found[each.start : each.end] for each in quantities(found) if each.term not in known]
    return found if all(_NUMBER.findall(each) and numbers.issuperset(_NUMBER.findall(each)) for each in added) else None


def _line(**values: str) -> str:
    return json.dumps(values, ensure_ascii=False)
