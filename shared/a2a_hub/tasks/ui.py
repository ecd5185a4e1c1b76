"""Work that outlasts a person's patience: in a user interface that shows text only, the answer is where to find it later."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Protocol

from msgspec.structs import replace

from a2a_hub.a2a.model import (
    Artifact,
    Event,
    Message,
    Part,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from a2a_hub.a2a.reply import MessageFactory
from a2a_hub.a2a.text import text_of
from a2a_hub.tasks.text_only import TextOnly
from a2a_hub.tasks.updates import status_update

_UNSUCCESSFUL = frozenset({TaskState.FAILED, TaskState.REJECTED})


class UiTexts(Protocol):
    """What a person reads of a task that goes on."""

    def still_working(self, message: Message, number: int | None) -> str:
        """In the language of the message, with the number to ask for the task by; None where the store does not tell it."""
        ...

    def store_away(self, message: Message) -> str:
        """The message asks for what has to be stored, and the store is away."""
        ...

    def without_answer(self, message: Message) -> str:
        """The work that the message asked for has ended, and there is no word of an answer."""
        ...


class UntilPatienceEnds(Iterator["Event | None"]):
    """A task's events for a person. When nothing comes and patience has ended, the stream closes with the text `still_working`
    (of a task id) as the end of its answer: a user interface may show nothing before a stream is complete. The task goes on.

    A task that waits without asking for anything has answered. The text of a status `failed` or `rejected` is shown as an answer,
    too. So is data, where the answer is nothing else, and that there was none at all.
    """

    def __init__(
        self,
        events: Iterator[Event | None],
        *,
        shown: TextOnly,
        seconds: float,
        still_working: Callable[[str], str],
        message_factory: MessageFactory,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._events = events
        self._shown = shown
        self._clock = clock
        self._deadline = clock() + seconds
        self._still_working = still_working
        self._message_factory = message_factory
        self._task: Task | None = None
        self._answering = False
        self._task_ended = False
        self._closing: list[Event] | None = None

    def __next__(self) -> Event | None:
        if self._closing is not None:
            if not self._closing:
                raise StopIteration
            return self._closing.pop(0)
        event = self._next_shown()
        match event:
            case Task():
                self._task = event
            case TaskArtifactUpdateEvent():
                self._answering = True
            case TaskStatusUpdateEvent(status=status) if status.state.terminal:
                self._task_ended = True
                said = text_of(status.message) if status.message else ""
                last = said if status.state in _UNSUCCESSFUL and said else self._shown.unsaid
                if self._task and last:
                    self._closing = self._last_words(self._task, last)
                    return self._closing.pop(0)
            case TaskStatusUpdateEvent(status=status) if self._has_answered(status):
                return replace(event, status=replace(status, state=TaskState.COMPLETED))
            case None if self._task and not self._task_ended and self._clock() > self._deadline:
                self._closing = self._last_words(self._task, self._still_working(self._task.id))
                self.close()
        return event

    def _has_answered(self, status: TaskStatus) -> bool:
        waits = status.state is TaskState.INPUT_REQUIRED and status.message is None
        return waits and not self._shown.unsaid

    def _next_shown(self) -> Event | None:
        while (event := next(self._events)) is not None:
            shown = self._shown.event(event)
            if shown is not None:
                return shown
        return None

    def _last_words(self, task: Task, text: str) -> list[Event]:
        part = Part(text=f"\n\n{text}" if self._answering else text)
        artifact = Artifact(artifact_id=self._message_factory.new_id(), name="answer", parts=(part,))
        return [
            TaskArtifactUpdateEvent(task_id=task.id, context_id=task.context_id or "", artifact=artifact),
            status_update(task, TaskState.COMPLETED, self._message_factory.timestamp()),
        ]

    def close(self) -> None:
        """Leaves the task's events; idempotent."""
        close = getattr(self._events, "close", None)
        if close is not None:
            close()
