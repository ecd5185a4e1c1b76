"""What a receiver is sent: the request for one entry of a task's log, in the shape of the version it was registered in."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from a2a_hub.a2a.bindings.webhook import TOKEN_HEADER, event_body, media_type, task_body
from a2a_hub.a2a.fold import TaskAccumulator
from a2a_hub.a2a.model import Message, Task
from a2a_hub.a2a.versions import Version
from a2a_hub.task_store.push import PushConfig
from a2a_hub.task_store.store import Entry, TaskStore
from functions.tasks.webhooks.signing import Signer

_PAGE = 200


class Told(Struct, frozen=True, kw_only=True):
    """An entry and what is to be sent of it: nothing (None) for a message, which says nothing of the task's state."""

    sequence: int
    body: bytes | None


def told(store: TaskStore, push: PushConfig, *, after: int) -> Iterator[Told]:
    """The entries behind `after`, in order: for 1.0 a StreamResponse (A2A 1.0.1 §4.3.3), for 0.3 the whole task as it was."""
    whole = push.version is Version.V0_3
    position = 0 if whole else after
    growing: TaskAccumulator | None = None
    while page := store.entries(push.config.task_id or "", after=position, limit=_PAGE):
        for entry in page:
            position = entry.sequence
            if whole:
                growing = _grown(growing, entry)
            if position > after:
                yield Told(sequence=position, body=_body(entry, growing))


def headers(push: PushConfig, told: Told, *, signer: Signer | None) -> dict[str, str]:
    """The headers beside a body: the receiver's own authentication and token, and the signature where there is a key.

    Without an authentication of the receiver's, Authorization carries the signature too, where A2A's samples look for it.
    """
    config = push.config
    id_ = f"{config.task_id}/{config.id}/{told.sequence}"
    said = {
        "content-type": media_type(push.version),
        "a2a-version": push.version.value,
        "x-a2a-notification-id": id_,
    }
    if config.token:
        said[TOKEN_HEADER] = config.token
    if signer is not None:
        token = signer.sign(told.body or b"", audience=config.url, id_=id_, task_id=config.task_id or "")
        said |= {"x-a2a-notification-signature": token, "authorization": f"Bearer {token}"}
    if config.authentication is not None:
        scheme, credentials = config.authentication.scheme, config.authentication.credentials
        said["authorization"] = f"{scheme} {credentials}" if credentials else scheme
    return said


def _grown(growing: TaskAccumulator | None, entry: Entry) -> TaskAccumulator:
    if growing is None:
        assert isinstance(entry.event, Task), "a log begins with its task"
        return TaskAccumulator(entry.event)
    growing.add(entry.event)
    return growing


def _body(entry: Entry, growing: TaskAccumulator | None) -> bytes | None:
    if isinstance(entry.event, Message):
        return None
    return event_body(entry.event) if growing is None else task_body(growing.task)
