"""Functions that a model behind OpenAI's chat completions calls: how servers write them, well and badly."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from a2a_hub.gemini.failure import Cause, ModelFailed
from a2a_hub.gemini.prompt import Ended, FunctionCall, FunctionResult, ModelTurn, Prompt, UserTurn, read_reply
from a2a_hub.http.client import HttpClient
from a2a_hub.http.messages import Cancellation
from a2a_hub.language_models.openai_compatible import OpenAiCompatible
from a2a_hub.text.language import Language
from tests.fakes.chat_completions import ChatCompletions, openai_settings, send_chunk
from tests.fakes.http_server import Exchange

FIND = {"name": "find", "description": "Finds.", "parameters": {"type": "object", "properties": {}}}
PROMPT = Prompt(instruction="Use the functions.", turns=(UserTurn("minutes?"),), functions=(FIND,))
Json = dict[str, Any]


class Server(ChatCompletions):
    """`answer` answers each request."""

    def __init__(self) -> None:
        super().__init__(lambda _, exchange: self.answer(exchange))
        self.answer: Callable[[Exchange], None] = lambda exchange: exchange.answer(500)

    def ask(self, prompt: Prompt = PROMPT) -> list[Any]:
        settings = openai_settings(f"{self.url}/v1", variable="MCP_MODEL")
        model = OpenAiCompatible(settings, http=HttpClient())
        return list(model.stream(prompt, cancellation=Cancellation()))

    def failure(self) -> Cause:
        with pytest.raises(ModelFailed) as failed:
            self.ask()
        return failed.value.failure.cause


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


def streams(*deltas: Json, finish: str | None = "tool_calls") -> Callable[[Exchange], None]:
    def answer(exchange: Exchange) -> None:
        exchange.start_stream()
        for delta in deltas:
            send_chunk(exchange, {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        send_chunk(exchange, {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        exchange.send(b"data: [DONE]\n\n")

    return answer


def piece(arguments: Any, name: str | None = None, *, index: int | None = 0, id: str | None = None) -> Json:
    return {"tool_calls": [{"index": index, "id": id, "function": {"name": name, "arguments": arguments}}]}


def call(name: str, arguments: Any, **more: Any) -> Json:
    return {"id": "a", "type": "function", "function": {"name": name, "arguments": arguments}, **more}


CALLED = FunctionCall(name="find", arguments={"words": "会議 minutes"})
TEXT = json.dumps(CALLED.arguments, ensure_ascii=False)


@pytest.mark.parametrize(
    "deltas",
    [
        [{"content": None, "tool_calls": [call("find", TEXT, index=0)]}],
        [{"tool_calls": [call("find", "", index=0)]}, *(piece(each) for each in TEXT)],
        [piece(TEXT[:4], "find", id="a"), piece(TEXT[4:], "", id="")],
        [piece(TEXT[:4], "find", id="a"), piece(TEXT[4:], id="a")],
        [{"tool_calls": [call("find", CALLED.arguments)]}],
        [{"tool_calls": [call("find", TEXT[:4], index=None)]}, piece(TEXT[4:], index=None)],
        [{"tool_calls": [call("find", TEXT, index=0), call("delete", "{}", index=1, id="b")]}],
        [{"tool_calls": [call("find", TEXT, index=0)]}, {"tool_calls": [call("delete", "{}", index=0, id="b")]}],
        [piece(TEXT[:4], "find", id="a"), piece("{}", "delete", index=1, id="b"), piece(TEXT[4:])],
    ],
    ids=[
        "whole",
        "pieces",
        "empty ids",
        "ids again",
        "an object",
        "no number",
        "two",
        "two of one number",
        "two in turn",
    ],
)
def test_a_call_is_read_as_servers_write_it_and_only_the_first_counts(server: Server, deltas: list[Json]) -> None:
    server.answer = streams(*deltas)
    first, end = server.ask()
    assert first == CALLED
    assert isinstance(end, Ended)


def test_a_server_that_does_not_stream_is_read_too(server: Server) -> None:
    message = {
        "role": "assistant",
        "content": "Looking.",
        "tool_calls": [call("find", TEXT), call("find", "{}", id="b")],
    }
    usage = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}], "usage": usage}
    server.answer = lambda exchange: exchange.json(body)
    assert read_reply(server.ask(), Language.EN) == ("Looking.", CALLED)


@pytest.mark.parametrize("arguments", ["", None, {}])
def test_a_call_without_arguments_has_none(server: Server, arguments: Any) -> None:
    server.answer = streams({"tool_calls": [call("find", arguments, index=0)]})
    assert server.ask()[0].arguments == {}


@pytest.mark.parametrize(
    "arguments", ["{'words': 1}", "null", "[1]", '"text"', '{"words": "cut', "{}{}", "[" * 100_000, '{"a": NaN}']
)
def test_arguments_that_are_no_json_object_are_known_as_such(server: Server, arguments: str) -> None:
    server.answer = streams({"tool_calls": [call("find", arguments, index=0)]})
    assert server.ask()[0] == FunctionCall(name="find", arguments=None)


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (streams({"tool_calls": "find"}), Cause.BROKEN),
        (streams({"tool_calls": [{"index": "first", "function": {"name": "find"}}]}), Cause.BROKEN),
        (streams({"tool_calls": [{"function": {"name": ["find"]}}]}), Cause.BROKEN),
        (streams({"tool_calls": [{}]}), Cause.EMPTY),
        (streams({"tool_calls": []}), Cause.EMPTY),
        (streams({"tool_calls": [call("find", TEXT)]}, finish=None), Cause.CUT),
        (lambda exchange: exchange.json({"choices": []}), Cause.CUT),
        (lambda exchange: exchange.json([]), Cause.BROKEN),
        (
            lambda exchange: exchange.answer(200, b'{"x":' + b"[" * 500_000, content_type="application/json"),
            Cause.BROKEN,
        ),
        (lambda exchange: exchange.answer(200, b"<html>", content_type="text/html"), Cause.CUT),
        (lambda exchange: exchange.answer(200, b" " * (5 << 20), content_type="application/json"), Cause.BROKEN),
        (lambda exchange: exchange.json({"error": "does not support tools"}, 400), Cause.REJECTED),
        (lambda exchange: exchange.json({"error": "no such model"}, 404), Cause.NOT_FOUND),
        (lambda exchange: exchange.json({"error": "no"}, 401), Cause.DENIED),
        (lambda exchange: exchange.json({"error": "slower"}, 429), Cause.QUOTA),
        (lambda exchange: exchange.json({"error": "tools param requires --jinja flag"}, 500), Cause.OVERLOADED),
        (lambda exchange: exchange.close(), Cause.CUT),
    ],
)
def test_failures_are_told_apart(server: Server, answer: Callable[[Exchange], None], cause: Cause) -> None:
    server.answer = answer
    assert server.failure() is cause


def test_a_dialogue_is_sent_with_calls_and_results_of_one_id(server: Server) -> None:
    turns = (
        UserTurn("minutes?"),
        ModelTurn("Of which meeting?"),
        UserTurn("会議"),
        FunctionCall(name="find", arguments=None),
        FunctionResult(name="find", text="Nothing was done.", succeeded=False),
        CALLED,
        FunctionResult(name="find", text="minutes.md", succeeded=True),
    )
    server.answer = streams({"content": "minutes.md"}, finish="stop")
    server.ask(Prompt(instruction="Use the functions.", turns=turns, functions=(FIND,)))
    (body,) = server.requests
    assert body["tools"] == [{"type": "function", "function": FIND}]
    sent = {"type": "function", "function": {"name": "find", "arguments": "{}"}}
    assert body["messages"] == [
        {"role": "system", "content": "Use the functions."},
        {"role": "user", "content": "minutes?"},
        {"role": "assistant", "content": "Of which meeting?"},
        {"role": "user", "content": "会議"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "call00001", **sent}]},
        {"role": "tool", "tool_call_id": "call00001", "content": "Error: Nothing was done."},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "call00002", "type": "function", "function": {"name": "find", "arguments": TEXT}}],
        },
        {"role": "tool", "tool_call_id": "call00002", "content": "minutes.md"},
    ]


def test_the_remedy_names_the_setting_that_names_the_model(server: Server) -> None:
    model = OpenAiCompatible(openai_settings(f"{server.url}/v1", variable="MCP_MODEL"), http=HttpClient())
    server.answer = lambda exchange: exchange.json({"error": "does not support tools"}, 400)
    with pytest.raises(ModelFailed) as failed:
        list(model.stream(PROMPT, cancellation=Cancellation()))
    remedy = model.hint("model", failed.value.failure)["remedy"]
    assert "MCP_MODEL_URL" in remedy
    assert "may not call functions" in remedy
