"""Malformed requests, over both bindings and both versions: the right error with the field named, never a 500."""

import json
from collections.abc import Callable
from itertools import cycle
from typing import Any

import pytest

from a2a_hub.a2a.bindings import rest
from a2a_hub.a2a.errors import A2AError
from tests.contract.a2a.served import SECRET, WAYS, Way, error_of, fields_named, served, whole

EACH_WAY = pytest.mark.parametrize("way", WAYS, ids=str)
EACH_BINDING = pytest.mark.parametrize("way", [WAYS[0], WAYS[-1]], ids=str)
V0_3_ONLY, V1_0_ONLY = "0.3", "1.0"


def _message(**members: Any) -> Callable[[Way], Any]:
    def params(way: Way) -> Any:
        message = way.params()["message"] | members
        return {"message": {name: item for name, item in message.items() if item is not ...}}

    return params


def _parts(parts: Any) -> Callable[[Way], Any]:
    return lambda way: {"message": way.params()["message"] | {way.parts: parts}}


def _configuration(value: Any) -> Callable[[Way], Any]:
    return lambda way: way.params() | {"configuration": value}


def _push(value: Any) -> Callable[[Way], Any]:
    def params(way: Way) -> Any:
        return way.params() | {"configuration": {_push_name(way): value}}

    return params


def _push_name(way: Way) -> str:
    if way.version == V1_0_ONLY:
        return "taskPushNotificationConfig"
    return "pushNotification" if way.rest else "pushNotificationConfig"


# what → (parameters, the field that is named; "{parts}" is what the version and binding call it)
PARAMS: dict[str, tuple[Callable[[Way], Any], str]] = {
    "no parameters": (lambda _: {}, "message"),
    "null message": (lambda _: {"message": None}, "message"),
    "message of a wrong type": (lambda _: {"message": "hello"}, "message"),
    "message list": (lambda _: {"message": [{}]}, "message"),
    "number as messageId": (_message(messageId=5), "message.messageId"),
    "unknown role": (_message(role="nobody"), "message.role"),
    "list as role": (_message(role=["user"]), "message.role"),
    "role unspecified": (_message(role="ROLE_UNSPECIFIED"), "message.role"),
    "no parts": (_message(parts=..., content=...), "message.parts"),
    "parts of a wrong type": (_parts("hello"), "message.{parts}"),
    "object as parts": (_parts({"0": {"text": "hi"}}), "message.{parts}"),
    "null part": (_parts([None]), "message.{parts}[0]"),
    "string as part": (_parts(["hello"]), "message.{parts}[0]"),
    "empty part": (_parts([{}]), "message.{parts}[0]"),
    "number as text": (_parts([{"text": 5}]), "message.{parts}[0].text"),
    "list as text": (_parts([{"text": ["a"]}]), "message.{parts}[0].text"),
    "second part wrong": (_parts([{"text": "a"}, {"text": {}}]), "message.{parts}[1].text"),
    "list as metadata": (_message(metadata=[]), "message.metadata"),
    "number as contextId": (_message(contextId=7), "message.contextId"),
    "object as taskId": (_message(taskId={}), "message.taskId"),
    "string as extensions": (_message(extensions="x"), "message.extensions"),
    "number in extensions": (_message(extensions=["x", 5]), "message.extensions[1]"),
    "string as metadata of the request": (lambda way: way.params() | {"metadata": "x"}, "metadata"),
    "list as configuration": (_configuration([]), "configuration"),
    "string as modes": (
        _configuration({"acceptedOutputModes": "text/plain"}),
        "configuration.acceptedOutputModes",
    ),
    "null in modes": (
        _configuration({"acceptedOutputModes": [None]}),
        "configuration.acceptedOutputModes[0]",
    ),
    "words as historyLength": (_configuration({"historyLength": "many"}), "configuration.historyLength"),
    "negative historyLength": (_configuration({"historyLength": -1}), "configuration.historyLength"),
    "false as historyLength": (_configuration({"historyLength": False}), "configuration.historyLength"),
    "string as blocking": (_configuration({"blocking": "no"}), "configuration.blocking"),
    "push config without URL": (_push({"token": "t"}), "configuration.{push}.url"),
    "push config of a wrong type": (_push("x"), "configuration.{push}"),
    "number as push token": (
        _push({"url": "https://x.example.com", "token": 5}),
        "configuration.{push}.token",
    ),
}
ONLY: dict[str, dict[str, tuple[Callable[[Way], Any], str]]] = {
    V0_3_ONLY: {
        "unknown kind": (_parts([{"kind": "picture", "text": "x"}]), "message.{parts}[0].kind"),
        "kind and content differ": (_parts([{"kind": "text", "data": {}}]), "message.{parts}[0].text"),
        "list as data": (_parts([{"kind": "data", "data": []}]), "message.{parts}[0].data"),
        "file without content": (_parts([{"file": {"mimeType": "a/b"}}]), "message.{parts}[0].file"),
        "file with two contents": (
            _parts([{"file": {"fileWithBytes": "", "fileWithUri": ""}}]),
            "message.{parts}[0].file",
        ),
        "no base64": (
            _parts([{"file": {"fileWithBytes": "*"}}]),
            "message.{parts}[0].file.fileWithBytes",
        ),
        "number as file name": (
            _parts([{"file": {"fileWithUri": "x", "name": 5}}]),
            "message.{parts}[0].file.name",
        ),
        "kind of the message": (_message(kind="task"), "message.kind"),
        "no authentication scheme": (
            _push({"url": "https://x.example.com", "authentication": {"schemes": [], "credentials": "x"}}),
            "configuration.{push}.authentication.schemes",
        ),
    },
    V1_0_ONLY: {
        "no messageId": (_message(messageId=...), "message.messageId"),
        "empty messageId": (_message(messageId=""), "message.messageId"),
        "no role": (_message(role=...), "message.role"),
        "empty parts": (_parts([]), "message.parts"),
        "two contents": (_parts([{"text": "a", "url": "b"}]), "message.parts[0]"),
        "no base64": (_parts([{"raw": "*"}]), "message.parts[0].raw"),
        "string as returnImmediately": (
            _configuration({"returnImmediately": "no"}),
            "configuration.returnImmediately",
        ),
        "number as tenant": (lambda way: way.params() | {"tenant": 5}, "tenant"),
        "no authentication scheme": (
            _push({"url": "https://x.example.com", "authentication": {}}),
            "configuration.{push}.authentication.scheme",
        ),
    },
}
# Every case in both versions, in each of which the cases take turns with its ways.
CASES = [
    pytest.param(way, params, field, id=f"{way}-{what}")
    for version, only in ONLY.items()
    for way, (what, (params, field)) in zip(
        cycle(way for way in WAYS if way.version == version), (PARAMS | only).items(), strict=False
    )
]


@pytest.mark.parametrize(("way", "params", "field"), CASES)
def test_wrong_parameters_are_refused_with_their_field(way: Way, params: Callable[[Way], Any], field: str) -> None:
    status, error, id_ = error_of(way, served().send("POST", way.path, way.body(params(way))))
    named = field.replace("{parts}", way.parts).replace("{push}", _push_name(way))
    assert fields_named(error) == [named]
    assert named in error["message"]
    assert (status, error["code"], id_) == ((400, 400, None) if way.rest else (200, -32602, "r-1"))


@EACH_WAY
def test_parameters_that_are_no_object_are_refused(way: Way) -> None:
    for params in ([], ["hello"], "hello", 5, True):
        _, error, id_ = error_of(way, served().send("POST", way.path, way.body(params)))
        assert fields_named(error) == ["params"]
        assert error["code"] == (400 if way.rest else -32602)
        assert id_ == (None if way.rest else "r-1")


NO_JSON = {
    "empty": b"",
    "cut off": b'{"jsonrpc":"2.0","id":1,"met',
    "invalid UTF-8": b'{"jsonrpc":"2.0","id":1,"method":"\xff"}',
    "raw NUL": b'{"jsonrpc":"2.0","id":1,"method":"a\x00b"}',
    "only NUL": b"\x00",
    "UTF-16": '{"jsonrpc":"2.0"}'.encode("utf-16"),
    "deep nesting": b'{"message":' + b"[" * 5_000 + b"]" * 5_000 + b"}",
    "very deep nesting": b"[" * 100_000,
    "form data": b"message=hello",
    "HTML": b"<html></html>",
}


@pytest.mark.parametrize("body", [pytest.param(body, id=what) for what, body in NO_JSON.items() if body])
@EACH_BINDING
def test_a_body_that_is_no_json_is_a_parse_error_without_an_id(way: Way, body: bytes) -> None:
    status, error, id_ = error_of(way, served().send("POST", way.path, body))
    assert (status, error["code"], id_) == ((400, 400, None) if way.rest else (200, -32700, None))
    assert error["message"].startswith("Invalid JSON payload")


@EACH_WAY
def test_an_empty_body_is_an_error(way: Way) -> None:
    status, error, _ = error_of(way, served().send("POST", way.path, b"", content_type="application/json"))
    assert (status, error["code"]) == ((400, 400) if way.rest else (200, -32700))


@EACH_WAY
def test_a_message_nested_too_deep_is_refused_and_one_at_the_limit_is_answered(way: Way) -> None:
    nested: Any = "x"
    for _ in range(90):
        nested = [nested]
    params = way.params()
    params["message"]["metadata"] = {"nested": nested}
    assert served().send("POST", way.path, way.body(params)).status == 200
    for _ in range(20):
        nested = {"a": nested}
    params["message"]["metadata"] = {"nested": nested}
    _, error, _ = error_of(way, served().send("POST", way.path, way.body(params)))
    assert "nested deeper than 100" in error["message"]


@EACH_WAY
def test_more_values_than_a_process_should_hold_are_413_and_as_many_signs_in_a_text_are_answered(way: Way) -> None:
    params = way.params()
    params["message"]["metadata"] = {"text": '[,{\\"' * 100_000}
    assert served().send("POST", way.path, way.body(params)).status == 200
    params["message"]["metadata"] = {"lists": [[]] * 100_000}
    status, error, _ = error_of(way, served().send("POST", way.path, way.body(params)))
    assert status == 413
    assert "more than 100000 values" in error["message"]


@EACH_WAY
def test_a_body_over_the_limit_is_413(way: Way) -> None:
    body = json.dumps(way.body(way.params())).encode()
    limit = 10 * 1024 * 1024
    exactly = body + b" " * (limit - len(body))
    assert served().send("POST", way.path, exactly).status == 200
    status, error, _ = error_of(way, served().send("POST", way.path, exactly + b" "))
    assert status == 413
    assert str(limit) in error["message"]


@EACH_WAY
def test_an_escaped_nul_in_a_text_is_no_error(way: Way) -> None:
    response = served().send("POST", way.path, way.body(way.params("a\u0000b")))
    assert response.status == 200


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
@EACH_BINDING
def test_another_content_type_is_415(way: Way, content_type: str) -> None:
    body = way.body(way.params())
    status, error, _ = error_of(way, served().send("POST", way.path, body, content_type=content_type))
    assert status == 415
    assert "application/json" in error["message"]


@pytest.mark.parametrize(
    "content_type", ["application/json; charset=utf-8", "APPLICATION/JSON", "application/a2a+json", ""]
)
@EACH_BINDING
def test_json_is_taken_under_each_of_its_content_types(way: Way, content_type: str) -> None:
    body = way.body(way.params())
    assert served().send("POST", way.path, body, content_type=content_type).status == 200


@EACH_WAY
def test_an_unknown_task_is_not_found_before_anything_runs(way: Way) -> None:
    params = way.params()
    params["message"]["taskId"] = "no-such-task"
    status, error, _ = error_of(way, served().send("POST", way.path, way.body(params)))
    assert (status, error["code"]) == ((404, 404) if way.rest else (200, -32001))


@EACH_WAY
def test_a_push_config_is_refused_since_nothing_would_ever_be_pushed(way: Way) -> None:
    config = {"url": "https://client.example.com/hook"}
    params = way.params() | {"configuration": {_push_name(way): config}}
    status, error, _ = error_of(way, served().send("POST", way.path, way.body(params)))
    assert (status, error["code"]) == ((400, 400) if way.rest else (200, -32003))


@EACH_WAY
def test_what_breaks_inside_is_an_internal_error_without_its_reason(way: Way) -> None:
    agent = served()
    response = agent.send("POST", way.path, way.body(way.params("crash")))
    if way.streaming:
        body = whole(response).decode()
        last = json.loads(body.strip().rsplit("data: ", 1)[1])
        error = last["error"]
    else:
        _, error, _ = error_of(way, response)
    assert error["code"] == (500 if way.rest else -32603)
    assert SECRET not in json.dumps(error)
    assert any(b"RuntimeError" in line for line in agent.log_lines)


@EACH_WAY
def test_huge_headers_do_no_harm(way: Way) -> None:
    body = way.body(way.params())
    sent = served().send(
        "POST",
        way.path,
        body,
        a2a_extensions="https://example.com/x," * 20_000,
        traceparent="0" * 100_000,
        accept="*/*;" * 100_000,
        authorization="Bearer " + "x" * 100_000,
    )
    assert sent.status == 200


@pytest.mark.parametrize("path", ["/tasks", "/v1/tasks"])
@pytest.mark.parametrize("name", ["contextId", "pageSize", "page_size", "status", "includeArtifacts"])
def test_a_query_parameter_that_comes_twice_is_refused(path: str, name: str) -> None:
    target = rest.resolve("GET", path, None)
    with pytest.raises(A2AError) as refused:
        rest.read_request(target, {name: ["1", "2"]}, b"")
    ((field, _),) = refused.value.fields
    assert field in (name, "pageSize")
    rest.read_request(target, {"unknown": ["1", "2"]}, b"")


def test_the_choices_of_an_enum_are_those_that_say_something() -> None:
    with pytest.raises(A2AError, match="status must be one of TASK_STATE_SUBMITTED, "):
        rest.read_request(rest.resolve("GET", "/tasks", None), {"status": ["x"]}, b"")
