"""Resolve the task of a message: the one it names, the one that waits in its context, or a new one (A2A 1.0.1 §3.4)."""

from collections.abc import Iterator

import msgspec

from a2a_hub.a2a.call import Call, CurrentTask
from a2a_hub.a2a.errors import TASK_NOT_FOUND, UNSUPPORTED_OPERATION, A2AError, invalid_field
from a2a_hub.a2a.model import Event, Message, SendMessageRequest, Task, TaskState
from a2a_hub.a2a.version_table import CODECS
from a2a_hub.task_store.store import StoredTask, TaskStore, Unavailable
from a2a_hub.task_store.task_log import apply_events
from a2a_hub.tasks.resume_payload import decode_resume_payload
from a2a_hub.tasks.turn_dependencies import TurnDependencies

CONTINUES_WITH = "continuesWith"
"""The note of the extension with which a completed task is continued by its id."""


def resolve_task(
    request: SendMessageRequest, call: Call, deps: TurnDependencies
) -> tuple[SendMessageRequest, Call, StoredTask | None]:
    """Return the request and the call with their task, and the stored task unless it is new. Raise A2AError.

    A message that names only the context of a waiting task continues that task: Gemini Enterprise sends no taskId. One that names
    a completed task continues it with the extension that its notes name (CONTINUES_WITH). The agent decides if it resumes a task
    that waits without a question; otherwise that task waits on. A user interface may name a task that takes no message
    (`refuses_task_without_question`): then only its context counts.
    """
    agent = deps.agent
    bypasses = agent.bypasses_task(request, call)
    prior = None
    if not bypasses:
        request, prior = _with_prior(request, call, deps.store)
    if prior is not None and not request.message.task_id and prior.task.status.message is None:
        notes = decode_resume_payload(prior.payload).notes
        prior = None if agent.starts_new_task(request, call, notes) else prior
    if prior is None:
        # A command sees that it begins a conversation: there is no answer to rate.
        context_id = request.message.context_id if bypasses else agent.context_of(request, call)
        # A turn without a message, such as a command's, brings its own task.
        task = call.task or CurrentTask(id=deps.new_id())
    else:
        context_id = prior.task.context_id or ""
        earlier = decode_resume_payload(prior.payload)
        task = CurrentTask(id=prior.task.id, before=prior.task, turn=earlier.turn + 1, notes=dict(earlier.notes))
    message = msgspec.structs.replace(request.message, context_id=context_id, task_id=task.id)
    return msgspec.structs.replace(request, message=message), msgspec.structs.replace(call, task=task), prior


def _with_prior(
    request: SendMessageRequest, call: Call, store: TaskStore
) -> tuple[SendMessageRequest, StoredTask | None]:
    """Return the request, without the id of a task that it need not name, and the stored task that it continues."""
    assert call.principal is not None, "tasks are stored for owners only"
    owner, message, codec = call.owner, request.message, CODECS[call.version]
    if not message.task_id:
        return request, _waiting(owner, message.context_id, store)
    stored = store.get(message.task_id, owner=owner)
    if stored is None:
        raise A2AError(TASK_NOT_FOUND, metadata={"taskId": message.task_id[:200]})
    context_id, state = stored.task.context_id, stored.task.status.state
    if codec.refuses_other_context and message.context_id not in (None, "", context_id):
        raise invalid_field("message.contextId", "is not the context of the task that message.taskId names")
    if call.for_ui and not codec.refuses_task_without_question and not state.interrupted:
        message = msgspec.structs.replace(message, context_id=context_id, task_id=None)
        return msgspec.structs.replace(request, message=message), _waiting(owner, context_id, store)
    continues_with = decode_resume_payload(stored.payload).notes.get(CONTINUES_WITH)
    if state.terminal and not (state is TaskState.COMPLETED and continues_with in call.extensions):
        raise A2AError(
            UNSUPPORTED_OPERATION,
            "The task has ended and takes no further message; start another one in its context",
            metadata={"taskId": stored.task.id},
        )
    return request, stored


def _waiting(owner: str, context_id: str | None, store: TaskStore) -> StoredTask | None:
    """Return the task that waits for its client in this context; none during an outage, as most messages answer no question."""
    try:
        return store.waiting(owner, context_id) if context_id else None
    except Unavailable:
        return None


def start_of_turn(store: TaskStore, stored: StoredTask) -> tuple[Task | None, Task, int]:
    """Return the task before its client's last message (None if that started it), the task with it, and its version then."""
    if decode_resume_payload(stored.payload).turn > 1:
        events = list(_log(store, stored))
        answered = max((index for index, event in enumerate(events) if isinstance(event, Message)), default=0)
        if answered:
            before = apply_events(None, events[:answered])
            return before, apply_events(before, events[answered : answered + 1]), answered + 1
    for entry in store.entries(stored.task.id, after=0, limit=1):
        if isinstance(entry.event, Task):
            return None, entry.event, 1
    return None, stored.task, stored.version


def _log(store: TaskStore, stored: StoredTask) -> Iterator[Event]:
    position = 0
    while position < stored.version and (entries := store.entries(stored.task.id, after=position)):
        for entry in entries:
            position = entry.sequence
            yield entry.event
