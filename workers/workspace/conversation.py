"""What was said on a task so far, and what it means for this turn."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import tzinfo
from hashlib import sha256
from typing import Any

from workers.workspace import consent
from workers.workspace.actions import Action
from workers.workspace.consent import Answer
from workers.workspace.words import Language, language_of

_MOST_MESSAGES = 40
# The longest question of a worker, and a little more.
_MOST_CHARACTERS = 12_000
_USER = "ROLE_USER"


@dataclass(frozen=True)
class Said:
    """One message."""

    by_person: bool
    text: str


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """`before` is what came before `text`, which the person said last; `steps` is what the worker has said since.

    `asked` is what this worker's own question, directly before `text`, asked for; `answer` is what `text` is to it.
    `key` is that question's alone.
    """

    before: tuple[Said, ...]
    text: str
    steps: tuple[str, ...]
    language: Language
    asked: Action | None
    answer: Answer
    key: str


def read(task_id: str, text: str, history: Iterable[dict[str, Any]], zone: tzinfo) -> Conversation:
    """From what a worker is given."""
    said = [Said(message.get("role") == _USER, _text(message)) for message in history]
    last = max((place for place, each in enumerate(said) if each.by_person), default=len(said))
    before = said[:last]
    # The question is what the worker said last; only a worker writes as the agent.
    asked = consent.asked_for(before[-1].text, zone) if before and not before[-1].by_person else None
    first = next((each.text for each in said if each.by_person), text)
    return Conversation(
        before=tuple(Said(each.by_person, each.text[:_MOST_CHARACTERS]) for each in before[-_MOST_MESSAGES:]),
        text=text,
        steps=tuple(each.text for each in said[last + 1 :]),
        language=language_of(first),
        asked=asked,
        answer=consent.answer(text),
        key=sha256(f"{task_id}/{len([each for each in before if each.by_person])}".encode()).hexdigest(),
    )


def _text(message: dict[str, Any]) -> str:
    return "\n".join(part["text"] for part in message.get("parts", ()) if part.get("text"))
