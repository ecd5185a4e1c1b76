"""Wake-ups: hints that may be lost, duplicated, late or out of order, in the envelope of a Pub/Sub push.

The envelope is that of cloud.google.com/pubsub/docs/push.
"""

import base64
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Protocol
from urllib.parse import quote

import msgspec
from msgspec import Meta, Struct

WAKEUPS_PATH = "/wakeups"
"""The path that Pub/Sub, or the hub on the same machine, pushes wake-ups to."""
WEBHOOKS_TOPIC, SWEEPS_TOPIC = "webhooks", "sweeps"
"""The topics of tasks with notifications to send, and of sweeps, whose wake-ups name no task."""
_HUB_TOPIC = "tasks"
_TOPIC = "roleTopic"
_LONGEST_ID = 1_000


class Wakeup(Struct, frozen=True):
    """The hint that this task, whose role has this topic, is due."""

    topic: str
    task_id: str


class TaskEvent(StrEnum):
    """The events of a task for workers, as transports name them that keep a record."""

    AVAILABLE = "task.available"
    ASSIGNED = "task.assigned"
    COMPLETED = "task.completed"
    FAILED = "task.failed"
    CANCELLED = "task.cancelled"


class Wakeups(Protocol):
    """The publisher of wake-ups. Thread-safe."""

    def publish(self, topic: str, task_id: str, *, due_at: float | None = None) -> None:
        """Wake the subscribers of the topic soon, or not before `due_at`, in seconds since the epoch.

        Raise nothing: a sweep finds tasks whose wake-up is lost.
        """

    def record(self, event: TaskEvent, topic: str, task_id: str, content: Callable[[], bytes] | None = None) -> None:
        """Record an event of a role's task with a hash of its content, if the transport keeps a record. Raises nothing."""
        return

    def close(self) -> None:
        """Close the connections, if there are any."""
        return


class NoWakeups(Wakeups):
    """The publisher for deployments without wake-ups: sweeps find the tasks."""

    def publish(self, topic: str, task_id: str, *, due_at: float | None = None) -> None:
        """Do nothing."""


def topic_of(role: str) -> str:
    """Return the name of a role's topic, which is unique; the hub's own tasks have the empty role."""
    return f"{_HUB_TOPIC}-{quote(role, safe='-_.~')}" if role else _HUB_TOPIC


class BadEnvelope(ValueError):
    """The error of a body that is not a wake-up; sending it again is pointless."""


class _Message(Struct, frozen=True, rename="camel"):
    data: str = ""
    attributes: dict[str, str] = {}
    message_id: str = ""


class _Envelope(Struct, frozen=True):
    message: _Message
    subscription: str = ""


class _Data(Struct, frozen=True, rename="camel"):
    task_id: Annotated[str, Meta(min_length=1, max_length=_LONGEST_ID)]


_envelopes = msgspec.json.Decoder(_Envelope)
_data = msgspec.json.Decoder(_Data)


def message_data(wakeup: Wakeup) -> bytes:
    """Return the data of a message: a JSON object, readable in any language and open to more members."""
    return msgspec.json.encode(_Data(wakeup.task_id))


def message_attributes(wakeup: Wakeup) -> dict[str, str]:
    """Return the attributes of a message: the topic, which a push does not name."""
    return {_TOPIC: wakeup.topic}


def read_message(data: bytes, attributes: dict[str, str]) -> Wakeup:
    """Return the wake-up in a message. Raise BadEnvelope."""
    try:
        task_id = _data.decode(data).task_id
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadEnvelope("the message holds no task id") from error
    return Wakeup(attributes.get(_TOPIC, ""), task_id)


def read_push(body: bytes) -> Wakeup:
    """Return the wake-up in the body of a push. Raise BadEnvelope."""
    try:
        message = _envelopes.decode(body).message
        data = base64.b64decode(message.data, validate=True)
    except (ValueError, RecursionError) as error:
        raise BadEnvelope("the body is no message of Pub/Sub") from error
    return read_message(data, message.attributes)


def push_body(wakeup: Wakeup, *, message_id: str) -> bytes:
    """Return the body of a push of the wake-up, as Pub/Sub sends it; other transports send the same."""
    data = base64.b64encode(message_data(wakeup)).decode()
    message = _Message(data, message_attributes(wakeup), message_id)
    return msgspec.json.encode(_Envelope(message, "local"))
