"""The development agent with a model: a loop over the same tools, with the same confirmations, and an end of every kind."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from functions.devtool.actions import AnyAction
from functions.devtool.model_planner import FUNCTIONS
from tests.fakes.devtool import Client, Devtool, calls, kinds, waiting, workspace_in
from tests.fakes.http_server import Exchange, HttpServer
from tests.fakes.vertex import MODEL, gemini

SIGNATURE = "c2lnbmF0dXJl"


class Model:
    """A Gemini that says one of `answers` after the other; `asked` are the dialogues that it was given."""

    def __init__(self, answers: Sequence[list[dict[str, Any]] | int]) -> None:
        self._answers = list(answers)
        self.asked: list[Any] = []

    def behave(self, exchange: Exchange) -> None:
        self.asked.append(exchange.received.json)
        answer = self._answers.pop(0)
        if isinstance(answer, int):
            exchange.json({"error": {"code": answer, "status": "PERMISSION_DENIED", "message": "no"}}, answer)
            return
        exchange.start_stream()
        content = {"role": "model", "parts": answer}
        exchange.event({"candidates": [{"content": content, "finishReason": "STOP"}]})


def wants(function: str, **arguments: Any) -> dict[str, Any]:
    return {"functionCall": {"name": function, "args": arguments}, "thoughtSignature": SIGNATURE}


def says(text: str) -> dict[str, Any]:
    return {"text": text}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return workspace_in(tmp_path)


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer(lambda exchange: exchange.answer(500)) as server:
        yield server


def client_of(server: HttpServer, tmp_path: Path, *answers: list[dict[str, Any]] | int) -> tuple[Client, Model]:
    model = Model(answers)
    server.behave = model.behave
    devtool = Devtool(tmp_path, gemini=gemini(server.url))
    return devtool.client(workspace=tmp_path / "work"), model


def test_the_model_looks_changes_and_says_what_it_did(server: HttpServer, tmp_path: Path, root: Path) -> None:
    client, model = client_of(
        server,
        tmp_path,
        [says("Looking first\nThe greeting stands in the notes."), wants("read_file", path="notes.txt")],
        [wants("replace", path="notes.txt", old_text="hello", new_text="good day")],
        [says("The greeting is polite now.")],
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
    assert all(event.event and event.event["model"] == MODEL for event in asked[1:])
    task_id, call = waiting(asked)
    done = client.decide(task_id, call["tool_call_id"], "proceed_once")
    assert done[-1].state == "completed"
    assert done[-2].text == "The greeting is polite now."
    assert (root / "notes.txt").read_text() == "good day\nfoo bar\n"
    *_, read, told, replace, result = model.asked[-1]["contents"]
    assert read["parts"][0]["functionCall"] == {"name": "read_file", "args": {"path": "notes.txt"}}
    assert read["parts"][0]["thoughtSignature"] == SIGNATURE
    assert told["parts"][0]["functionResponse"]["response"] == {"output": "hello\nfoo bar\n"}
    assert replace["parts"][0]["functionCall"]["name"] == "replace"
    assert result["parts"][0]["functionResponse"]["name"] == "replace"


def test_what_a_rule_understands_is_done_without_asking_the_model(
    server: HttpServer, tmp_path: Path, root: Path
) -> None:
    client, model = client_of(server, tmp_path)
    assert client.stream("read notes.txt")[-2].text == "hello\nfoo bar\n"
    assert model.asked == []


def test_a_tool_that_fails_is_told_to_the_model_which_goes_on(server: HttpServer, tmp_path: Path, root: Path) -> None:
    client, model = client_of(
        server, tmp_path, [wants("read_file", path="../secret.txt")], [says("I may not look there.")]
    )
    events = client.stream("what stands in the folder above?")
    assert calls(events)[-1]["error"]["type"] == "outside_workspace"
    assert events[-2].text == "I may not look there."
    assert "error" in model.asked[-1]["contents"][-1]["parts"][0]["functionResponse"]["response"]


def test_no_means_that_nothing_is_done_and_the_model_is_not_asked_on(
    server: HttpServer, tmp_path: Path, root: Path
) -> None:
    client, model = client_of(server, tmp_path, [wants("run_command", command="echo hi")])
    task_id, call = waiting(client.stream("greet me somehow"))
    done = client.decide(task_id, call["tool_call_id"], "cancel")
    assert done[-1].state == "completed"
    assert len(model.asked) == 1


def test_a_call_that_is_none_is_told_to_the_model_and_three_of_them_end_the_task(
    server: HttpServer, tmp_path: Path, root: Path
) -> None:
    wrong = [
        [wants("delete_all")],
        [wants("read_file", file="notes.txt")],
        [wants("write_file", path=1, content="x")],
    ]
    client, model = client_of(server, tmp_path, *wrong)
    events = client.stream("tidy up a little")
    assert events[-1].state == "failed"
    assert len(model.asked) == 3
    assert "wrong" in str(model.asked[-1]["contents"][-1])


def test_a_model_that_never_comes_to_an_end_is_ended(server: HttpServer, tmp_path: Path, root: Path) -> None:
    client, model = client_of(server, tmp_path, *[[wants("list_files", path=".")]] * 30)
    events = client.stream("look around for ever")
    assert events[-1].state == "failed"
    assert len(model.asked) == 20


def test_a_model_that_cannot_be_asked_is_told_of_in_the_language_of_the_question(
    server: HttpServer, tmp_path: Path, root: Path
) -> None:
    client, _ = client_of(server, tmp_path, 403)
    events = client.stream("このフォルダを整理して、きれいにして")
    assert events[-1].state == "failed"
    assert "言語モデルを利用する権限がありません" in events[-1].text


def test_the_model_is_reminded_of_the_conversation(server: HttpServer, tmp_path: Path, root: Path) -> None:
    client, model = client_of(server, tmp_path, [says("The blue one.")], [says("As I said, blue.")])
    first = client.stream("which colour fits the logo?")
    client.stream("why that?", context_id=first[-1].context_id)
    said = [part["text"] for turn in model.asked[-1]["contents"] for part in turn["parts"]]
    assert said == ["which colour fits the logo?", "The blue one.", "why that?"]


def test_a_plain_clients_conversation_is_remembered_too(server: HttpServer, tmp_path: Path, root: Path) -> None:
    model = Model([[says("The blue one.")], [says("As I said, blue.")]])
    server.behave = model.behave
    settings = {"DEVTOOL_DEFAULT_WORKSPACE": str(root)}
    plain = Devtool(tmp_path, gemini=gemini(server.url), settings=settings).client(extension=False)
    first = plain.send("which colour fits the logo?")
    assert first.state == "completed"
    plain.send("why that?", context_id=first.context_id)
    assert "The blue one." in str(model.asked[-1]["contents"])


def test_each_function_that_is_declared_is_an_action_with_these_parameters() -> None:
    actions = {action.__struct_config__.tag: action for action in AnyAction.__args__}
    for function in FUNCTIONS:
        action = actions[function["name"]]
        assert set(function["parameters"]["properties"]) == set(action.__struct_fields__)
