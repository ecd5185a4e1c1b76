"""Push notifications on the wire (A2A 1.0.1 §4.3.3): 1.0 sends an event in its StreamResponse, 0.3 the whole task."""

from __future__ import annotations

from a2a_hub.a2a import protojson
from a2a_hub.a2a.compat.v0_3.dialect import Dialect
from a2a_hub.a2a.compat.v0_3.task import to_compat_task
from a2a_hub.a2a.envelope import wrapped
from a2a_hub.a2a.model import Event, Task
from a2a_hub.a2a.versions import Version
from a2a_hub.http.messages import A2A_JSON, JSON

TOKEN_HEADER = "x-a2a-notification-token"  # noqa: S105 - a header's name


def event_body(event: Event) -> bytes:
    """What 1.0 sends of an event."""
    return protojson.encode(wrapped(event))


def task_body(task: Task) -> bytes:
    """What 0.3 sends of a task, which is the same for both of its bindings."""
    return protojson.encode(to_compat_task(task, Dialect.JSONRPC))


def media_type(version: Version) -> str:
    """The Content-Type of a version's notifications."""
    return JSON if version is Version.V0_3 else A2A_JSON
