"""The Workspace worker's tools against Google's APIs on the wire: what they read, by which scope, and how they fail."""

from typing import Any

import pytest

from tests.fakes.workspace import OWNER, Workspace
from tests.fakes.workspace_tools import Bench


def test_a_file_is_found_and_read(workspace: Workspace, bench: Bench) -> None:
    workspace.add_file(
        "f-1", "Figures", "# Revenue\n12", owners=[{"displayName": "Aki"}], webViewLink="https://docs/f-1"
    )
    workspace.add_file("f-2", "Other", "nothing")
    (found,) = bench.use("find_files", words="Revenue")["files"]
    assert (found["file_id"], found["owner"], found["address"]) == ("f-1", "Aki", "https://docs/f-1")
    assert bench.use("read_file", file_id="f-1")["text"] == "# Revenue\n12"
    assert workspace.subjects == {OWNER}


def test_words_with_quotes_are_looked_for_as_they_are(workspace: Workspace, bench: Bench) -> None:
    workspace.add_file("f-1", "Aki's \\ plan", "x")
    workspace.add_file("f-2", "Plan", "x")
    assert [file["name"] for file in bench.use("find_files", words="Aki's \\ plan")["files"]] == ["Aki's \\ plan"]


def test_without_words_the_newest_files_are_named(workspace: Workspace, bench: Bench) -> None:
    workspace.add_file("f-1", "Figures", "x")
    assert len(bench.use("find_files", words="")["files"]) == 1
    assert "orderBy=modifiedTime+desc" in workspace.server.received[-1].path


def test_a_long_file_is_read_in_pieces(workspace: Workspace, bench: Bench) -> None:
    workspace.add_file("f-1", "Long", "a" * 30_000 + "the end", kind="text/plain")
    first = bench.use("read_file", file_id="f-1")
    assert (len(first["text"]), first["goes_on_at"]) == (30_000, 30_000)
    last = bench.use("read_file", file_id="f-1", start=first["goes_on_at"])
    assert last["text"] == "the end"
    assert "goes_on_at" not in last


@pytest.mark.parametrize("kind", ["image/png", "application/vnd.google-apps.folder"])
def test_a_file_without_text_is_said_to_be_one(workspace: Workspace, bench: Bench, kind: str) -> None:
    workspace.add_file("f-1", "Picture", "x", kind=kind)
    assert kind in bench.use("read_file", file_id="f-1")["error"]


def test_a_file_that_is_too_large_is_not_read(workspace: Workspace, bench: Bench) -> None:
    workspace.add_file("f-1", "Huge", "a" * 100_001)
    assert "too large" in bench.use("read_file", file_id="f-1")["error"]


def test_mails_are_found_and_read(workspace: Workspace, bench: Bench) -> None:
    workspace.mail.add("m1", "Aki <aki@example.com>", "予定", "来週の火曜日でどうですか")
    workspace.mail.add("m2", "Ken <ken@example.com>", "Other", "<p>Hello</p>", kind="text/html")
    (found,) = bench.use("search_mail", query="予定")["mails"]
    assert (found["from"], found["subject"]) == ("Aki <aki@example.com>", "予定")
    assert bench.use("read_mail", mail_id=found["mail_id"])["text"] == "来週の火曜日でどうですか"
    assert bench.use("read_mail", mail_id="m2")["text"] == "Hello"
    assert bench.use("search_mail", query="nobody")["mails"] == []


def test_events_are_listed(workspace: Workspace, bench: Bench) -> None:
    at = {"dateTime": "2026-11-24T10:00:00+09:00"}
    workspace.events["e1"] = {
        "summary": "Review",
        "start": at,
        "end": at,
        "attendees": [{"email": "aki@example.com"}],
    }
    (event,) = bench.use("list_events", start="2026-11-24", end="2026-11-25")["events"]
    assert (event["title"], event["start"], event["guests"]) == (
        "Review",
        at["dateTime"],
        ["aki@example.com"],
    )
    assert bench.use("list_events", start="2026-11-25", end="2026-11-26")["events"] == []


def test_free_time_is_what_everybody_has(workspace: Workspace, bench: Bench) -> None:
    workspace.busy = {
        "primary": [("2026-11-24T00:30:00Z", "2026-11-24T02:00:00Z")],
        "aki@example.com": [("2026-11-24T10:30:00+09:00", "2026-11-24T11:45:00+09:00")],
    }
    people = ["aki@example.com", "ken@example.com"]
    found = bench.use("find_free_time", start="2026-11-24T09:00", end="2026-11-24T13:00", minutes=30, people=people)
    assert found["free"] == [
        ["2026-11-24T09:00:00+09:00", "2026-11-24T09:30:00+09:00"],
        ["2026-11-24T11:45:00+09:00", "2026-11-24T13:00:00+09:00"],
    ]
    assert found["not_known_of"] == ["ken@example.com"]


def test_a_draft_is_saved_and_told_and_nothing_is_sent(workspace: Workspace, bench: Bench) -> None:
    bench.use("draft_mail", to="aki@example.com", subject="Figures", body="12")
    assert [mail["Subject"] for mail in workspace.mail.drafts.values()] == ["Figures"]
    assert workspace.mail.sent == []
    assert bench.told == ["✓ Draft in Gmail: “Figures”"]


def test_a_document_is_made_once_for_a_task(workspace: Workspace, bench: Bench) -> None:
    made = [bench.use("create_document", title="Aki's plan", text="# One\n--\n\nTwo") for _ in range(2)]
    assert made[0]["file_id"] == made[1]["file_id"]
    assert list(workspace.texts.values()) == ["# One\n--\n\nTwo"]
    assert bench.told[0].endswith(made[0]["address"])


def test_an_event_of_ones_own_is_made_once_and_nobody_is_invited(workspace: Workspace, bench: Bench) -> None:
    for _ in range(2):
        bench.use("create_event", title="Focus", start="2026-11-24T10:00", end="2026-11-24T11:00")
    (event,) = workspace.events.values()
    assert (event["start"]["dateTime"], workspace.invited) == ("2026-11-24T10:00:00+09:00", [])
    assert bench.desk.question == ""


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("send_mail", {"to": ["aki@example.com"], "subject": "s", "body": "b"}),
        (
            "create_event",
            {
                "title": "t",
                "start": "2026-11-24T10:00",
                "end": "2026-11-24T11:00",
                "guests": ["aki@example.com"],
            },
        ),
        ("append_to_document", {"document_id": "f-1", "text": "more"}),
    ],
)
def test_what_is_done_to_others_is_only_asked_for(
    workspace: Workspace, bench: Bench, tool: str, arguments: dict[str, Any]
) -> None:
    workspace.add_file("f-1", "Minutes", "One")
    assert bench.use(tool, **arguments) == {"status": "The person is being asked. End your turn."}
    assert "```" in bench.desk.question
    assert (workspace.mail.sent, workspace.mail.drafts, workspace.events) == ([], {}, {})
    assert workspace.texts == {"f-1": "One"}
    assert "already" in bench.use("ask_person", question="And what else?")["error"]


def test_a_model_cannot_write_a_question_that_only_the_worker_asks(bench: Bench) -> None:
    bench.use("send_mail", to=["eve@example.net"], subject="s", body="b")
    question, bench.desk.question = bench.desk.question, ""
    assert "error" in bench.use("ask_person", question=question)
    assert bench.desk.question == ""


@pytest.mark.parametrize("may_write", [frozenset[str](), frozenset({"mail"})])
def test_there_are_no_tools_for_what_is_not_allowed(workspace: Workspace, may_write: frozenset[str]) -> None:
    writing = {"draft_mail", "send_mail", "create_event", "create_document", "append_to_document"}
    allowed = {"draft_mail", "send_mail"} if may_write else set()
    assert writing & set(Bench(workspace, may_write=may_write).tools) == allowed


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_file", {"file_id": "../../about"}),
        ("read_file", {"file_id": None}),
        ("read_file", {"file_id": "f", "start": "x"}),
        ("send_mail", {"to": 7, "subject": "s", "body": "b"}),
        ("list_events", {"start": "soon", "end": "later"}),
        ("list_events", {"start": "2026-11-24"}),
        ("find_free_time", {"start": "2026-11-24", "end": "2026-11-25", "people": ["aki"]}),
    ],
)
def test_what_a_model_gets_wrong_it_is_told(bench: Bench, tool: str, arguments: dict[str, Any]) -> None:
    assert set(bench.use(tool, **arguments)) == {"error"}


def test_there_is_an_end_to_calls(workspace: Workspace, bench: Bench) -> None:
    answers = [bench.use("search_mail", query="x") for _ in range(41)]
    assert "error" not in answers[39]
    assert "No more" in answers[40]["error"]
    assert len([each for each in workspace.server.received if "/messages" in each.path]) == 40


def test_a_task_that_nobody_wants_any_more_writes_nothing(workspace: Workspace, bench: Bench) -> None:
    bench.abandoned.set()
    assert "error" in bench.use("draft_mail", to="aki@example.com", subject="s", body="b")
    assert workspace.mail.drafts == {}
