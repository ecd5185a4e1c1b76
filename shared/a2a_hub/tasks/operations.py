"""The operations on stored tasks (A2A 1.0.1 §3.1.3-§3.1.10). A task of another owner does not exist."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from a2a_hub.a2a import model
from a2a_hub.a2a.agent import Canceller
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import TASK_NOT_CANCELABLE, TASK_NOT_FOUND, UNSUPPORTED_OPERATION, A2AError, invalid_field
from a2a_hub.a2a.fold import with_history
from a2a_hub.a2a.live_turn import STORED_OR_NOT
from a2a_hub.a2a.model import Task, TaskPushNotificationConfig, TaskState
from a2a_hub.a2a.protojson import seconds_of
from a2a_hub.a2a.relay import EventSource
from a2a_hub.a2a.reply import status_update
from a2a_hub.a2a.version_table import CODECS
from a2a_hub.identity.public_keys import base64url, base64url_decoded
from a2a_hub.runtime.threads import Threads
from a2a_hub.task_store.store import (
    LeaseLost,
    Position,
    Store,
    StoredTask,
    TaskEnded,
    TaskQuery,
    UnknownTask,
    WrongVersion,
)
from a2a_hub.tasks.display import Display, DisplayedEvents, ShownArtifacts, displayed_task, unfiltered
from a2a_hub.tasks.push_configs import PushConfigs
from a2a_hub.tasks.resume_payload import decode_resume_payload
from a2a_hub.tasks.settings import TaskSettings
from a2a_hub.tasks.subscription import OpenStreams, TaskSubscription, wait_until_settled
from a2a_hub.tasks.task_turn import TaskTurns

_DEFAULT_PAGE, _LARGEST_PAGE = 50, 100
_LONGEST_STORE_DELAY_SECONDS = 2.0
# The longest wait for a cancellation, before the task is returned as it is.
_CANCEL_SECONDS = 5.0
_CHECKSUM_BYTES = 12
_LONGEST_TOKEN = 500
_RUNNING = (TaskState.SUBMITTED, TaskState.WORKING)
_WAITING = (TaskState.INPUT_REQUIRED, TaskState.AUTH_REQUIRED)
_POSITION = msgspec.json.Decoder(Position)


class TaskOperations:
    """GetTask, ListTasks, CancelTask, SubscribeToTask and the operations on push notification configs: all operations that
    start no turn.

    `turns` and `streams` are those of this process, whoever starts them. `canceller` passes cancellations on, `display` is the
    filter of what user interfaces read.
    """

    def __init__(
        self, store: Store, canceller: Canceller, *, settings: TaskSettings, display: Display = unfiltered
    ) -> None:
        self.store = store
        self.settings = settings
        self.threads = Threads("task")
        self.turns = TaskTurns()
        self.streams = OpenStreams()
        self.configs = PushConfigs(store, addresses=settings.webhooks)
        self.display = display
        self._canceller = canceller

    def answer(self, request: Struct, call: Call) -> Struct | None:
        """See `StoredTaskOperations.answer`."""
        answer = _ANSWERS[type(request)](self, request, call)
        if call.for_ui and isinstance(answer, Task):
            return displayed_task(answer, ShownArtifacts(self.display))
        if call.for_ui and isinstance(answer, model.ListTasksResponse):
            return replace(
                answer, tasks=tuple(displayed_task(each, ShownArtifacts(self.display)) for each in answer.tasks)
            )
        return answer

    def get(self, request: model.GetTaskRequest, call: Call) -> Task:
        """Return the task (§3.1.3)."""
        length = _history_length(request.history_length)
        return with_history(self._require(request.id, call).task, length)

    def list(self, request: model.ListTasksRequest, call: Call) -> model.ListTasksResponse:
        """Return a page of the caller's tasks, latest status change first (§3.1.4)."""
        size = _DEFAULT_PAGE if request.page_size is None else request.page_size
        if not 1 <= size <= _LARGEST_PAGE:
            raise invalid_field("pageSize", f"must be from 1 to {_LARGEST_PAGE}")
        length = _history_length(request.history_length)
        if request.status is TaskState.UNSPECIFIED:
            raise invalid_field("status", "must name a state, or be left out")
        since = request.status_timestamp_after
        query = TaskQuery(
            context_id=request.context_id or None,
            states=(request.status,) if request.status else (),
            updated_since=None if since is None else seconds_of(since),
        )
        owner = _owner(call)
        conditions = (owner, query.context_id, query.states, query.updated_since)
        position = None
        if request.page_token:
            position = read_token(request.page_token, list_key=conditions)
            if position is None:
                raise invalid_field("pageToken", "is not a token of this list")
        page = self.store.list(owner, query, size=size, after=position)
        tasks = (with_history(stored.task, length) for stored in page.tasks)
        return model.ListTasksResponse(
            tasks=tuple(tasks if request.include_artifacts else (replace(task, artifacts=()) for task in tasks)),
            next_page_token=write_token(page.next, list_key=conditions),
            page_size=size,
            total_size=page.total,
        )

    def cancel(self, request: model.CancelTaskRequest, call: Call) -> Task:
        """Cancel the task (§3.1.5). For a task with a lease, wait up to 5 s for the lease holder to stop."""
        stored = self._require(request.id, call)
        if stored.task.status.state.terminal:
            raise A2AError(TASK_NOT_CANCELABLE, metadata={"taskId": stored.task.id})
        task = self._cancel(stored, call)
        if task.status.state.terminal and task.status.state is not TaskState.CANCELED:
            raise A2AError(TASK_NOT_CANCELABLE, metadata={"taskId": task.id})
        return task

    def subscribe(self, request: model.SubscribeToTaskRequest, call: Call) -> EventSource:
        """Return the task, then its events to the terminal one (§3.1.6). In 0.3, an interrupted state is final, too, and a task
        that has ended is shown: it may have since the answer that named it.
        """
        stored, codec = self._require(request.id, call), CODECS[call.version]
        if stored.task.status.state.terminal and not codec.shows_ended_task:
            raise A2AError(
                UNSUPPORTED_OPERATION,
                "The task has ended: there is nothing to subscribe to",
                metadata={"taskId": stored.task.id},
            )
        events = TaskSubscription(
            self.store,
            stored.task,
            after=stored.version,
            ends_when_waiting=codec.ends_stream_when_interrupted,
            streams=self.streams,
        )
        return DisplayedEvents(events, self.display) if call.for_ui else events

    def numbered(self, number: int, call: Call) -> StoredTask | None:
        """Return the caller's task of this number, which people type."""
        return self.store.numbered(_owner(call), number)

    def newest(self, limit: int, call: Call) -> Sequence[StoredTask]:
        """Return the caller's tasks: those that are worked on before all others, each latest status change first."""
        owner = _owner(call)
        pages = (
            self.store.list(owner, query, size=limit, after=None) for query in (TaskQuery(states=_RUNNING), TaskQuery())
        )
        return list({stored.task.id: stored for page in pages for stored in page.tasks}.values())[:limit]

    def running_in(self, context_id: str, call: Call) -> StoredTask | None:
        """Return the caller's task that is worked on in this context; None if the last one there waits for an answer."""
        query = TaskQuery(context_id=context_id, states=(*_RUNNING, *_WAITING))
        latest = next(iter(self.store.list(_owner(call), query, size=1, after=None).tasks), None)
        return latest if latest and latest.task.status.state in _RUNNING else None

    def create_config(self, request: TaskPushNotificationConfig, call: Call) -> TaskPushNotificationConfig:
        """Store a config, which receives the task's events from now on (§3.1.7)."""
        stored = self._require(request.task_id or "", call)
        push = self.configs.validated(request, call.version, task_id=stored.task.id, with_message=False)
        self.store.put_config(push, delivered=stored.version)
        return push.config

    def get_config(self, request: model.GetTaskPushNotificationConfigRequest, call: Call) -> TaskPushNotificationConfig:
        """Return a config (§3.1.8). Without an id, which 0.3 allows, it is the first one."""
        for config in self._configs(request.task_id, call):
            if config.id == request.id or not request.id:
                return config
        raise A2AError(TASK_NOT_FOUND, "The task has no such push notification config")

    def list_configs(
        self, request: model.ListTaskPushNotificationConfigsRequest, call: Call
    ) -> model.ListTaskPushNotificationConfigsResponse:
        """Return all configs on one page, since a task has few (§3.1.9)."""
        if (request.page_size or 0) < 0:
            raise invalid_field("pageSize", "must not be negative")
        if request.page_token:
            raise invalid_field("pageToken", "is not a token of this list: all configs are on one page")
        configs = self._configs(request.task_id, call)
        return model.ListTaskPushNotificationConfigsResponse(configs=configs, next_page_token="")

    def delete_config(self, request: model.DeleteTaskPushNotificationConfigRequest, call: Call) -> None:
        """Delete a config, if it exists (§3.1.10)."""
        self.store.delete_config(self._require(request.task_id, call).task.id, request.id)

    def _configs(self, task_id: str, call: Call) -> tuple[TaskPushNotificationConfig, ...]:
        return tuple(each.push.config for each in self.store.configs(self._require(task_id, call).task.id))

    def _require(self, task_id: str, call: Call) -> StoredTask:
        owner = _owner(call)
        stored = self.store.get(task_id, owner=owner)
        turn = self.turns.of_task(task_id) if stored is None else None
        if turn is not None and turn.owner == owner:
            # The client may know a task that is yet to be stored.
            turn.wait(STORED_OR_NOT, _LONGEST_STORE_DELAY_SECONDS)
            stored = self.store.get(task_id, owner=owner)
        if stored is None:
            raise A2AError(TASK_NOT_FOUND, metadata={"taskId": task_id[:200]})
        return stored

    def _cancel(self, stored: StoredTask, call: Call) -> Task:
        task_id = stored.task.id
        try:
            if self.turns.of_task(task_id) is None:
                canceled = status_update(stored.task, TaskState.CANCELED)
                after = self.store.append(task_id, [canceled], expected_version=stored.version)
                self._cancel_at_agent(after, call)
                return after.task
        except (LeaseLost, WrongVersion):
            pass  # Another process or thread is working on it.
        except (TaskEnded, UnknownTask):
            raise A2AError(TASK_NOT_CANCELABLE, metadata={"taskId": task_id}) from None
        try:
            stored = self.store.request_cancel(task_id)
        except (TaskEnded, UnknownTask):
            raise A2AError(TASK_NOT_CANCELABLE, metadata={"taskId": task_id}) from None
        turn = self.turns.of_task(task_id)
        if turn is not None:
            turn.cancel()
        stored = wait_until_settled(self.store, stored, seconds=_CANCEL_SECONDS, streams=self.streams)
        # A turn that ended with a question before the cancellation reached it: no process works on the task now.
        return self._cancel(stored, call) if stored.task.status.state.interrupted else stored.task

    def _cancel_at_agent(self, stored: StoredTask, call: Call) -> None:
        """Pass the cancellation on to the agent that works on the task."""
        if stored.payload:
            payload = decode_resume_payload(stored.payload)
            resumed = payload.call(stored.task, request_id=call.request_id, record=call.record)
            self._canceller.cancel(replace(resumed, authorization=call.authorization))


_ANSWERS: dict[type[Struct], Callable[[TaskOperations, Any, Call], Struct | None]] = {
    model.GetTaskRequest: TaskOperations.get,
    model.ListTasksRequest: TaskOperations.list,
    model.CancelTaskRequest: TaskOperations.cancel,
    model.TaskPushNotificationConfig: TaskOperations.create_config,
    model.NestedPushConfig: TaskOperations.create_config,
    model.GetTaskPushNotificationConfigRequest: TaskOperations.get_config,
    model.ListTaskPushNotificationConfigsRequest: TaskOperations.list_configs,
    model.DeleteTaskPushNotificationConfigRequest: TaskOperations.delete_config,
}


def _owner(call: Call) -> str:
    if call.principal is None:
        raise A2AError(TASK_NOT_FOUND, "Tasks are kept only for authenticated callers")
    return call.owner


def _history_length(length: int | None) -> int | None:
    if length is not None and length < 0:
        raise invalid_field("historyLength", "must not be negative")
    return length


def write_token(position: Position | None, *, list_key: Sequence[object]) -> str:
    """Return the opaque token of a page's position (§3.1.4); "" on the last page. `list_key` is the list's owner and filter."""
    if position is None:
        return ""
    body = msgspec.json.encode(position)
    return base64url(_checksum(body, list_key) + body)


def read_token(token: str, *, list_key: Sequence[object]) -> Position | None:
    """Return the position of a token of the same list; None for any other text.

    The checksum is no secret: a position leads only into the owner's own tasks.
    """
    if len(token) > _LONGEST_TOKEN:
        return None
    try:
        data = base64url_decoded(token)
        body = data[_CHECKSUM_BYTES:]
        return _POSITION.decode(body) if data[:_CHECKSUM_BYTES] == _checksum(body, list_key) else None
    except (ValueError, RecursionError):
        return None


def _checksum(body: bytes, list_key: Sequence[object]) -> bytes:
    return hashlib.blake2b(body + repr(tuple(list_key)).encode(), digest_size=_CHECKSUM_BYTES).digest()
