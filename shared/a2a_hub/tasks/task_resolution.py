"""Which task a message belongs to: the one it names, the one that waits in its context, or a new one (A2A 1.0.1 §3.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from a2a_hub.a2a.agent import Agent
from a2a_hub.a2a.call import Call, TaskInHand
from a2a_hub.a2a.errors import TASK_NOT_FOUND, UNSUPPORTED_OPERATION, A2AError, invalid_field
from a2a_hub.a2a.model import Event, Message, SendMessageRequest, Task
from a2a_hub.task_store.store import StoredTask, TaskStore, Unavailable
from a2a_hub.task_store.task_log import folded
from a2a_hub.tasks.resume_payload import read_work

Leaves = Callable[[SendMessageRequest, Call, Mapping[str, Any]], bool]
"""Whether a message is none for the task that has these notes, which waits in its context for nothing in particular."""


def in_hand(
    request: SendMessageRequest,
    call: Call,
    *,
    store: TaskStore,
    agent: Agent,
    new_id: Callable[[], str],
    starts_new_task: Leaves,
) -> tuple[SendMessageRequest, Call, StoredTask | None]:
    """The request and the call with their task, and that task where there is one: it may be worked on. Raises A2AError.

    A message with nothing but the context of a waiting task continues that task: Gemini Enterprise sends no taskId. It may leave
    one that asks for nothing, which waits on.
    """
    prior = None if agent.bypasses_task(request) else _prior(request, call, store)
    if prior is not None and not request.message.task_id and prior.task.status.message is None:
        prior = None if starts_new_task(request, call, read_work(prior.work).notes) else prior
    if prior is None:
        context_id = agent.context_of(request, call)
        # What is no message's turn, such as a command's, brings a task of its own.
        task = call.task or TaskInHand(id=new_id())
    else:
        context_id = prior.task.context_id or ""
        earlier = read_work(prior.work)
        task = TaskInHand(
            id=prior.task.id, before=prior.task, turn=earlier.turn + 1, notes=dict(earlier.notes)
        )
    message = msgspec.structs.replace(request.message, context_id=context_id, task_id=task.id)
    return msgspec.structs.replace(request, message=message), msgspec.structs.replace(call, task=task), prior


def _prior(request: SendMessageRequest, call: Call, store: TaskStore) -> StoredTask | None:
    assert call.principal is not None, "without an owner nothing is kept"
    owner, message = call.principal.subject, request.message
    if not message.task_id:
        try:
            return store.waiting(owner, message.context_id) if message.context_id else None
        except Unavailable:
            if not call.for_ui:
                raise
            # Most messages of a conversation answer no question, and a person can be shown no error.
            return None
    stored = store.get(message.task_id, owner=owner)
    if stored is None:
        raise A2AError(TASK_NOT_FOUND, metadata={"taskId": message.task_id[:200]})
    if message.context_id and message.context_id != stored.task.context_id:
        raise invalid_field("message.contextId", "is not the context of the task that message.taskId names")
    state = stored.task.status.state
    if state.terminal:
        raise A2AError(
            UNSUPPORTED_OPERATION,
            "The task has ended and takes no further message; start another one in its context",
            metadata={"taskId": stored.task.id},
        )
    return stored


def before_turn(store: TaskStore, stored: StoredTask) -> Task | None:
    """The task as it was when its client's last message came; None where that is what began it."""
    if read_work(stored.work).turn == 1:
        return None
    events = list(_log(store, stored))
    said = [place for place, event in enumerate(events) if isinstance(event, Message)]
    return folded(None, events[: said[-1]]) if said else None


def _log(store: TaskStore, stored: StoredTask) -> Iterator[Event]:
    position = 0
    while position < stored.version and (entries := store.entries(stored.task.id, after=position)):
        for entry in entries:
            position = entry.sequence
            yield entry.event
