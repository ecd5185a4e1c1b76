"""Every message in `tests/wire` is read, means what it says, and is written again as it was."""

from typing import Any

import msgspec
import pytest

from a2a_hub.a2a import protojson
from a2a_hub.a2a.bindings import jsonrpc, rest
from a2a_hub.a2a.card import AgentCard
from a2a_hub.a2a.compat.v0_3.card import to_compat_card, to_core_card
from a2a_hub.a2a.compat.v0_3.codec import to_compat_send
from a2a_hub.a2a.compat.v0_3.event import to_compat_result, to_core_event
from a2a_hub.a2a.model import (
    Binding,
    SendMessageRequest,
    StreamResponse,
    TaskPushNotificationConfig,
    Version,
    text_of,
    unwrapped,
    wrapped,
)
from a2a_hub.http.messages import Request, body_of
from tests.contract.a2a.schemas import faults, faults_v0_3
from tests.contract.a2a.wire_examples import Example, examples

_DIALECTS = {"jsonrpc": Binding.JSONRPC, "rest": Binding.HTTP_JSON}
# 0.3 JSON-RPC method → its request's name in the 0.3 schema.
_DEFINITIONS = {
    "message/send": "SendMessageRequest",
    "message/stream": "SendStreamingMessageRequest",
    "tasks/get": "GetTaskRequest",
    "tasks/cancel": "CancelTaskRequest",
    "tasks/resubscribe": "TaskResubscriptionRequest",
    "tasks/pushNotificationConfig/set": "SetTaskPushNotificationConfigRequest",
    "tasks/pushNotificationConfig/get": "GetTaskPushNotificationConfigRequest",
    "tasks/pushNotificationConfig/list": "ListTaskPushNotificationConfigRequest",
    "tasks/pushNotificationConfig/delete": "DeleteTaskPushNotificationConfigRequest",
    "agent/getAuthenticatedExtendedCard": "GetAuthenticatedExtendedCardRequest",
}
# Spellings that are read and not written.
_OTHER_SPELLINGS = ("snake-case-and-numbers", "of-the-candidate")


def _spelt_as_written(example: Example) -> bool:
    return not example.about.endswith(_OTHER_SPELLINGS)


def _read(example: Example) -> msgspec.Struct:
    if example.binding == "jsonrpc":
        request = Request(method="POST", path="/", read_body=body_of(example.raw))
        exchange = jsonrpc.JsonRpcExchange(request, max_body_bytes=len(example.raw))
        _, codec = exchange.resolve()
        assert codec.version is example.version
        return exchange.read_params()
    path = "/v1/message:send" if example.version is Version.V0_3 else "/message:send"
    return rest.read_request(rest.resolve("POST", path, None), {}, example.raw)


def _params(example: Example) -> Any:
    return example.body.get("params", {}) if example.binding == "jsonrpc" else example.body


@pytest.mark.parametrize("example", examples("request", version=Version.V0_3, binding="jsonrpc"), ids=str)
def test_a_0_3_request_is_one_by_the_0_3_schema(example: Example) -> None:
    assert faults_v0_3(_DEFINITIONS[example.body["method"]], example.body) == []


@pytest.mark.parametrize("example", examples("request"), ids=str)
def test_a_request_is_read_as_a_valid_1_0_request(example: Example) -> None:
    request = _read(example)
    name = "TaskPushNotificationConfig" if isinstance(request, TaskPushNotificationConfig) else type(request).__name__
    assert faults(name, protojson.decode(protojson.encode(request))) == []


@pytest.mark.parametrize(
    ("configuration", "at_once"),
    [({}, True), ({"blocking": False}, True), ({"blocking": True}, False), (None, False)],
)
def test_over_http_json_0_3_leaves_out_that_nobody_waits(configuration: dict[str, bool] | None, at_once: bool) -> None:
    message = {"messageId": "m-1", "role": "ROLE_USER", "content": [{"text": "hi"}]}
    body = protojson.encode({"message": message, "configuration": configuration})
    request = rest.read_request(rest.resolve("POST", "/v1/message:send", None), {}, body)
    assert isinstance(request, SendMessageRequest)
    told = request.configuration
    assert (told is not None and told.return_immediately) is at_once


@pytest.mark.parametrize(
    "example",
    [each for each in examples("request", version=Version.V1_0) if _spelt_as_written(each)],
    ids=str,
)
def test_a_1_0_request_is_written_as_it_came(example: Example) -> None:
    assert protojson.decode(protojson.encode(_read(example))) == _params(example)


@pytest.mark.parametrize(
    "example",
    [
        each
        for each in examples("request", version=Version.V0_3)
        if "message" in _params(each) and _spelt_as_written(each)
    ],
    ids=str,
)
def test_a_0_3_send_is_written_as_it_came(example: Example) -> None:
    request = _read(example)
    assert isinstance(request, SendMessageRequest)
    assert _plain(to_compat_send(request, _DIALECTS[example.binding])) == _params(example)


@pytest.mark.parametrize("example", examples("result", "event", version=Version.V0_3), ids=str)
def test_a_0_3_result_is_written_as_it_came(example: Example) -> None:
    result = example.body["result"] if example.binding == "jsonrpc" else example.body
    event = unwrapped(protojson.read(StreamResponse, to_core_event(result)))
    assert _plain(to_compat_result(event, _DIALECTS[example.binding])) == result


@pytest.mark.parametrize("example", examples("result", "event", version=Version.V0_3, binding="jsonrpc"), ids=str)
def test_a_0_3_result_is_one_by_the_0_3_schema(example: Example) -> None:
    assert faults_v0_3("SendStreamingMessageSuccessResponse", example.body) == []


@pytest.mark.parametrize("example", examples("error", version=Version.V0_3), ids=str)
def test_a_0_3_error_is_one_by_the_0_3_schema(example: Example) -> None:
    assert faults_v0_3("JSONRPCErrorResponse", example.body) == []


@pytest.mark.parametrize("example", examples("result", "event", version=Version.V1_0), ids=str)
def test_a_1_0_result_is_written_as_it_came(example: Example) -> None:
    result = example.body["result"] if example.binding == "jsonrpc" else example.body
    event = unwrapped(protojson.read(StreamResponse, result))
    assert _plain(wrapped(event)) == result
    assert faults("StreamResponse", result) == []


@pytest.mark.parametrize("example", examples("card", version=Version.V0_3), ids=str)
def test_a_0_3_card_becomes_a_valid_1_0_card_that_says_the_same(example: Example) -> None:
    assert faults_v0_3("AgentCard", example.body) == []
    card = to_core_card(example.body)
    assert faults("AgentCard", _plain(card)) == []
    again = _plain(to_compat_card(card))
    assert faults_v0_3("AgentCard", again) == []
    main = {"url": example.body["url"], "transport": example.body["preferredTransport"]}
    assert again == {"additionalInterfaces": [main]} | example.body


@pytest.mark.parametrize("example", examples("card", version=Version.V1_0), ids=str)
def test_a_1_0_card_is_written_as_it_came(example: Example) -> None:
    assert faults("AgentCard", example.body) == []
    card = protojson.read(AgentCard, example.body)
    assert _plain(card) == example.body
    assert to_core_card(example.body) == card


def test_gemini_enterprises_text_is_taken_once_although_it_comes_twice() -> None:
    (example,) = (each for each in examples("request") if each.about == "gemini-enterprise-first-turn")
    request = _read(example)
    assert isinstance(request, SendMessageRequest)
    assert text_of(request.message) == "経費精算の締め切りはいつですか"
    assert request.message.context_id is None
    assert request.configuration is not None
    assert not request.configuration.return_immediately


def test_gemini_enterprises_file_arrives_without_its_marks() -> None:
    (example,) = (each for each in examples("request") if each.about == "gemini-enterprise-file")
    request = _read(example)
    assert isinstance(request, SendMessageRequest)
    assert text_of(request.message) == "Summarise this"
    (file,) = (part for part in request.message.parts if part.raw is not None)
    assert (file.filename, file.media_type) == ("travel policy.pdf", "application/pdf")


def test_the_candidates_spellings_mean_what_the_released_ones_mean() -> None:
    by_name = {each.about: _read(each) for each in examples("request", version=Version.V1_0)}
    send = by_name["send-message-of-the-candidate"]
    assert isinstance(send, SendMessageRequest)
    assert send.configuration is not None
    assert send.configuration.return_immediately
    config = send.configuration.task_push_notification_config
    assert config is not None
    assert config.url == "https://client.example.com/hook"
    create = _plain(by_name["create-push-config-of-the-candidate"])
    assert create == {"taskId": "task-1", "url": "https://client.example.com/hook"}


def _plain(value: Any) -> Any:
    return protojson.decode(protojson.encode(value))
