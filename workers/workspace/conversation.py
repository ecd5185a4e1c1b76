"""Asks the person whether something is to be done, and reads out of the question, when it comes back, what that was.

The question is the only record: so nothing can be done but what the person has read.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import tzinfo
from enum import StrEnum
from hashlib import sha256
from typing import Any

from workers.workspace.actions import KINDS, Action, kind_of
from workers.workspace.failures import GoogleFailed, Unusable
from workers.workspace.words import Language, Words, language_of, of

DONE = "✓ "
_NOTES = re.compile(rf"\A(?:(?:{DONE}[^\n]*\n)+\n)?")
_BLOCK = re.compile(r"\n\n(`{3,})\n(.*)\n\1\Z", re.DOTALL)
_YES = {
    "yes",
    "yes please",
    "y",
    "ok",
    "okay",
    "はい",
    "はい お願いします",
    "お願いします",
    "okです",
}
_NO = {"no", "no thanks", "no thank you", "n", "いいえ", "いや", "やめて", "やめてください", "キャンセル"}
_MOST_MESSAGES = 40
# The longest question of a worker, and a little more.
_MOST_CHARACTERS = 12_000
_USER = "ROLE_USER"


class Answer(StrEnum):
    """What the person said to a question."""

    YES = "yes"
    NO = "no"
    ELSE = "else"


def question(action: Action, language: Language) -> str:
    """What the person is asked: all of it, in a block that no user interface renders as anything else."""
    words = of(language)
    kind = kind_of(action)
    fields = dict(action.fields())
    text = fields.pop("text")
    lines = [f"{words.labels[name]}: {value}" for name, value in fields.items() if value]
    block = "\n".join(lines) + (f"\n\n{text}" if text else "")
    longest = max((len(run) for run in re.findall("`+", block)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{words.asks[kind]}\n\n{fence}\n{block}\n{fence}"


def asked_for(text: str, zone: tzinfo) -> Action | None:
    """What a question of this worker's asks for; None for every other text, however much it looks like one."""
    bare = _NOTES.sub("", text, count=1)
    for language in Language:
        words = of(language)
        for kind, head in words.asks.items():
            found = _BLOCK.fullmatch(bare.removeprefix(head)) if bare.startswith(head) else None
            action = _read(kind, found[2], words, zone) if found else None
            if action is not None and question(action, language) == bare:
                return action
    return None


def answer(text: str) -> Answer:
    """A yes is nothing but a yes: with anything more, the person wants something else."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    said = " ".join(re.sub(r"[\s.,!、。「」\"'“”*]+", " ", folded).split())
    if said in _YES:
        return Answer.YES
    return Answer.NO if said in _NO else Answer.ELSE


def _read(kind: str, block: str, words: Words, zone: tzinfo) -> Action | None:
    head, _, text = block.partition("\n\n")
    names = {label: name for name, label in words.labels.items()}
    fields = dict.fromkeys(words.labels, "") | {"text": text}
    for line in head.split("\n"):
        label, _, value = line.partition(": ")
        if label in names:
            fields[names[label]] = value
    try:
        return KINDS[kind].read(fields, zone)
    except (Unusable, GoogleFailed):
        return None


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
    asked = asked_for(before[-1].text, zone) if before and not before[-1].by_person else None
    first = next((each.text for each in said if each.by_person), text)
    return Conversation(
        before=tuple(Said(each.by_person, each.text[:_MOST_CHARACTERS]) for each in before[-_MOST_MESSAGES:]),
        text=text,
        steps=tuple(each.text for each in said[last + 1 :]),
        language=language_of(first),
        asked=asked,
        answer=answer(text),
        key=sha256(f"{task_id}/{len([each for each in before if each.by_person])}".encode()).hexdigest(),
    )


def _text(message: dict[str, Any]) -> str:
    return "\n".join(part["text"] for part in message.get("parts", ()) if part.get("text"))
