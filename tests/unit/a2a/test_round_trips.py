"""0.3 → 1.0 → 0.3 loses nothing, in both dialects; 1.0 → 0.3 → 1.0 loses what is listed here, and nothing else."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from a2a_hub.a2a import protojson
from a2a_hub.a2a.card import AgentCard, AgentInterface
from a2a_hub.a2a.compat.v0_3.card import to_compat_card, to_core_card
from a2a_hub.a2a.compat.v0_3.codec import to_compat_send, to_core_send
from a2a_hub.a2a.compat.v0_3.event import (
    to_compat_artifact,
    to_compat_result,
    to_compat_status,
    to_compat_task,
    to_compat_task_push_config,
    to_core_artifact,
    to_core_event,
    to_core_status,
    to_core_task,
    to_core_task_push_config,
)
from a2a_hub.a2a.compat.v0_3.message import to_compat_message, to_compat_part, to_core_message, to_core_part
from a2a_hub.a2a.model import (
    Artifact,
    Binding,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    StreamResponse,
    Task,
    TaskArtifactUpdateEvent,
    TaskPushNotificationConfig,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
    unwrapped,
)
from tests.unit.a2a import values_v0_3
from tests.unit.a2a.values import values

FEW = settings(max_examples=settings().max_examples // 2, suppress_health_check=[HealthCheck.too_slow])
DIALECTS = pytest.mark.parametrize("dialect", list(Binding))

# What → strategy of 0.3 JSON, the 1.0 type, the way there and the way back.
Way = tuple[Callable[[Binding], st.SearchStrategy[Any]], type[msgspec.Struct], Callable[..., Any], Callable[..., Any]]
WAYS: dict[str, Way] = {
    "part": (values_v0_3.parts, Part, to_core_part, to_compat_part),
    "message": (values_v0_3.messages, Message, to_core_message, to_compat_message),
    "status": (values_v0_3.statuses, TaskStatus, to_core_status, to_compat_status),
    "artifact": (values_v0_3.artifacts, Artifact, to_core_artifact, to_compat_artifact),
    "task": (values_v0_3.tasks, Task, to_core_task, to_compat_task),
    "push config": (
        values_v0_3.push_configs,
        TaskPushNotificationConfig,
        to_core_task_push_config,
        to_compat_task_push_config,
    ),
}


@DIALECTS
@pytest.mark.parametrize("what", WAYS)
@FEW
@given(data=st.data())
def test_0_3_comes_back_from_1_0_unchanged(what: str, dialect: Binding, data: st.DataObject) -> None:
    strategy, type_, to_core, to_compat = WAYS[what]
    old = data.draw(strategy(dialect))
    new = protojson.read(type_, to_core(old, "here"))
    assert _plain(to_compat(new, dialect)) == old


@DIALECTS
@FEW
@given(data=st.data())
def test_a_0_3_event_comes_back_from_1_0_unchanged(dialect: Binding, data: st.DataObject) -> None:
    old = data.draw(values_v0_3.events(dialect))
    new = unwrapped(protojson.read(StreamResponse, to_core_event(old)))
    assert _plain(to_compat_result(new, dialect)) == old


@DIALECTS
@FEW
@given(data=st.data())
def test_a_0_3_send_comes_back_from_1_0_unchanged(dialect: Binding, data: st.DataObject) -> None:
    old = data.draw(values_v0_3.sends(dialect))
    new = protojson.read(SendMessageRequest, to_core_send(old))
    assert _plain(to_compat_send(new, dialect)) == old


@FEW
@given(old=values_v0_3.cards())
def test_a_0_3_card_comes_back_from_1_0_unchanged(old: dict[str, Any]) -> None:
    assert _plain(to_compat_card(to_core_card(old))) == old


_HELLO = Part(text="hello")
_MESSAGE = Message(message_id="m", role=Role.USER, parts=(_HELLO,))
_JSONRPC, _REST = Binding.JSONRPC, Binding.HTTP_JSON
_PUSH = TaskPushNotificationConfig(url="https://client.example.com", task_id="t")

# What 0.3 has no place for: a value that loses it on the way there and back, in which dialects, and why.
LOST: dict[str, tuple[msgspec.Struct, tuple[Binding, ...], str]] = {
    "a text's media type": (
        replace(_HELLO, media_type="text/markdown"),
        (_JSONRPC, _REST),
        "0.3 has one for files only",
    ),
    "a text's file name": (
        replace(_HELLO, filename="a.txt"),
        (_JSONRPC, _REST),
        "0.3 has one for files only",
    ),
    "a data part's media type": (
        Part(data={}, media_type="application/json"),
        (_JSONRPC, _REST),
        "0.3 has one for files only",
    ),
    "empty metadata of data that is no object": (
        Part(data=[1], metadata={}),
        (_JSONRPC, _REST),
        "the mark of the wrapped value takes its place and goes",
    ),
    "a file that holds base64": (
        Part(raw="Ly8vLw=="),
        (_REST,),
        "official SDKs write base64 of base64 there, and one of the two is taken off",
    ),
    "an unspecified role": (
        replace(_MESSAGE, role=Role.UNSPECIFIED),
        (_JSONRPC, _REST),
        "0.3 has none, and only agents leave it out",
    ),
    "referenced tasks": (
        replace(_MESSAGE, reference_task_ids=("t",)),
        (_REST,),
        "0.3's proto has no such field",
    ),
    "a task's empty contextId": (
        Task(id="t", context_id="", status=TaskStatus(state=TaskState.WORKING)),
        (_JSONRPC, _REST),
        "0.3 requires one, so that empty means absent",
    ),
    "a tenant": (
        SendMessageRequest(message=_MESSAGE, tenant="acme"),
        (_JSONRPC, _REST),
        "0.3 has none",
    ),
    "asking for no history": (
        SendMessageRequest(message=_MESSAGE, configuration=SendMessageConfiguration(history_length=0)),
        (_JSONRPC, _REST),
        "0 means all in 0.3",
    ),
    "the task of a send's push config": (
        SendMessageRequest(
            message=_MESSAGE, configuration=SendMessageConfiguration(task_push_notification_config=_PUSH)
        ),
        (_JSONRPC, _REST),
        "in 0.3 it is the task that the message makes",
    ),
}


@DIALECTS
@pytest.mark.parametrize("what", LOST)
def test_what_is_listed_as_lost_is_lost_there_and_only_there(what: str, dialect: Binding) -> None:
    value, dialects, _why = LOST[what]
    assert (_there_and_back(value, dialect) != value) == (dialect in dialects)


def _there_and_back(value: msgspec.Struct, dialect: Binding) -> msgspec.Struct:
    match value:
        case Part():
            return protojson.read(Part, to_core_part(_plain(to_compat_part(value, dialect)), "here"))
        case SendMessageRequest():
            return protojson.read(SendMessageRequest, to_core_send(_plain(to_compat_send(value, dialect))))
        case Task() | Message():
            core = to_core_event(_plain(to_compat_result(value, dialect)))
            return unwrapped(protojson.read(StreamResponse, core))
        case _:
            raise AssertionError(value)


@DIALECTS
@FEW
@given(task=values(Task))
def test_a_1_0_task_comes_back_from_0_3_but_for_what_is_listed(dialect: Binding, task: Task) -> None:
    core = protojson.read(Task, to_core_task(_plain(to_compat_task(task, dialect)), "here"))
    assert core == _task_without_lost(task, dialect)


@DIALECTS
@FEW
@given(event=st.one_of(values(Message), values(TaskStatusUpdateEvent), values(TaskArtifactUpdateEvent)))
def test_a_1_0_event_comes_back_from_0_3_but_for_what_is_listed(
    dialect: Binding, event: Message | TaskStatusUpdateEvent | TaskArtifactUpdateEvent
) -> None:
    core = unwrapped(protojson.read(StreamResponse, to_core_event(_plain(to_compat_result(event, dialect)))))
    match event:
        case Message():
            expected: msgspec.Struct = _message_without_lost(event, dialect)
        case TaskStatusUpdateEvent():
            expected = replace(event, status=_status_without_lost(event.status, dialect))
        case _:
            expected = replace(event, artifact=_artifact_without_lost(event.artifact))
    assert core == expected


@DIALECTS
@FEW
@given(request=values(SendMessageRequest))
def test_a_1_0_send_comes_back_from_0_3_but_for_what_is_listed(dialect: Binding, request: SendMessageRequest) -> None:
    core = protojson.read(SendMessageRequest, to_core_send(_plain(to_compat_send(request, dialect))))
    configuration = request.configuration
    if configuration is not None:
        push = configuration.task_push_notification_config
        if push is not None:
            push = replace(push, tenant=None, task_id=None)
        configuration = replace(
            configuration,
            history_length=configuration.history_length or None,
            task_push_notification_config=push,
        )
    message = _message_without_lost(request.message, dialect)
    assert core == replace(request, tenant=None, message=message, configuration=configuration)


@FEW
@given(card=values(AgentCard))
def test_a_1_0_card_keeps_in_0_3_what_0_3_has_a_place_for(card: AgentCard) -> None:
    old = AgentInterface(url="https://a.example.com", protocol_binding="JSONRPC", protocol_version="0.3")
    core = to_core_card(_plain(to_compat_card(replace(card, supported_interfaces=(old,)))))
    alike = (
        *("name", "description", "version", "provider", "documentation_url", "icon_url", "capabilities"),
        *("default_input_modes", "default_output_modes", "skills", "security_requirements"),
    )
    assert {name: getattr(core, name) for name in alike} == {name: getattr(card, name) for name in alike}
    assert core.supported_interfaces == (old,)
    assert (core.security_schemes or {}).keys() == (card.security_schemes or {}).keys()


def _part_without_lost(part: Part) -> Part:
    if part.text is None and part.data is UNSET:
        return part
    if part.data is not UNSET and not isinstance(part.data, dict):
        part = replace(part, metadata=part.metadata or None)
    return replace(part, filename=None, media_type=None)


def _message_without_lost(message: Message, dialect: Binding) -> Message:
    return replace(
        message,
        role=Role.AGENT if message.role is Role.UNSPECIFIED else message.role,
        parts=tuple(_part_without_lost(part) for part in message.parts),
        reference_task_ids=() if dialect is Binding.HTTP_JSON else message.reference_task_ids,
    )


def _status_without_lost(status: TaskStatus, dialect: Binding) -> TaskStatus:
    message = None if status.message is None else _message_without_lost(status.message, dialect)
    return replace(status, message=message)


def _artifact_without_lost(artifact: Artifact) -> Artifact:
    return replace(artifact, parts=tuple(_part_without_lost(part) for part in artifact.parts))


def _task_without_lost(task: Task, dialect: Binding) -> Task:
    return replace(
        task,
        context_id=task.context_id or None,
        status=_status_without_lost(task.status, dialect),
        artifacts=tuple(_artifact_without_lost(artifact) for artifact in task.artifacts),
        history=tuple(_message_without_lost(message, dialect) for message in task.history),
    )


def _plain(value: object) -> Any:
    return protojson.decode(protojson.encode(value))
