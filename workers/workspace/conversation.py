"""Confirmation by conversation: a question holds the whole action, and is read back with the person's reply.

The question is the only record, so that nothing is done but what the person has read.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import tzinfo
from enum import StrEnum
from hashlib import sha256
from typing import Any

from workers.workspace import actions
from workers.workspace.actions import Action, kind_of
from workers.workspace.failures import GoogleFailed, Unusable
from workers.workspace.texts import Language, Texts, language_of, texts_in

DONE = "✓ "
_NOTES = re.compile(rf"\A(?:(?:{DONE}[^\n]*\n)+\n)?")
_BLOCK = re.compile(r"\n\n(`{3,})\n(.*)\n\1\Z", re.DOTALL)
_YES = {"yes", "yes please", "y", "ok", "okay", "はい", "はい お願いします", "お願いします", "okです"}
_NO = {"no", "no thanks", "no thank you", "n", "いいえ", "いや", "やめて", "やめてください", "キャンセル"}
_MAX_MESSAGES = 40
# A little more than the longest question of a worker.
_MAX_CHARACTERS = 12_000
_USER = "ROLE_USER"


class Reply(StrEnum):
    """The person's reply to a question."""

    YES = "yes"
    NO = "no"
    ELSE = "else"


def question(action: Action, language: Language) -> str:
    """Return the question: the whole action, in a block that every user interface shows verbatim."""
    texts = texts_in(language)
    kind = kind_of(action)
    fields = dict(action.fields())
    text = fields.pop("text")
    lines = [f"{texts.labels[name]}: {value}" for name, value in fields.items() if value]
    block = "\n".join(lines) + (f"\n\n{text}" if text else "")
    longest = max((len(run) for run in re.findall("`+", block)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{texts.asks[kind]}\n\n{fence}\n{block}\n{fence}"


def parse_question(text: str, zone: tzinfo) -> Action | None:
    """Return the action of a question by this worker; None for any other text, however similar."""
    bare = _NOTES.sub("", text, count=1)
    for language in Language:
        texts = texts_in(language)
        for kind, head in texts.asks.items():
            found = _BLOCK.fullmatch(bare.removeprefix(head)) if bare.startswith(head) else None
            action = _read(kind, found[2], texts, zone) if found else None
            if action is not None and question(action, language) == bare:
                return action
    return None


def classify_reply(text: str) -> Reply:
    """Classify a reply. Only a bare yes is a yes: with anything more, the person wants something else."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    normal = " ".join(re.sub(r"[\s.,!、。「」\"'“”*]+", " ", folded).split())
    if normal in _YES:
        return Reply.YES
    return Reply.NO if normal in _NO else Reply.ELSE


def _read(kind: str, block: str, texts: Texts, zone: tzinfo) -> Action | None:
    head, _, text = block.partition("\n\n")
    names = {label: name for name, label in texts.labels.items()}
    fields = {"text": text}
    for line in head.split("\n"):
        label, _, value = line.partition(": ")
        if label in names:
            fields[names[label]] = value
    try:
        return actions.read(kind, fields, zone)
    except (Unusable, GoogleFailed):
        return None


@dataclass(frozen=True)
class Utterance:
    """One message of the conversation."""

    from_person: bool
    text: str


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """The conversation of a task: `text` is the person's last message, `before` the ones before it, `steps` the worker's since.

    `pending` is the action of this worker's question directly before `text`, and `reply` classifies `text` as its answer.
    `key` is unique to that question.
    """

    before: tuple[Utterance, ...]
    text: str
    steps: tuple[str, ...]
    language: Language
    pending: Action | None
    reply: Reply
    key: str


def read(task_id: str, text: str, history: Iterable[dict[str, Any]], zone: tzinfo) -> Conversation:
    """Read a conversation from a leased task."""
    messages = [Utterance(message.get("role") == _USER, _text(message)) for message in history]
    last = max((place for place, each in enumerate(messages) if each.from_person), default=len(messages))
    before = messages[:last]
    # The question is the worker's last message; only a worker writes as the agent.
    pending = parse_question(before[-1].text, zone) if before and not before[-1].from_person else None
    first = next((each.text for each in messages if each.from_person), text)
    return Conversation(
        before=tuple(Utterance(each.from_person, each.text[:_MAX_CHARACTERS]) for each in before[-_MAX_MESSAGES:]),
        text=text,
        steps=tuple(each.text for each in messages[last + 1 :]),
        language=language_of(first),
        pending=pending,
        reply=classify_reply(text),
        key=sha256(f"{task_id}/{len([each for each in before if each.from_person])}".encode()).hexdigest(),
    )


def _text(message: dict[str, Any]) -> str:
    return "\n".join(part["text"] for part in message.get("parts", ()) if part.get("text"))
