"""The JSON-RPC envelope (jsonrpc.org/specification): ids come back as they came, and nothing but a request is taken."""

import json
from typing import Any

import pytest

from tests.contract.a2a.served import WAYS, Way, answer_of, error_of, served

JSONRPC = [way for way in WAYS if not way.rest]
V0_3_STREAM = next(way for way in JSONRPC if way.version == "0.3" and way.streaming)
PLAIN = next(way for way in JSONRPC if way.version == "1.0" and not way.streaming)

IDS = ["a", "", "日本語", "a\u0000b", "x" * 100_000, 0, 1, -1, 2**53 + 1, 2**70, 1.5, -0.25, None]


@pytest.mark.parametrize("id_", IDS, ids=lambda id_: repr(id_)[:20])
@pytest.mark.parametrize("way", JSONRPC, ids=str)
def test_an_id_comes_back_as_it_came(way: Way, id_: Any) -> None:
    answer = answer_of(served().send("POST", "/", way.body(way.params(), id_)))
    for response in answer if way.streaming else [answer]:
        assert "result" in response
        assert response["id"] == id_
        assert type(response["id"]) is type(id_)


@pytest.mark.parametrize("id_", IDS, ids=lambda id_: repr(id_)[:20])
@pytest.mark.parametrize("way", JSONRPC, ids=str)
def test_an_id_comes_back_with_an_error(way: Way, id_: Any) -> None:
    assert error_of(way, served().send("POST", "/", way.body({}, id_)))[2] == id_


@pytest.mark.parametrize("id_", [True, False, [], ["a"], {}, {"a": 1}], ids=repr)
def test_an_id_of_another_type_is_refused(id_: Any) -> None:
    _, error, given = error_of(PLAIN, served().send("POST", "/", PLAIN.body(PLAIN.params(), id_)))
    assert (error["code"], given) == (-32600, None)
    assert "id" in error["message"]


def test_a_request_without_an_id_is_answered_with_a_null_one() -> None:
    body = PLAIN.body(PLAIN.params())
    del body["id"]
    answer = answer_of(served().send("POST", "/", body))
    assert answer["id"] is None
    assert "result" in answer


@pytest.mark.parametrize("value", [[], [{}], [PLAIN.body(PLAIN.params())]], ids=repr)
def test_a_batch_is_refused(value: Any) -> None:
    _, error, id_ = error_of(PLAIN, served().send("POST", "/", value))
    assert (error["code"], id_) == (-32600, None)
    assert "Batch" in error["message"]


@pytest.mark.parametrize("value", ["hello", 5, 1.5, True, None], ids=repr)
def test_a_body_that_is_no_object_is_refused(value: Any) -> None:
    _, error, id_ = error_of(PLAIN, served().send("POST", "/", value))
    assert (error["code"], id_) == (-32600, None)


@pytest.mark.parametrize("version", [..., None, "1.0", "2", 2.0, 2, ["2.0"], ""], ids=repr)
def test_another_jsonrpc_version_is_refused(version: Any) -> None:
    body = PLAIN.body(PLAIN.params()) | {"jsonrpc": version}
    if version is ...:
        del body["jsonrpc"]
    _, error, id_ = error_of(PLAIN, served().send("POST", "/", body))
    assert (error["code"], id_) == (-32600, "r-1")
    assert "jsonrpc" in error["message"]


@pytest.mark.parametrize("method", [..., None, 5, [], {}], ids=repr)
def test_a_method_that_is_no_string_is_refused(method: Any) -> None:
    body = PLAIN.body(PLAIN.params()) | {"method": method}
    if method is ...:
        del body["method"]
    _, error, id_ = error_of(PLAIN, served().send("POST", "/", body))
    assert (error["code"], id_) == (-32600, "r-1")
    assert "method" in error["message"]


@pytest.mark.parametrize(
    "method",
    [
        "",
        "x",
        "sendMessage",
        "SendMessage ",
        "message/Send",
        "rpc.discover",
        "tasks/list",
        "__class__",
        "\u0000",
    ],
)
def test_an_unknown_method_is_not_found(method: str) -> None:
    _, error, id_ = error_of(PLAIN, served().send("POST", "/", PLAIN.body({}) | {"method": method}))
    assert (error["code"], id_) == (-32601, "r-1")


@pytest.mark.parametrize("path", ["/", ""])
@pytest.mark.parametrize("way", JSONRPC, ids=str)
def test_the_endpoint_is_the_root_with_or_without_its_slash(way: Way, path: str) -> None:
    assert served().send("POST", path, way.body(way.params())).status == 200


@pytest.mark.parametrize(
    "body",
    [
        V0_3_STREAM.body({}),
        V0_3_STREAM.body({"message": 5}),
        V0_3_STREAM.body([]),
        V0_3_STREAM.body(V0_3_STREAM.params()) | {"method": "tasks/resubscribe", "params": {"id": "t"}},
        V0_3_STREAM.body({"message": V0_3_STREAM.params()["message"] | {"taskId": "t"}}),
    ],
    ids=["no message", "message of a wrong type", "params of a wrong type", "resubscribe", "unknown task"],
)
def test_gemini_enterprise_gets_errors_of_a_stream_as_an_event_with_status_200(body: Any) -> None:
    response = served().send("POST", "/", body)
    assert response.status == 200
    assert response.headers["content-type"] == "text/event-stream"
    assert error_of(V0_3_STREAM, response)[2] == "r-1"


def test_a_version_that_contradicts_a_0_3_stream_is_an_event_too() -> None:
    body = V0_3_STREAM.body(V0_3_STREAM.params())
    for version in ("1.0", "9.9"):
        response = served().send("POST", "/", body, a2a_version=version)
        assert response.headers["content-type"] == "text/event-stream"
        assert error_of(V0_3_STREAM, response)[1]["code"] == -32009


@pytest.mark.parametrize("way", [way for way in JSONRPC if not way.streaming], ids=str)
def test_a_text_without_a_message_stands_in_for_it(way: Way) -> None:
    answer = answer_of(served().send("POST", "/", way.body({"text": "hello"})))
    assert "hello" in json.dumps(answer["result"])
