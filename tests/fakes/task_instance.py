"""An instance that keeps tasks: everything between an agent and a store, without a server around it."""

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from a2a_hub.a2a.agent import Agent, Turn
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import (
    Binding,
    Event,
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatusUpdateEvent,
    Version,
)
from a2a_hub.a2a.relay import EventSource
from a2a_hub.a2a.reply import Piece, to_events
from a2a_hub.identity.principal import Principal
from a2a_hub.queue.wakeups import NoWakeups, Wakeups
from a2a_hub.runtime.ids import random_hex
from a2a_hub.task_store.sqlite import SqliteTaskStore
from a2a_hub.task_store.store import Store, StoredTask, TaskQuery, TaskStore, Unavailable
from a2a_hub.tasks.engine import TurnEngine
from a2a_hub.tasks.operations import TaskOperations
from a2a_hub.tasks.settings import TaskSettings
from a2a_hub.tasks.text_only import UiTexts
from a2a_hub.tasks.webhook_address import WebhookAddresses
from a2a_hub.telemetry.log import Log
from a2a_hub.text.language import Language
from tests.fakes.waiting import Waiting

Found = TypeVar("Found")
PATIENCE_SECONDS = 20.0
OWNER = "client:owner"
_ids = itertools.count(1)
Script = Callable[[Call], Iterable[Piece]]


class FlakyStore:
    """A store that can be `away`, and can lose its answer to one method and be away from then on. Its clock, where none is given
    with it, can be put forward.

    `asked`, `answered` and `ended` (by a refusal, too) count by method, `refused` what was asked for while it was away. What
    `held` has of a method is waited for first.
    """

    def __init__(self, path: Path, *, store: TaskStore | None = None, **options: Any) -> None:
        self.ahead_seconds = 0.0
        self.away = False
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.ended: Counter[str] = Counter()
        self.refused = 0
        self.loses_answer_to = ""
        self.away_once_lost = False
        self.lost = threading.Event()
        self.held: dict[str, threading.Event] = {}
        self._store = store or SqliteTaskStore(
            path, clock=lambda: time.time() + self.ahead_seconds, new_token=random_hex, **options
        )

    def __getattr__(self, name: str) -> Any:
        """A method of the store, `wait` apart, which outages do not end."""
        method = getattr(self._store, name)
        if name in ("wait", "follow", "close"):
            return method

        def reached(*arguments: Any, **named: Any) -> Any:
            self.asked[name] += 1
            if name in self.held:
                assert self.held[name].wait(PATIENCE_SECONDS)
            if self.away:
                self.refused += 1
                raise Unavailable("out of reach")
            # An answer that is on its way when this is set is not meant.
            loses = name == self.loses_answer_to
            try:
                result = method(*arguments, **named)
            finally:
                self.ended[name] += 1
            if loses:
                self.loses_answer_to = ""
                self.away = self.away_once_lost
                self.lost.set()
                raise Unavailable("the answer was lost")
            self.answered[name] += 1
            return result

        return reached


class ScriptedAgent:
    """Says what the script says; `asked` counts the turns whose work has begun."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked = 0
        self.cancelled: list[str] = []
        self.retry_seconds = 0.0

    def context_of(self, request: SendMessageRequest, call: Call) -> str:  # noqa: ARG002 - the protocol's
        return request.message.context_id or "context"

    def bypasses_task(self, *_: object) -> bool:
        return False

    def starts_new_task(self, *_: object) -> bool:
        return False

    def send(self, request: SendMessageRequest, call: Call) -> Turn:
        context_id = self.context_of(request, call)
        return Turn(
            events=to_events(self._pieces(call), context_id=context_id, call=call),
            retry_seconds=self.retry_seconds,
        )

    def cancel(self, call: Call) -> None:
        assert call.task
        self.cancelled.append(call.task.id)

    def _pieces(self, call: Call) -> Iterator[Piece]:
        self.asked += 1
        yield from self.script(call)


_TEXTS = UiTexts(
    still_working=dict.fromkeys(Language, "Task {number} goes on."),
    waits_for_worker=dict.fromkeys(Language, "Task {number} goes on."),
    unnumbered=dict.fromkeys(Language, "Task None goes on."),
    store_away=dict.fromkeys(Language, "The store is away."),
    without_answer=dict.fromkeys(Language, "There is no answer."),
    canceled=dict.fromkeys(Language, "It was canceled."),
    trying_again=dict.fromkeys(Language, "{reason} Again in {seconds} s."),
)


class Instance:
    """One process's part. `store_seconds` is when a turn that is waited for is stored; `answers` takes the script's place."""

    def __init__(
        self,
        path: Path,
        script: Script,
        *,
        store_seconds: float = 0.05,
        lease_seconds: float = 30.0,
        look_seconds: float = 0.02,
        runs_at_once: bool = True,
        max_attempts: int = 5,
        repeat_seconds: float = 0.0,
        batch_seconds: float = 0.02,
        ui_seconds: float = 10.0,
        blocking_seconds: float = 30.0,
        wakeups: Wakeups | None = None,
        answers: Agent | None = None,
        now: Callable[[], float] = time.time,
        new_id: Callable[[], str] = random_hex,
        **options: Any,
    ) -> None:
        self.far = FlakyStore(path, **options)
        self.store = cast("Store", self.far)
        self.agent = ScriptedAgent(script)
        self.runs_at_once = runs_at_once
        self.log: list[bytes] = []
        log = Log(self.log.append, clock=time.monotonic, new_id=random_hex, function="test")
        settings = TaskSettings(
            store_after_seconds=store_seconds,
            ui_seconds=ui_seconds,
            blocking_seconds=blocking_seconds,
            lease_seconds=lease_seconds,
            cancel_poll_seconds=look_seconds,
            batch_seconds=batch_seconds,
            outage_seconds=20.0,
            runs_at_once=runs_at_once,
            webhooks=WebhookAddresses(()),
            max_attempts=max_attempts,
            repeat_seconds=repeat_seconds,
        )
        agent = answers or self.agent
        self.kept = TurnEngine(
            agent,
            TaskOperations(self.store, agent, settings=settings),
            now=now,
            new_id=new_id,
            log=log,
            texts=_TEXTS,
            wakeups=wakeups or NoWakeups(),
        )

    def send(self, text: str, *, at_once: bool = False, **options: Any) -> Task | Message:
        configuration = SendMessageConfiguration(return_immediately=at_once)
        call = a_call(text_only=options.pop("text_only", False), repeats=options.pop("repeats", False))
        return self.kept.send(a_request(text, configuration, **options), call)

    def open_stream(self, text: str, **options: Any) -> EventSource:
        call = a_call(streaming=True, text_only=options.pop("text_only", False), repeats=options.pop("repeats", False))
        return self.kept.stream(a_request(text, SendMessageConfiguration(), **options), call)

    def stream(self, text: str, **options: Any) -> Iterator[Event]:
        """Its events as they come."""
        return events_of(self.open_stream(text, **options))

    def get(self, task_id: str) -> Task:
        return self.kept.operations.get(GetTaskRequest(id=task_id), a_call())

    def run_again(self, task_id: str, *, until_: float | None = None) -> object:
        return self.kept.run(task_id, request_id=random_hex(), record={}, until=until_)


class Compared(dict[str, Any]):
    """The metadata of a request that says when it was compared with an equal one, which it has joined then."""

    def __init__(self) -> None:
        super().__init__()
        self.joined = threading.Event()

    def __eq__(self, other: object) -> bool:
        self.joined.set()
        return isinstance(other, dict) and not other

    __hash__ = None


def events_of(source: EventSource) -> Iterator[Event]:
    """Its events as they come."""
    return (event for event in Waiting(source, idle_seconds=PATIENCE_SECONDS) if event is not None)


def a_request(
    text: str,
    configuration: SendMessageConfiguration,
    *,
    message_id: str | None = None,
    task_id: str | None = None,
    context_id: str | None = None,
    metadata: dict[str, Any] | None = None,
) -> SendMessageRequest:
    message = Message(
        message_id=message_id or f"message-{next(_ids)}",
        role=Role.USER,
        parts=(Part(text=text),),
        task_id=task_id,
        context_id=context_id,
    )
    return SendMessageRequest(message=message, configuration=configuration, metadata=metadata)


def a_call(*, streaming: bool = False, owner: str = OWNER, text_only: bool = False, repeats: bool = False) -> Call:
    return Call(
        request_id=random_hex(),
        principal=Principal(subject=owner, repeats=repeats),
        version=Version.V1_0,
        binding=Binding.JSONRPC,
        streaming=streaming,
        accepted_modes=() if text_only else ("text/plain",),
        for_ui=text_only,
    )


def text_of(task: Task | Message) -> str:
    """All text of a message, or of a task's artifacts."""
    parts = (
        task.parts if isinstance(task, Message) else [part for artifact in task.artifacts for part in artifact.parts]
    )
    return "".join(part.text or "" for part in parts)


def stored(instance: Instance) -> Sequence[StoredTask]:
    """The owner's tasks."""
    return instance.store.list(OWNER, TaskQuery(), size=10, after=None).tasks


def tasks(instance: Instance) -> list[Task]:
    return [each.task for each in stored(instance)]


def settled(instance: Instance, task_id: str) -> Task:
    """The task when its turn has ended in the store."""

    def look() -> Task | None:
        found = instance.store.get(task_id, owner=OWNER)
        state = found.task.status.state if found else None
        return found.task if found and state and (state.terminal or state.interrupted) else None

    return until(look)


def terminal(instance: Instance, task_id: str) -> list[TaskStatusUpdateEvent]:
    """All that the log has of the task's end."""
    events = [entry.event for entry in instance.store.entries(task_id, after=0)]
    return [event for event in statuses(events) if event.status.state.terminal]


def statuses(events: Sequence[Event]) -> list[TaskStatusUpdateEvent]:
    return [event for event in events if isinstance(event, TaskStatusUpdateEvent)]


def states(events: Sequence[Event]) -> list[TaskState]:
    return [event.status.state for event in statuses(events)]


def artifacts(events: Sequence[Event]) -> list[TaskArtifactUpdateEvent]:
    return [event for event in events if isinstance(event, TaskArtifactUpdateEvent)]


def until(look: Callable[[], Found | None]) -> Found:
    """Return what `look` gives once it is something."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (found := look()):
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.005)
    return found
