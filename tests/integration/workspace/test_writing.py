"""What the person said yes to is done once, whatever gets lost on the way, and whoever comes back to it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.fakes.workspace import OWNER, Workspace
from tests.unit.test_workspace_consent import ADDITION, EVENT, MAIL
from workers.workspace.actions import Action, Addition, Event
from workers.workspace.execution import ActionExecutor, DraftMissing
from workers.workspace.failures import Cause, GoogleFailed
from workers.workspace.google import Google, credentials_of
from workers.workspace.texts import Language

KEY = "0123456789abcdef" * 4
_BUSY = (503, {"error": {"code": 503}})
languages = pytest.mark.parametrize("language", Language)


class WorkerDied(Exception):
    """The worker has ended without a word."""


class WritingWorker:
    """A worker that writes; `told` is what it told the task, one line after the other."""

    def __init__(self, workspace: Workspace, language: Language = Language.EN) -> None:
        self._google = Google(
            credentials_of(user=OWNER, account=""),
            endpoint=workspace.server.url,
            seconds=5,
            first_wait_seconds=0.01,
        )
        self._language = language
        self.told: list[str] = []

    def carry_out(self, action: Action, *, dies_after: int = 99) -> str:
        """Goes on from what was told, of which the last line is lost with the worker that told it."""

        def report(line: str) -> None:
            self.told.append(line)
            if len(self.told) == dies_after:
                raise WorkerDied

        writer = ActionExecutor(self._google, report, self._language, first_wait_seconds=0.01)
        return writer.carry_out(action, key=KEY, steps=self.told[:-1])


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    """With the document that is added to."""
    workspace = Workspace()
    workspace.add_file("1aB-_c", "Minutes", "One")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(workspace.key_file(tmp_path)))
    with workspace.server:
        yield workspace


@languages
def test_a_mail_is_sent_once_by_a_worker_that_is_asked_again(workspace: Workspace, language: Language) -> None:
    hand = WritingWorker(workspace, language)
    for _ in range(3):
        assert "Figures" in hand.carry_out(MAIL)
    (mail,) = workspace.mail.sent
    assert (mail["To"], mail["Cc"], mail["Subject"]) == ("aki@example.com", "ken@example.co.jp", "Figures")
    assert mail.get_content().splitlines() == ["Revenue: 12", "", "Cost: 7"]
    assert workspace.mail.drafts == {}


@languages
@pytest.mark.parametrize("dies_after", [1, 2])
def test_a_worker_that_dies_before_it_sends_has_sent_nothing(
    workspace: Workspace, language: Language, dies_after: int
) -> None:
    hand = WritingWorker(workspace, language)
    with pytest.raises(WorkerDied):
        hand.carry_out(MAIL, dies_after=dies_after)
    assert workspace.mail.sent == []
    hand.carry_out(MAIL)
    assert len(workspace.mail.sent) == 1


@pytest.mark.parametrize("trouble", [_BUSY, None], ids=["not done", "done, and the answer lost"])
def test_a_mail_whose_sending_fails_on_the_way_is_sent_once(workspace: Workspace, trouble: Any) -> None:
    workspace.trouble = [("/drafts/send", trouble), ("/drafts/send", _BUSY)]
    WritingWorker(workspace).carry_out(MAIL)
    assert len(workspace.mail.sent) == 1


def test_a_draft_that_was_changed_in_gmail_is_sent_as_the_person_read_it_here(workspace: Workspace) -> None:
    hand = WritingWorker(workspace)
    with pytest.raises(WorkerDied):
        hand.carry_out(MAIL, dies_after=2)
    (draft,) = workspace.mail.drafts.values()
    draft.replace_header("Subject", "Changed")
    hand.carry_out(MAIL)
    assert workspace.mail.sent[0]["Subject"] == "Figures"


def test_a_draft_that_was_thrown_away_is_not_sent(workspace: Workspace) -> None:
    hand = WritingWorker(workspace)
    with pytest.raises(WorkerDied):
        hand.carry_out(MAIL, dies_after=2)
    workspace.mail.remove("r-1")
    with pytest.raises(DraftMissing):
        hand.carry_out(MAIL)
    assert workspace.mail.sent == []


def _is_added(workspace: Workspace) -> None:
    assert workspace.texts["1aB-_c"] == "One\nDecided: yes"


def _is_invited(workspace: Workspace) -> None:
    assert workspace.invited == [("aki@example.com", "Review"), ("ken@example.com", "Review")]


@pytest.mark.parametrize(("action", "is_done_once"), [(EVENT, _is_invited), (ADDITION, _is_added)])
@pytest.mark.parametrize("trouble", [_BUSY, None, ()], ids=["not done", "done, and the answer lost", "nothing"])
def test_an_event_or_an_addition_is_made_once(
    workspace: Workspace, action: Event | Addition, is_done_once: Callable[[Workspace], None], trouble: Any
) -> None:
    if trouble != ():
        # The first request for a document only reads.
        fragment = "Update" if isinstance(action, Addition) else "/events"
        workspace.trouble = [(fragment, trouble)]
    hand = WritingWorker(workspace)
    for _ in range(2):
        hand.carry_out(action)
    is_done_once(workspace)


def test_a_document_that_changes_meanwhile_is_read_again(workspace: Workspace) -> None:
    conflict = (400, {"error": {"code": 400, "message": "The required revision ID does not match"}})
    workspace.trouble = [("Update", conflict)]
    WritingWorker(workspace).carry_out(ADDITION)
    _is_added(workspace)


def test_a_document_that_always_changes_is_left_alone(workspace: Workspace) -> None:
    conflict = (400, {"error": {"code": 400}})
    workspace.trouble = [("Update", conflict), ("Update", conflict)]
    with pytest.raises(GoogleFailed) as failed:
        WritingWorker(workspace).carry_out(ADDITION)
    assert failed.value.cause is Cause.INVALID
    assert workspace.texts["1aB-_c"] == "One"


def test_what_was_told_to_be_done_is_not_looked_at_again(workspace: Workspace) -> None:
    hand = WritingWorker(workspace)
    done = hand.carry_out(ADDITION)
    workspace.texts["1aB-_c"] += "\nand somebody else's line"
    hand.told = [f"✓ {done}", "asked something else"]
    hand.carry_out(ADDITION)
    assert workspace.texts["1aB-_c"].count("Decided") == 1


def test_the_time_of_an_event_goes_with_its_offset(workspace: Workspace) -> None:
    WritingWorker(workspace).carry_out(EVENT)
    (event,) = workspace.events.values()
    assert event["start"] == {"dateTime": "2026-11-24T10:00:00+09:00"}
    assert EVENT.start.tzinfo == ZoneInfo("Asia/Tokyo")
