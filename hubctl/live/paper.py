"""The paper's evaluation (§5; docs/paper.md): its questions over both paths, in each of its cases."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from msgspec import Struct

from a2a_hub.http.client import HttpClient, HttpFailure, fetch
from a2a_hub.toml.document import parse
from hubctl.console import row, table_head
from hubctl.live.hub import LiveHub, Reply
from hubctl.main import CommandError
from hubctl.project_files import read_text

_NUMBERED = re.compile(r"^\s*\d+[.)、．]", re.MULTILINE)
# What a user must never read in an answer.
_INNARDS = re.compile(
    r"https?://(?!console\.cloud\.google\.com/)|Traceback|Exception|Bearer |eyJ|gserviceaccount|HTTP \d{3}"
)
_LIVE_HEADER = ("", "question", "route", "agent", "answer", "cited", "UI ms", "REST ms")
_LIVE_WIDTHS = (1, 40, 8, 24, 48, 5, 7, 7)
_REFERENCE = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LONGEST = 110


class Question(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question and the conditions of a right answer."""

    text: str
    route: str
    contains: tuple[str, ...] = ()
    items: int | None = None
    quote: str | None = None
    paper: int | None = None
    """The number of the query in the paper (§5.1)."""


class Case(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One case; see evaluation/paper_cases.toml."""

    id: str
    paper: str
    stand_in: str | None = None
    fault: str | None = None
    route: str | None = None
    status: int | None = None
    unread: bool = False
    note: str = ""


def read_cases(path: Path) -> tuple[Case, ...]:
    """Return the cases in a file. Raises OSError, ValueError, TypeError or KeyError."""
    return tuple(Case(**table) for table in parse(path.read_text(encoding="utf-8"))["cases"])


def read_stand_ins(file: Path) -> Mapping[str, str]:
    """Return the addresses of its stand-ins that a run over the local cloud wrote down, by name. Raises CommandError."""
    try:
        urls: Mapping[str, str] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise CommandError(
            f"there is no local cloud at {file}: start one with make run CLOUD=local, and name its file with --cloud"
        ) from None
    return urls


@contextlib.contextmanager
def _broken(case: Case, stand_ins: Mapping[str, str]) -> Iterator[None]:
    """Switch the case's fault on, and off again afterwards. Raises CommandError."""
    if case.stand_in is None or case.fault is None:
        yield
        return
    if case.stand_in not in stand_ins:
        raise CommandError(f"the local cloud has no {case.stand_in}")
    url = f"{stand_ins[case.stand_in]}/__faults/{case.fault}"
    _switch("POST", url)
    try:
        yield
    finally:
        _switch("DELETE", url)


def _switch(method: str, url: str) -> None:
    try:
        answer, _ = fetch(HttpClient(), method, url, headers={}, seconds=10.0)
    except HttpFailure as failure:
        raise CommandError(f"the local cloud does not answer: {failure.detail}") from None
    if answer.status != 204:
        raise CommandError(f"the local cloud does not know this fault: HTTP {answer.status}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One question's outcome; `wrong` says what was not right, on which path; in a `case`, what is not as the paper reports."""

    question: Question
    ui: Reply
    inspected: Reply
    wrong: tuple[str, ...]
    case: Case | None = None

    @property
    def record(self) -> dict[str, Any]:
        """The record of the inspection path."""
        return self.inspected.record or {}

    @property
    def status(self) -> int | None:
        """The HTTP status with which the agent's boundary refused."""
        status: int | None = (self.record.get("error") or {}).get("httpStatus")
        return status

    @property
    def is_wrong(self) -> bool:
        """True if something was not right."""
        return bool(self.wrong)


def read_questions(path: Path) -> tuple[Question, ...]:
    """Return the questions in a file like evaluation/paper.toml, one at least. Raises CommandError."""
    text = read_text(path)
    try:
        tables = parse(text).get("questions") or ()
        questions = tuple(Question(**{**table, "contains": tuple(table.get("contains", ()))}) for table in tables)
    except (ValueError, TypeError) as problem:
        raise CommandError(f"{path} is not a file of questions like evaluation/paper.toml: {problem}") from None
    if not questions:
        raise CommandError(f"{path} holds no [[questions]], as evaluation/paper.toml does")
    return questions


def ask(hub: LiveHub, question: Question) -> Outcome:
    """Ask over the UI path and the inspection path, and compare. Raises CommandError."""
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
    return Outcome(question=question, ui=ui, inspected=inspected, wrong=tuple(wrong))


def _faults(question: Question, answer: str) -> list[str]:
    faults = [f"“{text}” is not in the answer" for text in question.contains if text not in answer]
    if question.items is not None:
        items = len(_NUMBERED.findall(answer))
        if items != question.items:
            faults.append(f"{items} numbered items instead of {question.items}")
    return faults


def reproduce(
    hub: LiveHub, stand_ins: Mapping[str, str], *, questions: Sequence[Question], cases: Sequence[Case]
) -> Iterator[Outcome]:
    """Yield every outcome. After each fault its question is asked once more: with the permission back, it must be answered again.

    Raises CommandError.
    """
    for case in cases:
        with _broken(case, stand_ins):
            outcomes = [ask(hub, question) for question in questions]
        for outcome in outcomes:
            wrong = _departures(case, outcome)
            if case.route == outcome.question.route:
                wrong += [f"with the permission back: {each}" for each in ask(hub, outcome.question).wrong]
            yield replace(outcome, case=case, wrong=tuple(wrong))


def _departures(case: Case, outcome: Outcome) -> list[str]:
    """Return what is not as the paper reports the case."""
    wrong, record = list(outcome.wrong), outcome.record
    if case.route == outcome.question.route:
        wrong = _unread(outcome) if case.unread else []
        if not case.unread and outcome.status != case.status:
            wrong.append(f"HTTP {outcome.status} at the agent's boundary instead of {case.status}")
        if record.get("route") != case.route:
            wrong.append(f"route {record.get('route')} instead of {case.route}")
        if outcome.ui.kinds != ("text",):
            wrong.append(f"parts {', '.join(outcome.ui.kinds)} instead of one text part")
    if shown := _INNARDS.search(outcome.ui.text):
        wrong.append(f"the user reads {shown[0]!r}")
    if not outcome.ui.text.strip():
        wrong.append("the user reads nothing")
    return wrong


def _unread(outcome: Outcome) -> list[str]:
    data = outcome.record.get("data") or {}
    wrong = []
    if outcome.record.get("citations"):
        wrong.append("a citation, although no source could be read")
    if data.get("grounded") is not False:
        wrong.append("the answer is not marked as ungrounded")
    if not data.get("unverified"):
        wrong.append("the results of the search are not shown")
    wrong += [
        f"“{text}” is in the answer, although no source could be read"
        for text in outcome.question.contains
        if text in outcome.ui.text
    ]
    return wrong


def answers_table(outcomes: Sequence[Outcome]) -> Iterable[str]:
    """Yield the table, the faults, and the count of right answers."""
    yield from table_head(_LIVE_HEADER, _LIVE_WIDTHS)
    for each in outcomes:
        record = each.record
        cells = (
            "✗" if each.wrong else "✓",
            each.question.text,
            str(record.get("route")),
            str(record.get("agent")),
            each.inspected.text,
            str(len(record.get("citations", []))),
            f"{each.ui.milliseconds:.1f}",
            f"{each.inspected.milliseconds:.1f}",
        )
        yield row(cells, _LIVE_WIDTHS)
    yield ""
    for each in outcomes:
        for fault in each.wrong:
            yield f"wrong: {each.question.text}: {fault}"
    right = sum(not each.wrong for each in outcomes)
    yield f"{right} of {len(outcomes)} right on both paths"


def findings_tables(findings: Sequence[Outcome]) -> Iterator[str]:
    """Yield a table for each case, in Markdown, without anything that differs from run to run."""
    for case, group in groupby(findings, key=lambda each: each.case):
        assert case is not None, "each finding is of a case"
        yield f"\n## {case.id[0].upper()}{case.id[1:]}\n"
        yield f"The paper, {case.paper}\n"
        yield "| query | JSON-RPC: one text part | REST | cited | as the paper reports |"
        yield "|---|---|---|---|---|"
        for each in group:
            verdict = "; ".join(each.wrong) or "yes"
            citations = len(each.record.get("citations", []))
            yield f"| {each.question.text} | {_shortened(each.ui.text)} | {_rest(each)} | {citations} | {verdict} |"
        if case.note:
            yield f"\n{case.note}"
    right = sum(not each.wrong for each in findings)
    yield f"\n{right} of {len(findings)} as the paper reports, each over both paths"


def _rest(finding: Outcome) -> str:
    route = str(finding.record.get("route"))
    boundary = finding.record.get("boundary")
    if finding.status is not None:
        return f"{route} ({boundary}): HTTP {finding.status}"
    grounded = (finding.record.get("data") or {}).get("grounded")
    return f"{route} ({boundary}){': unverified' if grounded is False else ''}"


def _shortened(text: str) -> str:
    flat = " ".join(_REFERENCE.sub("…", text).split()).replace("|", "\\|")
    return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1].rstrip() + "…"
