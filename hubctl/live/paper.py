"""The paper's evaluation (§5; docs/paper.md): questions with their right answers, asked over both paths."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from hubctl.live.hub import LiveHub, Reply
from hubctl.main import CommandError
from hubctl.project_files import read_text

_NUMBERED = re.compile(r"^\s*\d+[.)、．]", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question and what makes its answer right."""

    text: str
    route: str
    contains: tuple[str, ...] = ()
    items: int | None = None
    quote: str | None = None
    paper: int | None = None
    """The number of the query in the paper (§5.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question's outcome; `wrong` says what was not right, on which path."""

    question: Question
    ui: Reply
    inspected: Reply
    wrong: tuple[str, ...]


def read_questions(path: Path) -> tuple[Question, ...]:
    """The questions in a file like evaluation/paper.toml, one at least. Raises CommandError."""
    text = read_text(path)
    try:
        tables = tomllib.loads(text).get("questions") or ()
        questions = tuple(
            Question(**{**table, "contains": tuple(table.get("contains", ()))}) for table in tables
        )
    except (ValueError, TypeError) as problem:
        raise CommandError(
            f"{path} is not a file of questions like evaluation/paper.toml: {problem}"
        ) from None
    if not questions:
        raise CommandError(f"{path} holds no [[questions]], as evaluation/paper.toml does")
    return questions


def ask(hub: LiveHub, question: Question) -> Asked:
    """Asks over the UI path and the inspection path, and compares. Raises HubUnavailable."""
    ui, inspected = hub.send(question.text), hub.query(question.text)
    record = inspected.record or {}
    wrong = [f"UI path: {fault}" for fault in _faults(question, ui.text)]
    wrong += [f"/tools/query: {fault}" for fault in _faults(question, inspected.text)]
    if ui.kinds != ("text",):
        wrong.append(f"UI path: parts {', '.join(ui.kinds)} instead of one text part")
    if record.get("route") != question.route:
        wrong.append(f"/tools/query: route {record.get('route')} instead of {question.route}")
    quotes = [str(citation.get("quote")) for citation in record.get("citations", [])]
    if question.quote is not None and not any(question.quote in quote for quote in quotes):
        wrong.append(f"/tools/query: no citation quotes “{question.quote}”")
    return Asked(question=question, ui=ui, inspected=inspected, wrong=tuple(wrong))


def _faults(question: Question, answer: str) -> list[str]:
    faults = [f"“{text}” is not in the answer" for text in question.contains if text not in answer]
    if question.items is not None:
        items = len(_NUMBERED.findall(answer))
        if items != question.items:
            faults.append(f"{items} numbered items instead of {question.items}")
    return faults
