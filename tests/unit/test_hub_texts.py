"""Texts of the hub for people: in Japanese, with full-width punctuation and Japanese names and commands."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from a2a_hub.a2a.extensions.development_tool import ExecuteSlashCommandRequest
from a2a_hub.text.language import Language
from functions.hub import citations, texts
from functions.hub.commands import texts as command_texts
from functions.hub.failure import Failure, FailureKind
from tests.fakes.hub import route

ROUTE = route("alpha", "http://127.0.0.1:9", name="Expense desk", name_ja="経費精算")
_JAPANESE = r"[\u3040-\u30ff\u4e00-\u9fff\u300d\u300f\uff09]"
_HALF_WIDTH = re.compile(rf"{_JAPANESE}[,.?!(:;]|[,.?!):;]{_JAPANESE}")


def _templates(value: Any) -> Iterator[str]:
    """Every Japanese template in a module's constant."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key is Language.JA:
                yield inner
            elif key is not Language.EN:
                yield from _templates(inner)


TEMPLATES = [
    template
    for module in (texts, command_texts)
    for name, constant in vars(module).items()
    if name.strip("_").isupper()
    for template in _templates(constant)
]


def test_all_texts_are_found() -> None:
    assert len(TEMPLATES) > len(FailureKind) + 30


@pytest.mark.parametrize("template", TEMPLATES)
def test_japanese_punctuation_is_full_width(template: str) -> None:
    assert not _HALF_WIDTH.search(template)


def test_a_japanese_citation_has_full_width_punctuation() -> None:
    citation = {
        "uri": "gs://bucket/規程.md",
        "title": "旅費規程",
        "quote": "上限は1万円です。",
        "position": {"section": ["第3条"], "line": 12},
    }
    written = citations.numbered_lines([citation], Language.JA)
    assert written == "\n\n出典：\n[1] 旅費規程、第3条（gs://bucket/規程.md、12行目）：「上限は1万円です。」"


@pytest.mark.parametrize("kind", FailureKind)
def test_a_japanese_failure_names_the_agent_in_japanese(kind: FailureKind) -> None:
    failure = Failure(kind=kind, fault="fault", cause="cause", seconds_to_wait=3.0, fields=("x",))
    read = texts.failure_text(failure, ROUTE, language=Language.JA, reference="r")
    assert "Expense desk" not in read
    assert ("「経費精算」" in read) == (kind is not FailureKind.UNROUTED)


def test_every_other_japanese_text_names_the_agent_in_japanese() -> None:
    request = ExecuteSlashCommandRequest(command_path=("memory",))
    for read in (
        texts.no_answer_text(ROUTE, Language.JA),
        texts.question_text(ROUTE, Language.JA),
        command_texts.refused_text(ROUTE, request, Language.JA),
        command_texts.routes_text([ROUTE], Language.JA),
    ):
        assert "経費精算" in read
        assert "Expense desk" not in read


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_japanese_text_names_no_english_command(template: str) -> None:
    assert not re.search(r"/(?:tasks?|cancel|routes|help)\b", template)


@pytest.mark.parametrize(("command", "shown"), [("task", "/タスク 3"), ("cancel", "/キャンセル 3")])
def test_a_missing_number_is_asked_for_with_the_japanese_command(command: str, shown: str) -> None:
    assert f"「{shown}」" in command_texts.number_missing_text(command, Language.JA)
