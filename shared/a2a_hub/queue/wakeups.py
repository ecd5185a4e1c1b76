"""What it means to wake somebody: at most a hint, which may be lost, come twice, late, or out of order."""

from __future__ import annotations

import base64
from typing import Protocol
from urllib.parse import quote

import msgspec
from msgspec import Struct

WAKEUPS_PATH = "/wakeups"
"""Where a function takes them, pushed by Pub/Sub or by the hub on the same machine."""
_HUB_TOPIC = "tasks"
_TOPIC = "roleTopic"
_LONGEST_ID = 1_000


class Wakeup(Struct, frozen=True):
    """There may be something to do: this task, whose role has this topic, has become due."""

    topic: str
    task_id: str


class Wakeups(Protocol):
    """Thread-safe."""

    def publish(self, topic: str, task_id: str) -> None:
        """Tells everybody who listens to the topic, soon. Raises nothing: the sweep finds what nobody heard of."""
        ...

    def close(self) -> None:
        """Gives connections back."""
        ...


class NoWakeups:
    """Nobody is told: tasks are found by whoever looks for them."""

    def publish(self, topic: str, task_id: str) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Does nothing."""


def topic_of(role: str) -> str:
    """The name of a role's topic; the hub's own tasks have the empty role. Different roles have different topics."""
    return f"{_HUB_TOPIC}-{quote(role, safe='-_.~')}" if role else _HUB_TOPIC


class BadEnvelope(ValueError):
    """The body is no wake-up. Whoever sent it need not send it again."""


class _Message(Struct, frozen=True, rename="camel"):
    data: str = ""
    attributes: dict[str, str] = {}
    message_id: str = ""


class _Envelope(Struct, frozen=True):
    message: _Message
    subscription: str = ""


class _Data(Struct, frozen=True, rename="camel"):
    task_id: str


_envelopes = msgspec.json.Decoder(_Envelope)
_data = msgspec.json.Decoder(_Data)


def message_data(wakeup: Wakeup) -> bytes:
    """What a message carries: a JSON object, so that workers in any language can read it and more can be added."""
    return msgspec.json.encode(_Data(wakeup.task_id))


def message_attributes(wakeup: Wakeup) -> dict[str, str]:
    """What a message says about itself: a push names its subscription, but not the topic."""
    return {_TOPIC: wakeup.topic}


def read_message(data: bytes, attributes: dict[str, str]) -> Wakeup:
    """The wake-up in a message. Raises BadEnvelope."""
    try:
        task_id = _data.decode(data).task_id
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadEnvelope("the message holds no task id") from error
    if not 0 < len(task_id) <= _LONGEST_ID:
        raise BadEnvelope("the message holds no task id")
    return Wakeup(attributes.get(_TOPIC, ""), task_id)


def read_push(body: bytes) -> Wakeup:
    """The wake-up in the body of a push. Raises BadEnvelope."""
    try:
        message = _envelopes.decode(body).message
        data = base64.b64decode(message.data, validate=True)
    except (ValueError, RecursionError) as error:
        raise BadEnvelope("the body is no message of Pub/Sub") from error
    return read_message(data, message.attributes)


def push_body(wakeup: Wakeup, *, message_id: str) -> bytes:
    """The body in which Pub/Sub would push the wake-up."""
    data = base64.b64encode(message_data(wakeup)).decode()
    message = _Message(data, message_attributes(wakeup), message_id)
    return msgspec.json.encode(_Envelope(message, "local"))
