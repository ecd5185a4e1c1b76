"""Resolve the task of a message: the one it names, the one that waits in its context, or a new one (A2A 1.0.1 §3.4)."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import msgspec

from a2a_hub.a2a.agent import Agent
from a2a_hub.a2a.call import Call, CurrentTask
from a2a_hub.a2a.errors import TASK_NOT_FOUND, UNSUPPORTED_OPERATION, A2AError, invalid_field
from a2a_hub.a2a.model import Event, Message, SendMessageRequest, Task
from a2a_hub.task_store.store import StoredTask, TaskStore, Unavailable
from a2a_hub.task_store.task_log import apply_events
from a2a_hub.tasks.resume_payload import decode_resume_payload


class NewTaskPolicy(Protocol):
    """The decision between resuming a context's idle task (input-required without a question) and starting a new one."""

    def starts_new_task(self, request: SendMessageRequest, call: Call, notes: Mapping[str, Any]) -> bool:
        """Return True if this starts a new task instead of resuming the idle one, which has these notes."""


class AlwaysResume:
    """The policy of agents whose idle tasks take every message of their context."""

    def starts_new_task(self, _request: SendMessageRequest, _call: Call, _notes: Mapping[str, Any]) -> bool:
        """Return False."""
        return False


def resolve_task(
    request: SendMessageRequest,
    call: Call,
    *,
    store: TaskStore,
    agent: Agent,
    new_id: Callable[[], str],
    new_task_policy: NewTaskPolicy,
) -> tuple[SendMessageRequest, Call, StoredTask | None]:
    """Return the request and the call with their task, and the stored task unless it is new. Raise A2AError.

    A message that names only the context of a waiting task continues that task: Gemini Enterprise sends no taskId. The policy
    decides if it resumes a task that waits without a question; otherwise that task waits on.
    """
    prior = None if agent.bypasses_task(request) else _prior(request, call, store)
    if prior is not None and not request.message.task_id and prior.task.status.message is None:
        prior = (
            None
            if new_task_policy.starts_new_task(request, call, decode_resume_payload(prior.payload).notes)
            else prior
        )
    if prior is None:
        context_id = agent.context_of(request, call)
        # A turn without a message, such as a command's, brings its own task.
        task = call.task or CurrentTask(id=new_id())
    else:
        context_id = prior.task.context_id or ""
        earlier = decode_resume_payload(prior.payload)
        task = CurrentTask(id=prior.task.id, before=prior.task, turn=earlier.turn + 1, notes=dict(earlier.notes))
    message = msgspec.structs.replace(request.message, context_id=context_id, task_id=task.id)
    return msgspec.structs.replace(request, message=message), msgspec.structs.replace(call, task=task), prior


def _prior(request: SendMessageRequest, call: Call, store: TaskStore) -> StoredTask | None:
    assert call.principal is not None, "tasks are stored for owners only"
    owner, message = call.principal.subject, request.message
    if not message.task_id:
        try:
            return store.waiting(owner, message.context_id) if message.context_id else None
        except Unavailable:
            if not call.for_ui:
                raise
            # Most messages answer no question, and a person cannot be shown an error.
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
    """Return the task as it was when its client's last message came; None if that message started the task."""
    if decode_resume_payload(stored.payload).turn == 1:
        return None
    events = list(_log(store, stored))
    messages = [index for index, event in enumerate(events) if isinstance(event, Message)]
    return apply_events(None, events[: messages[-1]]) if messages else None


def _log(store: TaskStore, stored: StoredTask) -> Iterator[Event]:
    position = 0
    while position < stored.version and (entries := store.entries(stored.task.id, after=position)):
        for entry in entries:
            position = entry.sequence
            yield entry.event
