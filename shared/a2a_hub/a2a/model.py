"""The data model of A2A 1.0.1 (§4.1-§4.3 and the request objects of §3.2): the values inside the hub, in all versions.

Field names are the proto's, in snake_case; on the wire they are camelCase. An optional field that is absent is None.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, ClassVar

import msgspec
from msgspec import UNSET, Struct, UnsetType

__all__ = [
    "Artifact",
    "Binding",
    "Event",
    "Message",
    "Part",
    "Role",
    "SendMessageConfiguration",
    "SendMessageRequest",
    "Task",
    "TaskArtifactUpdateEvent",
    "TaskState",
    "TaskStatus",
    "TaskStatusUpdateEvent",
    "Version",
    "text_of",
]

# Gemini Enterprise wraps uploaded files in text parts of this form. No "<" in between: the search stays linear.
_FILE_MARK = r"<(?:start|end)_of_user_uploaded_file: [^<>]*>"
_CONTROL = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
_USER_LABEL = "user: "
_LABELS = (_USER_LABEL, "system: ", "developer: ", "assistant: ", "tool: ")
_LABEL = "^(?:" + "|".join(_LABELS) + ")"
_MAX_JSON_CHARACTERS = 4000
_SCHEMES_WITHOUT_PLACE = ("javascript:", "data:", "vbscript:")


class Wire(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Base of everything on the wire: camelCase names, absent fields left out (§5.5, §5.7). Exactly one of `one_of` is set."""

    one_of: ClassVar[tuple[str, ...]] = ()


class Binding(StrEnum):
    """§5.1: the protocol's bindings, as far as they are spoken here, by the names that a card has for them."""

    JSONRPC = "JSONRPC"
    HTTP_JSON = "HTTP+JSON"


class Version(StrEnum):
    """The supported versions of the protocol, oldest first. Patch numbers never count (§3.6)."""

    V0_3 = "0.3"
    V1_0 = "1.0"


class TaskState(StrEnum):
    """§4.1.3."""

    UNSPECIFIED = "TASK_STATE_UNSPECIFIED"
    SUBMITTED = "TASK_STATE_SUBMITTED"
    WORKING = "TASK_STATE_WORKING"
    COMPLETED = "TASK_STATE_COMPLETED"
    FAILED = "TASK_STATE_FAILED"
    CANCELED = "TASK_STATE_CANCELED"
    INPUT_REQUIRED = "TASK_STATE_INPUT_REQUIRED"
    REJECTED = "TASK_STATE_REJECTED"
    AUTH_REQUIRED = "TASK_STATE_AUTH_REQUIRED"

    @property
    def terminal(self) -> bool:
        """True if nothing can follow this state."""
        return self in _TERMINAL

    @property
    def interrupted(self) -> bool:
        """True if the task waits for its client."""
        return self in _INTERRUPTED

    @property
    def settled(self) -> bool:
        """True if a turn ends with this state: it is terminal or interrupted."""
        return self in _SETTLED


_TERMINAL = frozenset({TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELED, TaskState.REJECTED})
_INTERRUPTED = frozenset({TaskState.INPUT_REQUIRED, TaskState.AUTH_REQUIRED})
_SETTLED = _TERMINAL | _INTERRUPTED


class Role(StrEnum):
    """§4.1.5."""

    UNSPECIFIED = "ROLE_UNSPECIFIED"
    USER = "ROLE_USER"
    AGENT = "ROLE_AGENT"


class Part(Wire, frozen=True, kw_only=True):
    """§4.1.6. `raw` is base64; `data` may be any JSON value, null included."""

    one_of = ("text", "raw", "url", "data")
    text: str | None = None
    raw: str | None = None
    url: str | None = None
    data: Any | UnsetType = UNSET
    metadata: dict[str, Any] | None = None
    filename: str | None = None
    media_type: str | None = None


class Message(Wire, frozen=True, kw_only=True):
    """§4.1.4: one turn."""

    message_id: str
    role: Role
    parts: tuple[Part, ...]
    context_id: str | None = None
    task_id: str | None = None
    metadata: dict[str, Any] | None = None
    extensions: tuple[str, ...] = ()
    reference_task_ids: tuple[str, ...] = ()


class TaskStatus(Wire, frozen=True, kw_only=True):
    """§4.1.2; `timestamp` is RFC 3339 in UTC with milliseconds (§5.6.1)."""

    state: TaskState
    message: Message | None = None
    timestamp: str | None = None


class Artifact(Wire, frozen=True, kw_only=True):
    """§4.1.7: an output of a task."""

    artifact_id: str
    parts: tuple[Part, ...]
    name: str | None = None
    description: str | None = None
    metadata: dict[str, Any] | None = None
    extensions: tuple[str, ...] = ()


class Task(Wire, frozen=True, kw_only=True):
    """§4.1.1."""

    id: str
    status: TaskStatus
    context_id: str | None = None
    artifacts: tuple[Artifact, ...] = ()
    history: tuple[Message, ...] = ()
    metadata: dict[str, Any] | None = None


class TaskStatusUpdateEvent(Wire, frozen=True, kw_only=True):
    """§4.2.1."""

    task_id: str
    context_id: str
    status: TaskStatus
    metadata: dict[str, Any] | None = None


class TaskArtifactUpdateEvent(Wire, frozen=True, kw_only=True):
    """§4.2.2."""

    task_id: str
    context_id: str
    artifact: Artifact
    append: bool = False
    last_chunk: bool = False
    metadata: dict[str, Any] | None = None


Event = Task | Message | TaskStatusUpdateEvent | TaskArtifactUpdateEvent


class StreamResponse(Wire, frozen=True, kw_only=True):
    """§3.2.3: one event of a stream."""

    one_of = ("task", "message", "status_update", "artifact_update")
    task: Task | None = None
    message: Message | None = None
    status_update: TaskStatusUpdateEvent | None = None
    artifact_update: TaskArtifactUpdateEvent | None = None


class SendMessageResponse(Wire, frozen=True, kw_only=True):
    """§3.1.1: the answer to SendMessage."""

    one_of = ("task", "message")
    task: Task | None = None
    message: Message | None = None


class AuthenticationInfo(Wire, frozen=True, kw_only=True):
    """§4.3.2."""

    scheme: str
    credentials: str | None = None


class TaskPushNotificationConfig(Wire, frozen=True, kw_only=True):
    """§4.3.1: where and how to notify; `task_id` may be empty inside a send configuration."""

    url: str
    tenant: str | None = None
    id: str | None = None
    task_id: str | None = None
    token: str | None = None
    authentication: AuthenticationInfo | None = None


class NestedPushConfig(TaskPushNotificationConfig, frozen=True, kw_only=True):
    """A config that was sent nested, as in 1.0's release candidate, and is answered so."""

    @property
    def nested(self) -> dict[str, Any]:
        """The config in the candidate's form."""
        named = {"tenant": self.tenant} if self.tenant else {}
        inner = msgspec.structs.replace(self, tenant=None, task_id=None)
        return {**named, "taskId": self.task_id, "pushNotificationConfig": inner}


class SendMessageConfiguration(Wire, frozen=True, kw_only=True):
    """§3.2.2. `history_length`: None = the server's default, 0 = none (§3.2.4). `accepted_output_modes`: () = text alone."""

    accepted_output_modes: tuple[str, ...] | None = None
    task_push_notification_config: TaskPushNotificationConfig | None = None
    history_length: int | None = None
    return_immediately: bool = False


class SendMessageRequest(Wire, frozen=True, kw_only=True):
    """§3.2.1."""

    message: Message
    tenant: str | None = None
    configuration: SendMessageConfiguration | None = None
    metadata: dict[str, Any] | None = None


class GetTaskRequest(Wire, frozen=True, kw_only=True):
    """§3.1.3."""

    id: str
    tenant: str | None = None
    history_length: int | None = None


class ListTasksRequest(Wire, frozen=True, kw_only=True):
    """§3.1.4."""

    tenant: str | None = None
    context_id: str | None = None
    status: TaskState | None = None
    page_size: int | None = None
    page_token: str | None = None
    history_length: int | None = None
    status_timestamp_after: str | None = None
    include_artifacts: bool | None = None


class ListTasksResponse(Wire, frozen=True, kw_only=True):
    """§3.1.4; every field is always present, `next_page_token` is "" on the last page."""

    tasks: tuple[Task, ...]
    next_page_token: str
    page_size: int
    total_size: int


class CancelTaskRequest(Wire, frozen=True, kw_only=True):
    """§3.1.5."""

    id: str
    tenant: str | None = None
    metadata: dict[str, Any] | None = None


class SubscribeToTaskRequest(Wire, frozen=True, kw_only=True):
    """§3.1.6."""

    id: str
    tenant: str | None = None


class GetTaskPushNotificationConfigRequest(Wire, frozen=True, kw_only=True):
    """§3.1.8."""

    task_id: str
    id: str
    tenant: str | None = None


class DeleteTaskPushNotificationConfigRequest(Wire, frozen=True, kw_only=True):
    """§3.1.10."""

    task_id: str
    id: str
    tenant: str | None = None


class ListTaskPushNotificationConfigsRequest(Wire, frozen=True, kw_only=True):
    """§3.1.9."""

    task_id: str
    tenant: str | None = None
    page_size: int | None = None
    page_token: str | None = None


class ListTaskPushNotificationConfigsResponse(Wire, frozen=True, kw_only=True):
    """§3.1.9."""

    configs: tuple[TaskPushNotificationConfig, ...] = ()
    next_page_token: str | None = None


class GetExtendedAgentCardRequest(Wire, frozen=True, kw_only=True):
    """§3.1.11."""

    tenant: str | None = None


def wrapped(value: Event | Struct) -> Struct:
    """Return an event in its StreamResponse, anything else (a list of tasks, a card) as it is."""
    match value:
        case Message():
            return StreamResponse(message=value)
        case Task():
            return StreamResponse(task=value)
        case TaskStatusUpdateEvent():
            return StreamResponse(status_update=value)
        case TaskArtifactUpdateEvent():
            return StreamResponse(artifact_update=value)
        case _:
            return value


def unwrapped(response: StreamResponse) -> Event:
    """Return the one event in a StreamResponse."""
    event = response.task or response.message or response.status_update or response.artifact_update
    assert event is not None, "protojson.read has checked that exactly one member is set"
    return event


def may_end_turn(event: Event) -> bool:
    """Return True for a message, and for a task or an update whose state settles it."""
    if isinstance(event, TaskArtifactUpdateEvent):
        return False
    return isinstance(event, Message) or event.status.state.settled


def text_of(message: Message) -> str:
    """Return the canonical text: the text parts, repeated ones once, without control characters and marks of uploaded files; of
    a chat that a client has written into one text, the user's last turn.
    """
    texts: dict[str, None] = {}
    for part in message.parts:
        if part.text is not None:
            cleaned = _cleaned(part.text)
            if cleaned:
                texts[cleaned] = None
    text = "\n".join(texts)
    return _last_turn(text) if message.role is Role.USER and text.startswith(_LABELS) else text


def _last_turn(chat: str) -> str:
    """Return what the user says after all others, without the label; the whole chat if another speaks last.

    LiteLLM's provider for chat completions sends `system: …`, `user: …` and `assistant: …`, one turn below the other.
    """
    start = None
    for label in re.finditer(_LABEL, chat, re.MULTILINE):
        if label[0] != _USER_LABEL:
            start = None
        elif start is None:
            start = label.end()
    return chat if start is None else chat[start:].strip()


def _cleaned(text: str) -> str:
    if not text.isprintable():
        text = re.sub(_CONTROL, "", text)
    if "<" in text:
        text = re.sub(_FILE_MARK, "", text)
    return text.strip()


def files_of(message: Message) -> tuple[Part, ...]:
    """Return the parts that are files."""
    return tuple(part for part in message.parts if part.raw is not None or part.url is not None)


def file_text(file: Part) -> str:
    """Return the text that stands for a file in text-only output: its name, and its address if that leads to a place."""
    if file.url is not None and not file.url.strip().lower().startswith(_SCHEMES_WITHOUT_PLACE):
        return f"{file.filename or 'file'}: {file.url}"
    return f"[{file.filename or file.media_type or 'file'}]"


def data_as_text(values: Iterable[Any]) -> str:
    """Return data without a text of its own as JSON, up to a length that people read."""
    written = (msgspec.json.format(msgspec.json.encode(value), indent=2).decode() for value in values)
    return "\n".join(written)[:_MAX_JSON_CHARACTERS]
