"""Whatever value of a type is written is valid by the schema, and is read again as the same value."""

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from a2a_hub.a2a import protojson
from a2a_hub.a2a.card import AgentCard, AgentInterface
from a2a_hub.a2a.compat.v0_3.card import to_compat_card
from a2a_hub.a2a.compat.v0_3.codec import to_compat_send
from a2a_hub.a2a.compat.v0_3.event import to_compat_result, to_compat_task_push_config
from a2a_hub.a2a.model import (
    Binding,
    Event,
    Message,
    SendMessageRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskPushNotificationConfig,
    TaskStatusUpdateEvent,
)
from tests.contract.a2a.schemas import TYPES, faults, faults_v0_3, unknown_to_proto_v0_3
from tests.unit.a2a.values import values

FEW = settings(max_examples=settings().max_examples // 2, suppress_health_check=[HealthCheck.too_slow])
EVENTS: st.SearchStrategy[Event] = st.one_of(
    values(Task), values(Message), values(TaskStatusUpdateEvent), values(TaskArtifactUpdateEvent)
)


@pytest.mark.parametrize("name", sorted(TYPES))
@FEW
@given(data=st.data())
def test_what_is_written_is_valid_by_the_schema_and_reads_back_as_it_was(name: str, data: st.DataObject) -> None:
    value: msgspec.Struct = data.draw(values(TYPES[name]))
    written = protojson.decode(protojson.encode(value))
    assert faults(name, written) == []
    assert protojson.read(TYPES[name], written) == value


@FEW
@given(event=EVENTS)
def test_every_event_in_0_3_is_valid_by_the_0_3_schema(event: Event) -> None:
    written = _plain(to_compat_result(event, Binding.JSONRPC))
    assert faults_v0_3("SendStreamingMessageSuccessResponse", {"jsonrpc": "2.0", "id": 1, "result": written}) == []


@FEW
@given(event=EVENTS)
def test_every_event_in_0_3s_http_json_has_the_fields_of_the_0_3_proto(event: Event) -> None:
    assert unknown_to_proto_v0_3("StreamResponse", _plain(to_compat_result(event, Binding.HTTP_JSON))) == []


@FEW
@given(request=values(SendMessageRequest))
def test_every_send_in_0_3s_http_json_has_the_fields_of_the_0_3_proto(request: SendMessageRequest) -> None:
    assert unknown_to_proto_v0_3("SendMessageRequest", _plain(to_compat_send(request, Binding.HTTP_JSON))) == []


@FEW
@given(request=values(SendMessageRequest))
def test_every_send_in_0_3_is_valid_by_the_0_3_schema(request: SendMessageRequest) -> None:
    assert faults_v0_3("MessageSendParams", _plain(to_compat_send(request, Binding.JSONRPC))) == []


@FEW
@given(config=values(TaskPushNotificationConfig))
def test_every_push_config_in_0_3_is_valid_by_the_0_3_schema(config: TaskPushNotificationConfig) -> None:
    written = _plain(to_compat_task_push_config(config, Binding.JSONRPC))
    assert faults_v0_3("TaskPushNotificationConfig", written) == []


@FEW
@given(card=values(AgentCard))
def test_every_card_in_0_3_is_valid_by_the_0_3_schema(card: AgentCard) -> None:
    old = AgentInterface(url="https://a.example.com", protocol_binding="JSONRPC", protocol_version="0.3")
    card = msgspec.structs.replace(card, supported_interfaces=(*card.supported_interfaces, old))
    assert faults_v0_3("AgentCard", _plain(to_compat_card(card))) == []


def _plain(value: object) -> object:
    return protojson.decode(protojson.encode(value))
