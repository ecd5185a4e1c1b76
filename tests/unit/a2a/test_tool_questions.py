"""Tool calls that wait for a decision become questions that a person can read, and decisions become what the agent reads."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from a2a_hub.a2a.extensions.development_tool import URI
from a2a_hub.a2a.extensions.gemini_cli import with_working_state
from a2a_hub.a2a.extensions.tool_calls import Kind, is_tool_call, kind_of, thought_in, tool_calls_in
from a2a_hub.a2a.extensions.tool_confirmation import confirmation, progress_text, question_text
from a2a_hub.a2a.extensions.tool_updates import PendingTools, Stage, ToolQuestion, ToolUpdate
from a2a_hub.a2a.model import Message, Part, Role, TaskState, TaskStatus, TaskStatusUpdateEvent
from a2a_hub.text.language import Language

_HEARD = Path(__file__).parents[2] / "wire" / "recorded" / "gemini-cli-a2a-server-0.25.2"
_OPTIONS = [{"id": "proceed_once", "name": "Allow Once"}, {"id": "cancel", "name": "Reject"}]


def message(*data: Any) -> Message:
    return Message(message_id="m", role=Role.AGENT, parts=tuple(Part(data=each) for each in data))


def call(**fields: Any) -> dict[str, Any]:
    return {"tool_call_id": "call-1", "status": "PENDING", "tool_name": "ShellTool"} | fields


def waiting(given: dict[str, Any] | None = None, **details: Any) -> ToolQuestion:
    asks = {"options": _OPTIONS} | details
    given = given or {"n": [1, "二"]}
    (update,) = tool_calls_in(message(call(confirmation_request=asks, input_parameters=given)))
    assert update.stage is Stage.ASKING
    assert update.question is not None
    return update.question


def heard(name: str) -> list[ToolUpdate]:
    """The tool calls that Gemini CLI told of, in their order."""
    turns = json.loads((_HEARD / f"{name}.json").read_text())
    messages = [event["status"].get("message", {"parts": []}) for turn in turns for event in turn if "status" in event]
    data = [part["data"] for each in messages for part in each["parts"] if part["kind"] == "data"]
    return list(tool_calls_in(message(*data)))


def asks(question: ToolQuestion, language: Language = Language.EN) -> str:
    return question_text([question], "CLI", language)


def test_a_command_is_asked_about_with_its_folder_in_the_persons_language() -> None:
    question = waiting(execute_details={"command": "rm -r build\nmake", "working_directory": "/w"})
    assert asks(question) == (
        "The agent “CLI” wants to run this command:\n(in the folder /w)\n\n    rm -r build\n    make\n\n"
        "1. Allow Once\n2. Reject\n\n"
        "Please reply with the number of your choice. “Yes” stands for 1. “No” stands for 2."
    )
    assert asks(question, Language.JA) == (
        "エージェント「CLI」が次のコマンドの実行を求めています：\n（フォルダー：/w）\n\n    rm -r build\n    make\n\n"
        "1. 今回だけ許可 (Allow Once)\n2. 拒否 (Reject)\n\n"
        "番号でお答えください。「はい」は 1 として扱います。「いいえ」は 2 として扱います。"
    )


def test_a_choice_with_a_japanese_name_is_called_so_and_the_workspace_itself_needs_no_name() -> None:
    options = [{"id": "proceed_once", "name": "今回のみ許可"}, {"id": "cancel", "name": "取りやめ"}]
    details = {"command": "ls", "working_directory": "."}
    text = asks(waiting(options=options, execute_details=details), Language.JA)
    assert "求めています：\n\n    ls\n\n1. 今回のみ許可\n2. 取りやめ\n\n" in text


@pytest.mark.parametrize(
    ("details", "shown"),
    [
        (
            {"file_name": "a.txt", "file_path": "/w/a.txt", "old_content": "a\nb\n", "new_content": "a\nc\n"},
            ["change the file /w/a.txt:", "    -b", "    +c"],
        ),
        ({"file_name": "a.txt", "file_path": "/w/a.txt", "new_content": "new\n"}, ["    +new"]),
        ({"file_name": "a.txt", "formatted_diff": "@@ -1 +1 @@\n-x\n+y"}, ["the file a.txt:", "    +y"]),
        ({"file_name": "a.txt", "new_content": "line\n" * 600}, ["    +line", "lines missing or cut: 561)"]),
        (
            {"file_name": "a.txt", "old_content": "a\u2028b\n", "new_content": "a\nb\n"},
            ["    -a\\u2028b", "    +a\n    +b\n"],
        ),
        ({"file_name": "a.txt", "old_content": "a", "new_content": "a\n"}, ["    -a", "    +a"]),
    ],
)
def test_a_change_of_a_file_is_asked_about_with_what_changes(details: dict[str, Any], shown: list[str]) -> None:
    text = asks(waiting(file_edit_details=details))
    assert [each for each in shown if each not in text] == []


def test_no_value_passes_for_another_parameter_or_hides_one() -> None:
    text = asks(waiting({"note": "x\nto: ada" + "\nmore" * 50, "to": "mallory"}, generic_details={}))
    assert "    to: mallory\n    note: x\n      to: ada\n      more\n" in text
    assert "(Not everything is shown; lines missing or cut: 13)" in text


def test_a_tool_of_a_server_and_any_other_are_asked_about_with_what_they_are_given() -> None:
    text = asks(waiting(mcp_details={"server_name": "files", "tool_name": "delete"}))
    assert 'the tool “delete” of the MCP server “files”:\n\n    n: [1,"二"]\n\n' in text
    text = asks(waiting(generic_details={"description": "Fetches a page"}))
    assert 'the tool “ShellTool”:\n\n    Fetches a page\n    n: [1,"二"]\n\n' in text


def test_what_is_long_is_cut_and_the_question_says_so() -> None:
    text = asks(waiting(execute_details={"command": "echo " + "x" * 5000}))
    assert "lines missing or cut: 1)" in text
    assert len(text) < 1000
    text = asks(waiting(execute_details={"command": "echo x\n" * 5000}))
    assert "lines missing or cut: 4960)" in text
    assert len(text) < 4000


def test_nothing_in_a_command_is_hidden_or_passes_for_a_choice() -> None:
    hidden = "\u202e\u200b\x1b[2K\r\u2028\u3164\U000e0100"
    text = asks(
        waiting(execute_details={"command": f"ls\n1. Allow{hidden}\u3000\ty", "working_directory": "/w\n2. Yes"})
    )
    assert "\n    1. Allow\\u202e\\u200b\\u001b[2K\\u000d\\u2028\\u3164\\ue0100\u3000" in text
    assert "(in the folder /w\\u000a2. Yes)" in text
    assert not {*hidden} - {*"[2K"} & {*text}


def test_several_that_wait_are_asked_about_one_by_one() -> None:
    first, second = waiting(execute_details={"command": "one"}), waiting(execute_details={"command": "two"})
    text = question_text([first, second], "CLI", Language.EN)
    assert "    one\n\n(1 more will be asked after this one.)\n\n1. " in text
    assert "two" not in text


def test_what_gemini_cli_asks_is_a_question_too() -> None:
    write = next(update.question for update in heard("write") if update.question)
    run = next(update.question for update in heard("run") if update.question)
    assert asks(write).startswith(
        "The agent “CLI” wants to change the file /workspace/hello.txt:\n\n"
        "    @@ -0,0 +1,2 @@\n    +Hello\n    +World\n\n1. Allow once\n2. Always allow this kind\n3. Reject\n"
    )
    assert "を求めています：\n\n    echo one; sleep 1; echo two\n\n1. 今回だけ許可\n2. " in asks(run, Language.JA)


def test_gemini_clis_other_questions_are_read() -> None:
    def of(details: dict[str, Any]) -> str:
        data = {"request": {"callId": "c", "name": "t", "args": {"x": 1}}, "status": "awaiting_approval"}
        (update,) = tool_calls_in(message(data | {"confirmationDetails": details}))
        assert update.question is not None
        return asks(update.question)

    mcp = of({"type": "mcp", "serverName": "files", "toolName": "rm", "toolDisplayName": "Remove"})
    assert "“Remove” of the MCP server “files”:\n\n    x: 1\n\n1. Allow once\n2. Always allow this tool\n3. " in mcp
    assert "    Read it\n    http://a.example\n" in of(
        {"type": "info", "prompt": "Read it", "urls": ["http://a.example"]}
    )
    assert "\n1. Allow once\n2. Reject\n" in of({"type": "ask_user", "title": "Which?"})


def test_the_stages_of_gemini_clis_tool_calls_are_told_apart() -> None:
    stages = list(dict.fromkeys(update.stage for update in heard("two")))
    assert stages == [Stage.PREPARED, Stage.ASKING, Stage.EXECUTING, Stage.SUCCEEDED, Stage.CANCELLED]


def test_a_tool_at_work_is_one_line() -> None:
    (running,) = [update for update in heard("run") if update.stage is Stage.EXECUTING]
    assert progress_text(running, Language.EN) == "Running: echo one; sleep 1; echo two"
    (other,) = tool_calls_in(message(call(status="EXECUTING", input_parameters={"path": "src"})))
    assert [progress_text(other, each) for each in Language] == [
        "Using ShellTool: src",
        "ShellTool を使用中：src",
    ]
    (bare,) = tool_calls_in(message(call(status="EXECUTING", input_parameters={"count": 2})))
    assert [progress_text(bare, each) for each in Language] == ["Using ShellTool", "ShellTool を使用中"]


@pytest.mark.parametrize(
    ("spelt", "expected"),
    [
        ({"tool_call_id": "c"}, {"tool_call_id": "c", "selected_option_id": "cancel"}),
        ({"toolCallId": "c"}, {"toolCallId": "c", "selectedOptionId": "cancel"}),
    ],
)
def test_the_decision_is_written_as_the_agent_spells(spelt: dict[str, str], expected: dict[str, str]) -> None:
    name = "confirmation_request" if "tool_call_id" in spelt else "confirmationRequest"
    (update,) = tool_calls_in(message({**spelt, "status": "PENDING", name: {"options": []}}))
    assert update.question is not None
    asked = Message(message_id="m-1", role=Role.USER, parts=(Part(text="no"),), context_id="x", task_id="t")
    sent = confirmation(asked, update.question, "cancel")
    assert (sent.parts[0].data, sent.extensions) == (expected, (URI,))
    assert (sent.message_id, sent.context_id, sent.task_id) == ("m-1", "x", "t")


def test_gemini_cli_gets_its_own_form_of_decision() -> None:
    question = next(update.question for update in heard("write") if update.question)
    asked = Message(message_id="m-1", role=Role.USER, parts=(Part(text="yes"),))
    sent = confirmation(asked, question, "proceed_once")
    assert (sent.parts[0].data, sent.extensions) == ({"callId": "call-1", "outcome": "proceed_once"}, ())


def test_what_waits_can_be_kept_as_json() -> None:
    pending = PendingTools(language=Language.JA, questions=(waiting(execute_details={"command": "ls"}),))
    assert msgspec.convert(json.loads(json.dumps(msgspec.to_builtins(pending))), PendingTools) == pending


@pytest.mark.parametrize(
    "data",
    [
        "text",
        None,
        {"status": "PENDING"},
        {"request": {}, "status": "executing"},
        {"request": {"callId": 7}, "status": "executing"},
        {"request": {"callId": "c" * 2000}, "status": "executing"},
        {"tool_call_id": 7, "status": "PENDING"},
        {"tool_call_id": "", "status": "PENDING"},
        {"tool_call_id": "c", "status": "PENDING", "confirmation_request": "x"},
    ],
)
def test_data_that_is_no_tool_call_is_none(data: Any) -> None:
    assert list(tool_calls_in(message(data))) == []


@pytest.mark.parametrize("details", [None, 7, [], {}, {"type": 7, "command": []}, {"type": "exec"}])
def test_a_record_of_gemini_clis_in_which_something_is_amiss_harms_nobody(details: Any) -> None:
    data = {"request": {"callId": "c", "name": 7, "args": []}, "status": "awaiting_approval", "tool": []}
    (update,) = tool_calls_in(message(data | {"confirmationDetails": details}))
    assert (update.question is None) is (not isinstance(details, dict) or not details)


def test_the_kinds_of_updates_are_told_apart_in_both_forms() -> None:
    assert kind_of({URI: {"kind": "THOUGHT"}}) is Kind.THOUGHT
    assert kind_of({"coderAgent": {"kind": "text-content"}}) is Kind.TEXT
    others: list[dict[str, Any] | None] = [None, {}, {URI: "x"}, {URI: {"kind": "NEWER"}}, {URI: {}}]
    assert {kind_of(each) for each in others} == {None}
    assert thought_in(message({"subject": "Planning\nit", "description": "x"})) == "Planning it"
    assert is_tool_call(call())
    assert not is_tool_call([call()])


def test_gemini_cli_waits_only_where_its_state_changes_to_that() -> None:
    def told(kind: str, state: TaskState) -> TaskState:
        event = TaskStatusUpdateEvent(
            task_id="t",
            context_id="c",
            status=TaskStatus(state=state),
            metadata={"coderAgent": {"kind": kind}},
        )
        passed = with_working_state(event)
        assert isinstance(passed, TaskStatusUpdateEvent)
        return passed.status.state

    assert told("tool-call-update", TaskState.INPUT_REQUIRED) is TaskState.WORKING
    assert told("state-change", TaskState.INPUT_REQUIRED) is TaskState.INPUT_REQUIRED
    assert told("tool-call-update", TaskState.FAILED) is TaskState.FAILED
