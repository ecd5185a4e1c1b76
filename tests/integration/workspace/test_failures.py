"""What the Workspace worker makes of failures: of the model, of Google, and of people who have gone."""

import threading
from typing import Any

import pytest

from tests.fakes.function_calling_model import ModelRequest, Part, call
from tests.fakes.workspace_worker import Task, WorkspaceProgram, mails_the_figures

WRITES = ("--may-write", "mail")
_BUSY = (503, {"error": {"code": 503}})


def test_a_mail_that_was_sent_is_not_lost_with_the_model(program: WorkspaceProgram, task: Task) -> None:
    program.model.says = mails_the_figures
    task.say("Mail the figures to Aki", *WRITES)
    program.model.broken = 400
    answer = task.say("yes", *WRITES)["answer"]
    assert "The rest of your request has not been done" in answer
    assert answer.endswith("✓ Sent to aki@example.com: “Figures”")
    assert len(program.workspace.mail.sent) == 1


@pytest.mark.parametrize(
    ("status", "finish", "told", "logged"),
    [
        (503, "STOP", "cannot be reached", "status 503"),
        (403, "STOP", "not set up", "roles/aiplatform.user"),
        (404, "STOP", "not set up", "GOOGLE_CLOUD_LOCATION"),
        (400, "STOP", "gave no answer", "status 400"),
        (0, "SAFETY", "gave no answer", "SAFETY"),
        (0, "STOP", "gave no answer", "returned no text"),
    ],
)
def test_a_model_that_does_not_answer_is_told_in_a_sentence(
    program: WorkspaceProgram, task: Task, status: int, finish: str, told: str, logged: str
) -> None:
    def silent(_: ModelRequest) -> list[Part]:
        return []

    program.model.says, program.model.broken, program.model.finish = silent, status, finish
    assert told in task.say("What is new?")["failed"]
    assert logged in program.logged()
    assert "Traceback" not in program.logged()


def test_a_failure_is_told_in_the_language_of_the_task(program: WorkspaceProgram, task: Task) -> None:
    program.model.broken = 400
    assert task.say("新着メールは？")["failed"] == "言語モデルが回答しませんでした。別の言葉でお試しください。"


def test_a_model_that_goes_round_in_circles_is_stopped(program: WorkspaceProgram, task: Task) -> None:
    def circles(_: ModelRequest) -> Part:
        return call("search_mail", query="x")

    program.model.says = circles
    assert "too many steps" in task.say("Find it", "--turns", "3")["failed"]
    assert len(program.model.heard) == 3


def test_a_turn_has_an_end(program: WorkspaceProgram, task: Task) -> None:
    left = threading.Event()

    def waits(_: ModelRequest) -> str:
        left.wait(30)
        return "Late."

    program.model.says = waits
    try:
        assert "took too long" in task.say("Find it", "--seconds", "0.5")["failed"]
    finally:
        left.set()


def test_a_tool_that_there_is_not_ends_nothing(program: WorkspaceProgram, task: Task) -> None:
    def dreams(heard: ModelRequest) -> Part | str:
        return "I cannot do that." if heard.results else call("delete_everything", really=True)

    program.model.says = dreams
    assert task.say("Tidy up")["answer"] == "I cannot do that."


def test_a_cancelled_task_asks_neither_google_nor_the_model(program: WorkspaceProgram, task: Task) -> None:
    program.model.says = mails_the_figures
    task.say("Mail the figures to Aki", *WRITES)
    heard = len(program.model.heard)
    task.say("yes", *WRITES, cancelled=True)
    assert program.workspace.mail.sent == []
    assert len(program.model.heard) == heard


def test_a_text_that_is_too_long_is_refused(program: WorkspaceProgram, task: Task) -> None:
    assert "30000" in task.say("x" * 30_001)["failed"]
    assert program.model.heard == []


def test_a_scope_that_is_missing_is_named_in_the_log_and_not_to_the_person(
    program: WorkspaceProgram, task: Task
) -> None:
    def relays(heard: ModelRequest) -> Part | str:
        return str(heard.results["search_mail"]["error"]) if heard.results else call("search_mail", query="x")

    program.model.says = relays
    program.workspace.scopes = {"drive.readonly"}
    outcome: dict[str, Any] = task.say("Any mail?", "--role", "other")
    assert outcome["answer"].startswith("This worker has no access to that part of Google Workspace yet")
    assert "gmail.readonly" in program.logged()


@pytest.mark.parametrize(
    ("text", "told"), [("Mail the figures", "It may or may not"), ("数字をメールして", "確認できません")]
)
def test_what_may_have_been_sent_is_said_to_be_uncertain(
    program: WorkspaceProgram, task: Task, text: str, told: str
) -> None:
    program.model.says = mails_the_figures
    task.say(text, *WRITES)
    program.workspace.trouble = [("/drafts/send", _BUSY)] * 3
    assert told in task.say("はい", *WRITES)["failed"]
    assert program.workspace.mail.sent == []


def test_a_draft_that_was_thrown_away_is_said_not_to_be_sent(program: WorkspaceProgram, task: Task) -> None:
    program.model.says = mails_the_figures
    task.say("Mail the figures", *WRITES)
    program.workspace.trouble = [("/drafts/send", _BUSY)] * 3
    task.say("yes", *WRITES)
    program.workspace.mail.remove("r-1")
    assert "its draft is no longer in Gmail" in task.again(*WRITES)["failed"]
