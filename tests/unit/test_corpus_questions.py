"""`hubctl evaluate --live FILE.jsonl`: the outcome of each of somebody's own questions, by route."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.http_server import Exchange, HttpServer
from tests.unit.test_hubctl_check import hubctl

ASKED = {"id": "fee", "language": "en", "question": "what do visitors pay?", "must": ["£3[.]20"]}
EVIDENCE = {"evidence": ["Visitors pay £3.20"]}
QUOTE = {"uri": "corpus:a.md", "quote": "ｖisitors  pay\n£3.20 per day."}
GROUNDED, DECLINED = {"grounded": True}, {"grounded": False, "declines": "not_asserted"}


def outcome_of(question: dict[str, Any], record: dict[str, Any], tmp_path: Path) -> tuple[int, list[str]]:
    """Return the exit status and the cells of the last row for one question."""
    answers = {"route": "docqa", "reason": "r", "answer": "", "data": None, "citations": [], "contextId": "c", **record}
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps(question) + "\n\n", encoding="utf-8")

    def behave(exchange: Exchange) -> None:
        exchange.answer(200, json.dumps(answers).encode(), content_type="application/json")

    with HttpServer(behave) as hub:
        status, told = hubctl("evaluate", "--live", file, "--url", hub.url)
    return status, next(line for line in told.splitlines() if line.startswith("all")).split()[1:]


COLUMNS = ("questions", "right", "shown", "wrong", "abstained", "failed", "unanswerable", "unanswered", "asserted")


@pytest.mark.parametrize(
    ("question", "record", "outcome"),
    [
        (ASKED, {"answer": "It is £3.20.", "data": GROUNDED}, "right"),
        (ASKED, {"answer": "It is £3.20."}, "right"),
        (ASKED, {"answer": "It is £4.", "data": [{"tables": 1}, GROUNDED]}, "wrong"),
        (ASKED | {"wrong": ["visitors"]}, {"answer": "Visitors: £3.20.", "data": GROUNDED}, "wrong"),
        (ASKED, {"answer": "The nearest: £3.20.", "data": DECLINED}, "abstained"),
        (ASKED | EVIDENCE, {"answer": "", "data": DECLINED | {"nearest": [QUOTE]}}, "shown"),
        (ASKED | EVIDENCE, {"answer": "", "data": DECLINED | {"nearest": [{"quote": "Pay £3.20"}]}}, "abstained"),
        ({"id": "e", "question": "fee?", **EVIDENCE}, {"data": GROUNDED, "citations": [QUOTE]}, "right"),
        (ASKED, {"error": {"kind": "downstream"}}, "failed"),
        ({"id": "n", "question": "who?", "answerable": False}, {"data": DECLINED}, "unanswered"),
        ({"id": "n", "question": "who?", "answerable": False}, {"answer": "Me.", "data": GROUNDED}, "asserted"),
    ],
)
def test_an_answer_counts_as_what_the_caller_was_told(
    question: dict[str, Any], record: dict[str, Any], outcome: str, tmp_path: Path
) -> None:
    status, cells = outcome_of(question, record, tmp_path)
    counted = {name for name, cell in zip(COLUMNS, cells, strict=True) if cell == "1"}
    assert counted == {outcome, "unanswerable" if outcome in ("unanswered", "asserted") else "questions"}
    assert status == (outcome in ("wrong", "asserted", "failed"))


def test_earlier_questions_are_asked_in_the_same_conversation(tmp_path: Path) -> None:
    asked: list[tuple[str, str | None]] = []
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps(ASKED | {"question": "and now?", "earlier": ["how much?"]}), encoding="utf-8")

    def behave(exchange: Exchange) -> None:
        body = json.loads(exchange.received.body)
        asked.append((body["query"], body.get("contextId")))
        exchange.answer(200, b'{"answer": "", "contextId": "c-7"}', content_type="application/json")

    with HttpServer(behave) as hub:
        hubctl("evaluate", "--live", file, "--url", hub.url)
    assert asked == [("how much?", None), ("and now?", "c-7")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", ":1: "),
        ('{"id": "a", "question": "b"}', ":1: must or evidence tells what a right answer holds"),
        ('{"id": "a", "question": "b", "must": ["("]}', ":1: '(' is no regular expression: "),
        ("", " holds no questions"),
    ],
)
def test_a_line_that_is_no_question_is_told(
    line: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(line, encoding="utf-8")
    assert hubctl("evaluate", "--live", file)[0] == 2
    assert f"{file}{message}" in capsys.readouterr().err
