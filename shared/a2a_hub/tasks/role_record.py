"""The record of the ends of tasks for workers, where the queue keeps one."""

import json

import msgspec

from a2a_hub.a2a.model import Task, TaskState
from a2a_hub.queue.wakeups import TaskEvent, Wakeups, topic_of
from a2a_hub.task_store.store import StoredTask

_ENDS = {TaskState.COMPLETED: TaskEvent.COMPLETED, TaskState.CANCELED: TaskEvent.CANCELLED}


def record_ended(wakeups: Wakeups, stored: StoredTask) -> None:
    """Record that the task has ended. Its content is what GetTask answers, as JSON with sorted keys and without spaces."""
    event = _ENDS.get(stored.task.status.state, TaskEvent.FAILED)
    wakeups.record(event, topic_of(stored.role), stored.task.id, lambda: _content(stored.task))


def _content(task: Task) -> bytes:
    # As docs/hedera.md says it: other encoders write 1e-07 as 1e-7.
    answered = json.loads(msgspec.json.encode(task))
    return json.dumps(answered, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
