"""Whatever is sent: a status that means something, a body in the binding's form, and never a word of what went wrong inside."""

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from a2a_hub.a2a.bindings import sse
from a2a_hub.a2a.operations import OPERATIONS
from a2a_hub.a2a.version_table import CODECS
from a2a_hub.http.messages import Response
from tests.contract.a2a.served import WAYS, Way, served, whole
from tests.contract.a2a.wire_examples import Example, examples
from tests.unit.a2a.values import JSON_VALUES

MANY = settings(
    max_examples=settings().max_examples * 2,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
STATUSES_OF_JSONRPC = {200, 413, 415}
STATUSES_OF_REST = {200, 400, 404, 405, 413, 415}
AGENT = served()
_METHODS = [name for codec in CODECS.values() for operation in OPERATIONS if (name := codec.method(operation))]
_EVIL: list[Any] = [
    *(None, True, False, 0, -1, 2**31, 2**64, 1.5, 1e300, "", "\x00", "a\u2028b", "‮", "ROLE_USER", "user"),
    *(
        "x" * 5_000,
        [],
        {},
        [[]],
        [{}],
        {"": None},
        {"kind": "task"},
        {"__proto__": {}},
        {"data": {"data": {"data": 1}}},
    ),
]


def _assert_jsonrpc(response: Response) -> None:
    assert response.status in STATUSES_OF_JSONRPC
    body = whole(response)
    assert b"Traceback" not in body
    assert b'File \\"' not in body
    if response.headers["content-type"] == "text/event-stream":
        answers = [json.loads(data) for data in sse.read([body], limit_bytes=len(body) + 1)]
        assert answers
    else:
        assert response.headers["content-type"] == "application/json"
        answers = [json.loads(body)]
    for answer in answers:
        assert answer["jsonrpc"] == "2.0"
        assert ("result" in answer) != ("error" in answer)
        assert isinstance(answer["id"], str | int | float | None)
        if "error" in answer:
            assert isinstance(answer["error"]["code"], int)
            assert answer["error"]["code"] != -32603, answer
            assert answer["error"]["message"]


def _assert_rest(response: Response) -> None:
    assert response.status in STATUSES_OF_REST
    body = whole(response)
    assert b"Traceback" not in body
    if response.headers["content-type"] == "text/event-stream":
        assert [json.loads(data) for data in sse.read([body], limit_bytes=len(body) + 1)]
        return
    answer = json.loads(body)
    if response.status == 200:
        assert "error" not in answer
    else:
        assert answer["error"]["code"] == response.status
        assert answer["error"]["message"]


def _assert_answered(way: Way, body: bytes | Any, headers: dict[str, str] | None = None) -> None:
    response = AGENT.send("POST", way.path, body, headers=headers)
    (_assert_rest if way.rest else _assert_jsonrpc)(response)


@MANY
@given(way=st.sampled_from(WAYS), body=st.binary(max_size=200))
def test_random_bytes(way: Way, body: bytes) -> None:
    _assert_answered(way, body)


@MANY
@given(way=st.sampled_from(WAYS), body=JSON_VALUES)
def test_random_json(way: Way, body: Any) -> None:
    _assert_answered(way, json.dumps(body).encode())


@MANY
@given(method=st.sampled_from(_METHODS), params=JSON_VALUES, id_=JSON_VALUES)
def test_random_parameters_of_every_method(method: str, params: Any, id_: Any) -> None:
    body = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
    _assert_jsonrpc(AGENT.send("POST", "/", body))


@MANY
@given(
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE", "x"]),
    path=st.lists(
        st.sampled_from(
            [
                "v1",
                "acme",
                "tasks",
                "t",
                "message:send",
                "t:cancel",
                "pushNotificationConfigs",
                "card",
                "",
                "\x00",
                "..",
            ]
        ),
        max_size=6,
    ),
    query=st.dictionaries(
        st.sampled_from(["id", "taskId", "status", "pageSize", "A2A-Version", "historyLength", "x"]),
        st.lists(st.text(max_size=5), max_size=2),
        max_size=3,
    ),
    version=st.sampled_from(["", "0.3", "1.0", "7"]),
)
def test_random_methods_paths_and_queries(
    method: str, path: list[str], query: dict[str, list[str]], version: str
) -> None:
    target = "/v1/" + "/".join(path)
    _assert_rest(AGENT.send(method, target, b"{}", query=query, a2a_version=version))


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside: list[tuple[Any, ...]] = [path]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        inside += _places(item, (*path, key))
    return inside


def _mutated(value: Any, path: tuple[Any, ...], change: str, evil: Any) -> Any:
    """`value` with one place replaced, removed, doubled or renamed."""
    if not path:
        return evil
    copy = json.loads(json.dumps(value))
    parent = copy
    for key in path[:-1]:
        parent = parent[key]
    key = path[-1]
    match change:
        case "replace":
            parent[key] = evil
        case "remove":
            del parent[key]
        case "wrap":
            parent[key] = [parent[key]]
        case "rename" if isinstance(parent, dict):
            parent[f"{key}_"] = parent.pop(key)
        case "snake" if isinstance(parent, dict):
            parent["".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)] = parent.pop(key)
        case _:
            parent[key] = {"value": parent[key]}
    return copy


def _path_of(example: Example) -> str:
    if example.binding == "jsonrpc":
        return "/"
    return "/v1/message:send" if example.version == "0.3" else "/message:send"


@settings(MANY, max_examples=settings().max_examples * 5)
@given(data=st.data(), example=st.sampled_from(examples("request")))
def test_valid_messages_with_one_or_two_places_changed(data: st.DataObject, example: Example) -> None:
    body = example.body
    for _ in range(data.draw(st.integers(1, 2))):
        place = data.draw(st.sampled_from(_places(body)))
        change = data.draw(st.sampled_from(["replace", "remove", "wrap", "rename", "snake", "object"]))
        body = _mutated(body, place, change, data.draw(st.sampled_from(_EVIL)))
    response = AGENT.send("POST", _path_of(example), json.dumps(body).encode())
    (_assert_jsonrpc if example.binding == "jsonrpc" else _assert_rest)(response)


@MANY
@given(data=st.data(), example=st.sampled_from(examples("request")))
def test_valid_messages_with_bytes_changed(data: st.DataObject, example: Example) -> None:
    raw = bytearray(example.raw)
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, len(raw) - 1))
        raw[position : position + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    response = AGENT.send("POST", _path_of(example), bytes(raw))
    (_assert_jsonrpc if example.binding == "jsonrpc" else _assert_rest)(response)


@MANY
@given(
    way=st.sampled_from(WAYS),
    headers=st.dictionaries(
        st.sampled_from(
            [
                *(
                    "a2a-version",
                    "a2a-extensions",
                    "x-a2a-extensions",
                    "accept",
                    "content-type",
                    "traceparent",
                ),
                *("authorization", "if-none-match", "if-modified-since"),
            ]
        ),
        st.text(max_size=40) | st.sampled_from(["1.0", "0.3", "text/event-stream", "application/a2a+json", "*/*"]),
        max_size=4,
    ),
)
def test_random_headers(way: Way, headers: dict[str, str]) -> None:
    _assert_answered(way, way.body(way.params()), headers)
