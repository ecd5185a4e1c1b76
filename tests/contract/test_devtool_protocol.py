"""The development agent keeps to the `development-tool` extension: the specification's sample, step by step, and around it."""

from pathlib import Path
from typing import Any

import pytest

from a2a_hub.a2a import protojson
from a2a_hub.a2a.extensions import development_tool
from a2a_hub.a2a.extensions.development_tool import URI
from tests.fakes.devtool import WAYS, Client, Devtool, Refused, calls, kinds, waiting, workspace_in


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return workspace_in(tmp_path)


@pytest.fixture
def devtool(tmp_path: Path, root: Path) -> Devtool:
    return Devtool(tmp_path)


@pytest.fixture(params=WAYS)
def client(request: pytest.FixtureRequest, devtool: Devtool, root: Path) -> Client:
    return devtool.client(request.param, workspace=root)


@pytest.fixture
def ide(devtool: Devtool, root: Path) -> Client:
    return devtool.client(workspace=root)


WRITE = "Create new.txt with the content 'one'"


def test_the_sample_interaction_goes_as_the_specification_tells_it(client: Client, root: Path) -> None:
    asked = client.stream(WRITE)
    assert asked[0].is_task
    assert asked[0].state == "submitted"
    assert kinds(asked) == [
        "STATE_CHANGE working",
        "TOOL_CALL_UPDATE PENDING",
        "STATE_CHANGE input-required",
    ]
    (pending,) = calls(asked)
    assert pending["tool_name"] == "write_file"
    assert [option["id"] for option in pending["confirmation_request"]["options"]] == [
        "proceed_once",
        "proceed_always",
        "cancel",
    ]
    diff = pending["confirmation_request"]["file_edit_details"]
    assert diff["file_path"] == str(root / "new.txt")
    assert diff["new_content"] == "one"
    assert "old_content" not in diff
    assert "+one" in diff["formatted_diff"]
    assert not (root / "new.txt").exists()

    done = client.decide(asked[0].task_id, pending["tool_call_id"], "proceed_once")
    assert kinds(done) == [
        "TOOL_CALL_UPDATE EXECUTING",
        "TOOL_CALL_UPDATE SUCCEEDED",
        "TEXT_CONTENT working",
        "STATE_CHANGE completed",
    ]
    assert {event.task_id for event in done} == {asked[0].task_id}
    assert {call["tool_call_id"] for call in calls(done)} == {pending["tool_call_id"]}
    assert "confirmation_request" not in calls(done)[0]
    assert calls(done)[-1]["output"]["diff"]["new_content"] == "one"
    assert (root / "new.txt").read_text() == "one"


def test_over_0_3_the_last_update_of_each_exchange_is_final_and_no_other(ide: Client) -> None:
    asked = ide.stream(WRITE)
    task_id, call = waiting(asked)
    done = ide.decide(task_id, call["tool_call_id"], "proceed_once")
    assert [event.is_final for event in (*asked[1:], *done[1:])] == [False, False, True, *[False] * 3, True]


def test_every_update_has_the_extensions_event_and_its_message_names_the_extension(ide: Client) -> None:
    events = ide.stream("read notes.txt")
    for event in events[1:]:
        assert event.event is not None
        protojson.read(development_tool.DevelopmentToolEvent, event.event)
    said = ide.get(events[0].task_id).history
    assert all(message["extensions"] == [URI] for message in said if message["role"] == "agent")


def test_a_message_that_is_waited_for_is_answered_with_the_task_that_waits(client: Client, root: Path) -> None:
    task = client.send(WRITE)
    task_id, call = waiting([task])
    protojson.read(development_tool.ToolCall, call)
    done = client.send(
        data={"tool_call_id": call["tool_call_id"], "selected_option_id": "proceed_once"},
        task_id=task_id,
        settings=None,
    )
    assert done.state == "completed"
    assert (root / "new.txt").read_text() == "one"


def test_a_command_shows_what_will_run_and_then_its_output_as_it_comes(ide: Client, root: Path) -> None:
    task_id, call = waiting(ide.stream("run sh -c 'echo one; sleep 0.4; echo two'"))
    details = call["confirmation_request"]["execute_details"]
    assert details == {"command": "sh -c 'echo one; sleep 0.4; echo two'", "working_directory": str(root)}
    done = ide.decide(task_id, call["tool_call_id"], "proceed_once")
    lives = [each.get("live_content") for each in calls(done)]
    assert "one\n" in lives
    assert calls(done)[-1]["output"] == {"text": "one\ntwo\n"}
    assert "one\ntwo" in done[-2].text


def test_a_command_that_fails_tells_its_status_and_what_it_wrote(ide: Client) -> None:
    task_id, call = waiting(ide.stream("run sh -c 'echo no; exit 3'"))
    done = ide.decide(task_id, call["tool_call_id"], "proceed_once")
    failed = calls(done)[-1]
    assert failed["status"] == "FAILED"
    assert failed["error"]["status_code"] == 3
    assert failed["error"]["type"] == "command_failed"
    assert "no" in failed["error"]["message"]
    assert "output" not in failed
    assert done[-1].state == "completed"


def test_a_tool_call_that_is_cancelled_is_not_executed(client: Client, root: Path) -> None:
    task_id, call = waiting(client.stream(WRITE))
    done = client.decide(task_id, call["tool_call_id"], "cancel")
    assert kinds(done) == ["TOOL_CALL_UPDATE CANCELLED", "TEXT_CONTENT working", "STATE_CHANGE completed"]
    assert not (root / "new.txt").exists()


def test_what_the_person_changed_about_a_file_is_what_is_written(ide: Client, root: Path) -> None:
    task_id, call = waiting(ide.stream("replace 'foo' with 'bar' in notes.txt"))
    more = {"file_details": {"new_content": "mine\n"}}
    done = ide.decide(task_id, call["tool_call_id"], "proceed_once", more=more)
    assert (root / "notes.txt").read_text() == "mine\n"
    diff = calls(done)[-1]["output"]["diff"]
    assert diff["new_content"] == "mine\n"
    assert "+mine" in diff["formatted_diff"]


def test_a_file_that_changed_since_it_was_shown_is_asked_about_again(ide: Client, root: Path) -> None:
    task_id, call = waiting(ide.stream("replace 'foo' with 'baz' in notes.txt"))
    (root / "notes.txt").write_text("foo, and something new\n")
    again = ide.decide(task_id, call["tool_call_id"], "proceed_once")
    assert calls(again)[1]["error"]["type"] == "file_changed"
    assert (root / "notes.txt").read_text() == "foo, and something new\n"
    task_id, second = waiting(again)
    assert second["tool_call_id"] != call["tool_call_id"]
    ide.decide(task_id, second["tool_call_id"], "proceed_once")
    assert (root / "notes.txt").read_text() == "baz, and something new\n"


def test_always_covers_further_changes_in_the_conversation_but_no_other_command(ide: Client, root: Path) -> None:
    task_id, call = waiting(ide.stream(WRITE))
    context_id = ide.decide(task_id, call["tool_call_id"], "proceed_always")[-1].context_id
    next_one = ide.stream("write 'two' to new.txt", context_id=context_id, settings=None)
    assert next_one[-1].state == "completed"
    assert (root / "new.txt").read_text() == "two"
    waiting(ide.stream("run echo hi", context_id=context_id, settings=None))
    waiting(ide.stream("write 'three' to new.txt"))


def test_always_covers_a_command_as_it_was_and_no_other(ide: Client) -> None:
    task_id, call = waiting(ide.stream("run echo one"))
    context_id = ide.decide(task_id, call["tool_call_id"], "proceed_always")[-1].context_id
    assert ide.stream("run echo one", context_id=context_id)[-1].state == "completed"
    waiting(ide.stream("run echo two", context_id=context_id))


@pytest.mark.parametrize(
    ("decision", "field"),
    [
        ({"tool_call_id": "unknown"}, "tool_call_id"),
        ({"tool_call_id": ""}, "tool_call_id"),
        ({"selected_option_id": "proceed"}, "selected_option_id"),
        ({"selected_option_id": ""}, "selected_option_id"),
    ],
)
def test_a_decision_that_fits_nothing_is_refused_and_the_task_waits_on(
    client: Client, root: Path, decision: dict[str, Any], field: str
) -> None:
    task_id, call = waiting(client.stream(WRITE))
    data = {"tool_call_id": call["tool_call_id"], "selected_option_id": "proceed_once"} | decision
    with pytest.raises(Refused) as refused:
        client.stream(data=data, task_id=task_id, settings=None)
    assert field in refused.value.message
    assert client.get(task_id).state == "input-required"
    assert not (root / "new.txt").exists()


def test_new_content_for_a_command_is_refused(ide: Client) -> None:
    task_id, call = waiting(ide.stream("run echo hi"))
    with pytest.raises(Refused, match="file_details"):
        ide.decide(task_id, call["tool_call_id"], "proceed_once", more={"file_details": {"new_content": "x"}})


def test_a_decision_that_comes_twice_is_executed_once(client: Client, root: Path) -> None:
    task_id, call = waiting(client.stream("run sh -c 'echo ran >> ran.txt'"))
    client.decide(task_id, call["tool_call_id"], "proceed_once")
    with pytest.raises(Refused, match="decided on before"):
        client.decide(task_id, call["tool_call_id"], "proceed_once")
    assert (root / "ran.txt").read_text() == "ran\n"


def test_a_decision_without_a_task_is_refused(ide: Client) -> None:
    with pytest.raises(Refused, match="taskId"):
        ide.stream(data={"tool_call_id": "1", "selected_option_id": "proceed_once"})


def test_a_message_that_decides_nothing_leaves_the_task_waiting(client: Client, root: Path) -> None:
    task_id, call = waiting(client.stream(WRITE))
    still = client.stream("yes, whatever", task_id=task_id, settings=None)
    assert kinds(still) == [
        "TEXT_CONTENT working",
        "TOOL_CALL_UPDATE PENDING",
        "STATE_CHANGE input-required",
    ]
    assert waiting(still) == (task_id, call)
    assert not (root / "new.txt").exists()


def test_answers_are_spelt_as_the_caller_spells(ide: Client, root: Path) -> None:
    asked = ide.stream(WRITE, settings={"workspacePath": str(root)})
    assert "toolCallId" in calls(asked)[0]
    assert "fileEditDetails" in calls(asked)[0]["confirmationRequest"]


def test_a_text_that_is_too_long_is_answered_with_the_limit(client: Client) -> None:
    events = client.stream("Create new.txt with the content '" + "x" * 300_000 + "'")
    assert events[-1].state == "completed"
    assert any("at most 300,000" in event.text for event in events)
