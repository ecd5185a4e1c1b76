"""`hubctl evaluate --live FILE.jsonl`: own questions on own documents, through the whole path of a running hub."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from hubctl.console import row, table_head
from hubctl.live.hub import LiveHub
from hubctl.main import CommandError
from hubctl.project_files import read_text

_LONGEST = 100
_WIDTHS = (14, 9, 5, 5, 5, 9, 6, 12, 9, 8)


class Outcome(StrEnum):
    """The outcome of a question."""

    RIGHT = "right"
    SHOWN = "shown"
    """Not asserted, but a quote that settles it is shown."""
    WRONG = "wrong"
    """Asserted, and not right; or an answer to what has none."""
    ABSTAINED = "abstained"
    FAILED = "failed"


class CorpusQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the file.

    A right answer matches each expression of `must`, and none of `wrong`; without `must`, it cites a text of `evidence`.
    `earlier` are the questions before it in its conversation.
    """

    id: str
    question: str
    language: str = ""
    answerable: bool = True
    must: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for expression in (*self.must, *self.wrong):
            try:
                re.compile(expression)
            except re.error as problem:
                raise ValueError(f"{expression!r} is no regular expression: {problem}") from None
        if self.answerable and not (self.must or self.evidence):
            raise ValueError("must or evidence tells what a right answer holds: write one, or answerable = false")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedQuestion:
    """A question with its outcome, and the hub's record of it."""

    question: CorpusQuestion
    outcome: Outcome
    record: Mapping[str, Any]

    @property
    def route(self) -> str:
        """The id of the route whose agent answered."""
        return str(self.record.get("route"))

    @property
    def is_wrong(self) -> bool:
        """True if a wrong answer was asserted, or the question failed."""
        return self.outcome in (Outcome.WRONG, Outcome.FAILED)


def read_corpus_questions(path: Path) -> tuple[CorpusQuestion, ...]:
    """Return the questions of a file of JSON lines, one at least. Raises CommandError that lists the invalid lines."""
    decoder = msgspec.json.Decoder(CorpusQuestion)
    questions, problems = [], []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if line.strip():
            try:
                questions.append(decoder.decode(line))
            except msgspec.DecodeError as problem:
                problems.append(f"{path}:{number}: {problem}")
    if problems:
        raise CommandError("\n".join(["the questions cannot be read:", *problems]))
    if not questions:
        raise CommandError(f"{path} holds no questions")
    return tuple(questions)


def judged(hub: LiveHub, question: CorpusQuestion) -> JudgedQuestion:
    """Ask the question in a conversation of its own, after the earlier ones. Raises CommandError."""
    context_id = None
    for text in (*question.earlier, question.question):
        record = hub.query(text, context_id=context_id).record or {}
        context_id = record.get("contextId")
    return JudgedQuestion(question=question, outcome=outcome(question, record), record=record)


def outcome(question: CorpusQuestion, record: Mapping[str, Any]) -> Outcome:
    """Return the outcome of a question whose answer has this record (`Answer.record`)."""
    if record.get("error"):
        return Outcome.FAILED
    data = _data(record)
    if all("declines" not in each and each.get("grounded") is not False for each in data):
        return Outcome.RIGHT if question.answerable and _is_right(question, record) else Outcome.WRONG
    shown = [quote for each in data for name in ("citations", "nearest") for quote in each.get(name) or ()]
    return Outcome.SHOWN if question.answerable and _is_quoted(question, shown) else Outcome.ABSTAINED


def _is_right(question: CorpusQuestion, record: Mapping[str, Any]) -> bool:
    text = str(record.get("answer"))
    if any(_matches(expression, text) for expression in question.wrong):
        return False
    if question.must:
        return all(_matches(expression, text) for expression in question.must)
    return _is_quoted(question, record.get("citations") or ())


def _is_quoted(question: CorpusQuestion, quotes: Sequence[Any]) -> bool:
    quoted = [_folded(str(each.get("quote", ""))) for each in quotes if isinstance(each, dict)]
    return any(_folded(text) in quote for text in question.evidence for quote in quoted)


def _matches(expression: str, text: str) -> bool:
    return any(re.search(expression, form, re.IGNORECASE) for form in (text, unicodedata.normalize("NFKC", text)))


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _data(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the agent's structured answers: an object, a list of several, or none."""
    value = record.get("data")
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, dict)]


def report(results: Sequence[JudgedQuestion]) -> Iterator[str]:
    """Yield the counts by the route that answered and in each language, then each answer that is wrong, missing or failed."""
    head = ("", "questions", *(each.value for each in Outcome), "unanswerable", "abstained", "asserted")
    yield from table_head(head, _WIDTHS)
    for name in sorted({each.route for each in results}):
        yield _counted(name, [each for each in results if each.route == name])
    for language in sorted({each.question.language for each in results} - {""}):
        yield _counted(f"in {language}", [each for each in results if each.question.language == language])
    yield _counted("all", results)
    yield ""
    for each in results:
        expected = Outcome.RIGHT if each.question.answerable else Outcome.ABSTAINED
        if each.outcome not in (expected, Outcome.SHOWN):
            answer = " ".join(str(each.record.get("answer")).split())[:_LONGEST]
            yield f"{each.outcome}: {each.question.id} ({each.record.get('reason')}): {each.question.question} → {answer}"


def _counted(name: str, results: Sequence[JudgedQuestion]) -> str:
    answerable = Counter(each.outcome for each in results if each.question.answerable)
    others = Counter(each.outcome for each in results if not each.question.answerable)
    numbers = (
        answerable.total(),
        *(answerable[outcome] for outcome in Outcome),
        others.total(),
        others[Outcome.ABSTAINED],
        others[Outcome.WRONG],
    )
    return row((name, *map(str, numbers)), _WIDTHS)
