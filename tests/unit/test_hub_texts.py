"""Texts of the hub for people: in Japanese, with full-width punctuation and Japanese names and commands."""

import re
from typing import Any

import pytest

from a2a_hub.a2a.extensions.development_tool import ExecuteSlashCommandRequest
from a2a_hub.a2a.model import Message, Part, Role, Task, TaskState, TaskStatus
from a2a_hub.task_store.store import StoredTask
from a2a_hub.text import citations
from a2a_hub.text.catalog import tables_of
from a2a_hub.text.language import Language
from functions.hub import texts
from functions.hub.commands import texts as command_texts
from functions.hub.failure import Failure, FailureKind
from tests.fakes.hub import route

ROUTE = route("alpha", "http://127.0.0.1:9", name="Expense desk", name_ja="経費精算")
_JAPANESE = r"[\u3040-\u30ff\u4e00-\u9fff\u300d\u300f\uff09]"
_HALF_WIDTH = re.compile(rf"{_JAPANESE}[,.?!(:;]|[,.?!):;]{_JAPANESE}")


TEMPLATES = [
    table[Language.JA]
    for catalog in (texts.HUB_TEXTS, command_texts.COMMAND_TEXTS)
    for table in tables_of(catalog.file).values()
]


def test_all_texts_are_found() -> None:
    assert len(TEMPLATES) > len(FailureKind) + 30


@pytest.mark.parametrize("template", TEMPLATES)
def test_japanese_punctuation_is_full_width(template: str) -> None:
    assert not _HALF_WIDTH.search(template)


def test_a_japanese_citation_has_full_width_punctuation() -> None:
    citation = {
        "uri": "gs://bucket/規程.pdf",
        "link": "https://console.example/規程.pdf",
        "title": "旅費規程",
        "quote": "上限は1万円です。",
        "position": {"section": ["第3条"], "line": 12, "page": 2},
    }
    written = citations.numbered_lines([citation], Language.JA)
    assert (
        written == "\n\n出典：\n[1] 旅費規程、第3条（https://console.example/規程.pdf、2ページ）：「上限は1万円です。」"
    )


@pytest.mark.parametrize("kind", FailureKind)
def test_a_japanese_failure_names_the_agent_in_japanese(kind: FailureKind) -> None:
    opened_by = FailureKind.DOWN if kind is FailureKind.RESTING else None
    failure = Failure(kind=kind, fault="fault", cause="c", seconds_to_wait=3.0, opened_by=opened_by, fields=("x",))
    read = texts.failure_text(failure, ROUTE, language=Language.JA, reference="r")
    assert "Expense desk" not in read
    assert ("「経費精算」" in read) == (kind is not FailureKind.UNROUTED)


@pytest.mark.parametrize(("asked", "language"), [("Plan it", Language.EN), ("計画して", Language.JA)])
def test_what_no_worker_has_taken_is_not_said_to_go_on(asked: str, language: Language) -> None:
    message = Message(message_id="m", role=Role.USER, parts=(Part(text=asked),))
    task = Task(id="t", status=TaskStatus(state=TaskState.SUBMITTED))
    fields: dict[str, Any] = {"task": task, "owner": "o", "number": 3, "version": 1, "payload": b"", "lease_until": 0.0}
    fields |= {"cancel_requested": False, "created_at": 0.0, "updated_at": 0.0, "role": "developer"}
    waits = texts.TASK_TEXTS.of_running(message, StoredTask(attempt=0, **fields))
    assert ("waiting for one" if language is Language.EN else "ワーカー待ち") in waits
    assert ("/task 3" if language is Language.EN else "/タスク 3") in waits
    works = texts.TASK_TEXTS.of_running(message, StoredTask(attempt=1, **fields))
    assert ("the work continues" if language is Language.EN else "処理は続いています") in works
    assert works != waits


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("opened_by", [None, FailureKind.DOWN])
def test_a_turn_that_is_tried_later_says_what_happened(language: Language, opened_by: FailureKind | None) -> None:
    kind = FailureKind.RESTING if opened_by else FailureKind.DOWN
    failure = Failure(kind=kind, fault="fault", cause="secret", seconds_to_wait=3.0, opened_by=opened_by)
    read = texts.reason_text(failure, ROUTE, language)
    assert read.endswith(
        {
            Language.EN: "The agent “Expense desk” cannot be reached at the moment.",
            Language.JA: "エージェント「経費精算」に現在接続できません。",
        }[language]
    )
    assert (("was not sent" if language is Language.EN else "送信していません") in read) == bool(opened_by)


def test_every_other_japanese_text_names_the_agent_in_japanese() -> None:
    request = ExecuteSlashCommandRequest(command_path=("memory",))
    for read in (
        texts.agent_text(texts.HUB_TEXTS.no_answer, ROUTE, Language.JA),
        texts.agent_text(texts.HUB_TEXTS.question, ROUTE, Language.JA),
        texts.agent_text(command_texts.COMMAND_TEXTS.refused, ROUTE, Language.JA, command=command_texts.typed(request)),
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


@pytest.mark.parametrize("kind", FailureKind)
def test_a_program_hears_what_a_person_reads_of_trying_again(kind: FailureKind) -> None:
    # Agents that are away or busy, and limits, say so themselves (`transient`).
    away = kind in (FailureKind.DOWN, FailureKind.BUSY, FailureKind.RESTING, FailureKind.LIMITED)
    seconds = 30.0 if kind is FailureKind.RESTING else None
    failure = Failure(kind=kind, fault="f", cause="c", transient=away, seconds_to_wait=seconds)
    read = texts.failure_text(failure, ROUTE, language=Language.EN, reference="r")
    assert failure.retryable == any(advice in read for advice in ("Please try again in", "Please ask again"))
