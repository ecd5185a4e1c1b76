"""The development agent with a model: a loop over the same tools, with the same confirmations, and an end of every kind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from a2a_hub.gemini.prompt import FunctionCall, FunctionResult, ModelTurn, UserTurn
from functions.devtool.actions import AnyAction
from functions.devtool.planner import FUNCTIONS
from tests.fakes.devtool import Client, Devtool, calls, kinds, waiting, workspace_in
from tests.fakes.scripted_model import SIGNATURE, Answer, ScriptedModel, wants


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return workspace_in(tmp_path)


@pytest.fixture(params=["Gemini", "OpenAI"])
def model(request: pytest.FixtureRequest) -> Iterator[ScriptedModel]:
    with ScriptedModel(is_gemini=request.param == "Gemini") as model:
        yield model


def client_of(model: ScriptedModel, tmp_path: Path, *answers: Answer) -> Client:
    model.answers = list(answers)
    return Devtool(tmp_path, model=model.client).client(workspace=tmp_path / "work")


def test_the_model_looks_changes_and_says_what_it_did(model: ScriptedModel, tmp_path: Path, root: Path) -> None:
    client = client_of(
        model,
        tmp_path,
        ["Looking first\nThe greeting stands in the notes.", wants("read_file", path="notes.txt")],
        [wants("replace", path="notes.txt", old_text="hello", new_text="good day")],
        ["The greeting is polite now."],
    )
    asked = client.stream("make the greeting in my notes more polite")
    assert kinds(asked) == [
        "STATE_CHANGE working",
        "THOUGHT working",
        "TOOL_CALL_UPDATE PENDING",
        "TOOL_CALL_UPDATE EXECUTING",
        "TOOL_CALL_UPDATE SUCCEEDED",
        "TOOL_CALL_UPDATE PENDING",
        "STATE_CHANGE input-required",
    ]
    assert asked[2].data == {"subject": "Looking first", "description": "The greeting stands in the notes."}
    assert all(event.event and event.event["model"] == model.client.name for event in asked[1:])
    task_id, call = waiting(asked)
    done = client.decide(task_id, call["tool_call_id"], "proceed_once")
    assert done[-1].state == "completed"
    assert done[-2].text == "The greeting is polite now."
    assert (root / "notes.txt").read_text() == "good day\nfoo bar\n"
    *_, read, told, replace, result = model.dialogues[-1]
    signature = SIGNATURE if model.is_gemini else ""
    assert read == FunctionCall(name="read_file", arguments={"path": "notes.txt"}, signature=signature)
    assert told == FunctionResult(name="read_file", text="hello\nfoo bar\n", succeeded=True)
    assert (type(replace), type(result)) == (FunctionCall, FunctionResult)
    assert isinstance(result, FunctionResult)
    assert result.name == "replace"


def test_what_a_rule_understands_is_done_without_asking_the_model(
    model: ScriptedModel, tmp_path: Path, root: Path
) -> None:
    client = client_of(model, tmp_path)
    assert client.stream("read notes.txt")[-2].text == "hello\nfoo bar\n"
    assert model.asked == []


def test_a_tool_that_fails_is_told_to_the_model_which_goes_on(model: ScriptedModel, tmp_path: Path, root: Path) -> None:
    client = client_of(model, tmp_path, [wants("read_file", path="../secret.txt")], ["I may not look there."])
    events = client.stream("what stands in the folder above?")
    assert calls(events)[-1]["error"]["type"] == "outside_workspace"
    assert events[-2].text == "I may not look there."
    result = model.dialogues[-1][-1]
    assert isinstance(result, FunctionResult)
    assert not result.succeeded


def test_no_means_that_nothing_is_done_and_the_model_is_not_asked_on(
    model: ScriptedModel, tmp_path: Path, root: Path
) -> None:
    client = client_of(model, tmp_path, [wants("run_command", command="echo hi")])
    task_id, call = waiting(client.stream("greet me somehow"))
    done = client.decide(task_id, call["tool_call_id"], "cancel")
    assert done[-1].state == "completed"
    assert len(model.asked) == 1


def test_a_call_that_is_none_is_told_to_the_model_and_three_of_them_end_the_task(
    model: ScriptedModel, tmp_path: Path, root: Path
) -> None:
    wrong = [
        [wants("delete_all")],
        [wants("read_file", file="notes.txt")],
        [wants("write_file", path=1, content="x")],
    ]
    client = client_of(model, tmp_path, *wrong)
    events = client.stream("tidy up a little")
    assert events[-1].state == "failed"
    assert len(model.asked) == 3
    assert "wrong" in str(model.dialogues[-1][-1])


def test_a_call_whose_arguments_are_no_json_does_nothing(tmp_path: Path, root: Path) -> None:
    with ScriptedModel(is_gemini=False) as model:
        client = client_of(model, tmp_path, [FunctionCall(name="list_files", arguments=None)], ["I could not look."])
        events = client.stream("tidy up a little")
        assert (calls(events), events[-2].text) == ([], "I could not look.")


def test_a_model_that_never_comes_to_an_end_is_ended(model: ScriptedModel, tmp_path: Path, root: Path) -> None:
    client = client_of(model, tmp_path, *[[wants("list_files", path=".")]] * 30)
    events = client.stream("look around for ever")
    assert events[-1].state == "failed"
    assert len(model.asked) == 20


def test_a_model_that_cannot_be_asked_is_told_of_in_the_language_of_the_question(
    model: ScriptedModel, tmp_path: Path, root: Path
) -> None:
    client = client_of(model, tmp_path, 403)
    events = client.stream("このフォルダを整理して、きれいにして")
    assert events[-1].state == "failed"
    assert "言語モデルの設定に問題があります" in events[-1].text


def test_the_model_is_reminded_of_the_conversation(model: ScriptedModel, tmp_path: Path, root: Path) -> None:
    client = client_of(model, tmp_path, ["The blue one."], ["As I said, blue."])
    first = client.stream("which colour fits the logo?")
    client.stream("why that?", context_id=first[-1].context_id)
    assert model.dialogues[-1] == [
        UserTurn("which colour fits the logo?"),
        ModelTurn("The blue one."),
        UserTurn("why that?"),
    ]


def test_a_plain_clients_conversation_is_remembered_too(model: ScriptedModel, tmp_path: Path, root: Path) -> None:
    model.answers = [["The blue one."], ["As I said, blue."]]
    settings = {"DEVTOOL_DEFAULT_WORKSPACE": str(root)}
    plain = Devtool(tmp_path, model=model.client, settings=settings).client(extension=False)
    first = plain.send("which colour fits the logo?")
    assert first.state == "completed"
    plain.send("why that?", context_id=first.context_id)
    assert ModelTurn("The blue one.") in model.dialogues[-1]


def test_each_function_that_is_declared_is_an_action_with_these_parameters() -> None:
    actions = {action.__struct_config__.tag: action for action in AnyAction.__args__}
    for function in FUNCTIONS:
        action = actions[function["name"]]
        assert set(function["parameters"]["properties"]) == set(action.__struct_fields__)
