"""A store under test with its clock, and tasks and events to put into it."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

from a2a_hub.a2a.model import (
    Artifact,
    Event,
    Message,
    Part,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskPushNotificationConfig,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
    Version,
)
from a2a_hub.runtime.ids import new_id
from a2a_hub.task_store.store import (
    HUB,
    NewTask,
    Position,
    PushConfig,
    PushStore,
    SharedState,
    StoredTask,
    TaskQuery,
    TaskStore,
)

_Result = TypeVar("_Result")


class Store(TaskStore, PushStore, SharedState, Protocol):
    """Everything that a store implements."""


class Clock:
    """A clock that goes on by itself a little with each look, and otherwise when told."""

    def __init__(self) -> None:
        self._now = 1_700_000_000.0
        self._step = 0.001
        self._lock = threading.Lock()

    def __call__(self) -> float:
        with self._lock:
            self._now += self._step
            return self._now

    def pass_by(self, seconds: float) -> float:
        """The time then."""
        with self._lock:
            self._now += seconds
            return self._now

    def stand_still(self) -> None:
        self._step = 0.0


def a_task(
    *,
    id_: str | None = None,
    context_id: str = "c",
    state: TaskState = TaskState.SUBMITTED,
    text: str = "hi",
    timestamp: str | None = None,
) -> Task:
    message = Message(message_id="m", role=Role.USER, parts=(Part(text=text),))
    status = TaskStatus(state=state, timestamp=timestamp)
    return Task(id=id_ or new_id(), context_id=context_id, status=status, history=(message,))


def created(
    store: TaskStore,
    *,
    owner: str = "owner",
    context_id: str = "c",
    state: TaskState = TaskState.SUBMITTED,
    role: str = HUB,
    request_key: str = "",
    payload: bytes = b"",
) -> StoredTask:
    task = a_task(context_id=context_id, state=state)
    return store.create(NewTask(task=task, owner=owner, role=role, request_key=request_key, payload=payload))


def status(
    task_id: str, state: TaskState, *, said: str | None = None, timestamp: str | None = None
) -> TaskStatusUpdateEvent:
    message = Message(message_id=new_id(), role=Role.AGENT, parts=(Part(text=said),)) if said else None
    new = TaskStatus(state=state, message=message, timestamp=timestamp)
    return TaskStatusUpdateEvent(task_id=task_id, context_id="c", status=new)


def chunk(task_id: str, text: str, *, append: bool = True, artifact_id: str = "a") -> TaskArtifactUpdateEvent:
    artifact = Artifact(artifact_id=artifact_id, parts=(Part(text=text),))
    return TaskArtifactUpdateEvent(task_id=task_id, context_id="c", artifact=artifact, append=append)


def ended(store: TaskStore, *, owner: str = "owner", state: TaskState = TaskState.COMPLETED) -> StoredTask:
    task_id = created(store, owner=owner).task.id
    return store.append(task_id, [status(task_id, state)])


def webhook(
    task_id: str, config_id: str = "p", *, url: str = "https://receiver.example/hook", token: str = "secret"
) -> PushConfig:
    config = TaskPushNotificationConfig(url=url, id=config_id, task_id=task_id, token=token)
    return PushConfig(config=config, version=Version.V1_0)


def events_of(store: TaskStore, task_id: str, *, after: int = 0) -> list[Event]:
    return [entry.event for entry in store.entries(task_id, after=after)]


def texts(stored: StoredTask, artifact_id: str = "a") -> list[str | None]:
    return [
        part.text
        for artifact in stored.task.artifacts
        if artifact.artifact_id == artifact_id
        for part in artifact.parts
    ]


def at_once(works: Sequence[Callable[[], _Result]]) -> list[_Result | Exception]:
    """Return what each returned or raised; all are started at the same moment."""
    ready = threading.Barrier(len(works))

    def start(payload: Callable[[], _Result]) -> _Result | Exception:
        ready.wait()
        try:
            return payload()
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(works)) as threads:
        return list(threads.map(start, works))


def walk(store: TaskStore, owner: str, *, size: int) -> list[str]:
    """The ids of all pages."""
    found: list[str] = []
    after: Position | None = None
    while True:
        page = store.list(owner, TaskQuery(), size=size, after=after)
        found += [stored.task.id for stored in page.tasks]
        after = page.next
        if after is None:
            return found
