"""The view of a task for a client that shows text only: text, files by name, and a closing text when a wait ends."""

import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from msgspec import UNSET
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
    data_as_text,
    file_text,
    text_of,
)
from a2a_hub.a2a.reply import MessageFactory
from a2a_hub.http.messages import close_if_closable
from a2a_hub.tasks.updates import status_update

_UNSUCCESSFUL = frozenset({TaskState.FAILED, TaskState.REJECTED})


class TextOnlyView:
    """The view of one turn. `with_data` adds data parts; `empty_answer` returns the text of an answer without content.

    Artifacts that the task had `before` the turn are left out.
    """

    def __init__(self, *, with_data: bool, empty_answer: Callable[[], str], before: Task | None = None) -> None:
        self._earlier = frozenset(each.artifact_id for each in before.artifacts) if before else frozenset()
        self._with_data = with_data
        self._empty_answer = empty_answer
        self._data: list[Any] = []
        self._has_text = False
        self._shown_artifacts: set[str] = set()

    @property
    def closing_text(self) -> str:
        """The text that closes an answer without text: its data as JSON, or that there was none; empty after a text."""
        return "" if self._has_text else data_as_text(self._data) or self._empty_answer()

    def message(self, message: Message) -> Message:
        """Return the whole result: one text, and the data for a client that takes it."""
        if len(message.parts) == 1 and _has_text(message.parts[0]):
            return message
        parts = self._answer(message.parts)
        text = self.closing_text or "\n\n".join(part.text for part in parts if part.text)
        return replace(message, parts=(Part(text=text), *(part for part in parts if part.text is None)))

    def event(self, event: Event) -> Event | None:
        """Return the event of a stream; None if it shows nothing."""
        match event:
            case Message():
                return self.message(event)
            case Task():
                return replace(
                    event,
                    status=self._status(event.status),
                    artifacts=tuple(
                        replace(each, parts=parts)
                        for each in event.artifacts
                        if each.artifact_id not in self._earlier
                        if (parts := self._answer(each.parts))
                    ),
                    history=tuple(message for each in event.history if (message := self._aside(each)) is not None),
                )
            case TaskStatusUpdateEvent():
                return replace(event, status=self._status(event.status))
            case TaskArtifactUpdateEvent():
                return self._artifact(event)

    def _artifact(self, event: TaskArtifactUpdateEvent) -> TaskArtifactUpdateEvent | None:
        # A file's name is a paragraph of its own.
        parts = self._answer(event.artifact.parts, before_file="\n\n" if self._has_text else "")
        if not parts:
            return None
        id_ = event.artifact.artifact_id
        # The first chunk may have been left out.
        append = event.append and id_ in self._shown_artifacts
        self._shown_artifacts.add(id_)
        return replace(event, artifact=replace(event.artifact, parts=parts), append=append)

    def _status(self, status: TaskStatus) -> TaskStatus:
        return replace(status, message=self._aside(status.message)) if status.message else status

    def _aside(self, message: Message) -> Message | None:
        """Return a message outside the answer; None if it shows nothing."""
        parts = self._shown(message.parts)
        return replace(message, parts=parts) if parts else None

    def _answer(self, parts: tuple[Part, ...], *, before_file: str = "") -> tuple[Part, ...]:
        shown = self._shown(parts, before_file)
        self._has_text = self._has_text or any(map(_has_text, shown))
        self._data += [part.data for part in parts if part.data is not UNSET]
        return shown

    def _shown(self, parts: tuple[Part, ...], before_file: str = "") -> tuple[Part, ...]:
        return tuple(
            part if part.text is not None or part.data is not UNSET else Part(text=f"{before_file}{file_text(part)}")
            for part in parts
            if part.data is UNSET or self._with_data
        )


def _has_text(part: Part) -> bool:
    return part.text is not None and part.text.strip() != ""


class UiTexts(Protocol):
    """The texts that a person reads of a stored task, in the language of the message."""

    def still_working(self, message: Message, number: int | None) -> str:
        """Return the text for a task that continues, with its number; None if the store does not answer."""

    def store_away(self, message: Message) -> str:
        """Return the text for a request that has to be stored during an outage of the store."""

    def without_answer(self, message: Message) -> str:
        """Return the text for work that ended without an answer."""


class TextOnlyStream(Iterator["Event | None"]):
    """A task's events for a person. After `seconds`, an idle stream closes with the text `still_working` (of a task id) as the
    end of its answer, because a user interface may show nothing before a stream is complete. The task continues.

    An idle task counts as answered. The text of a failed or rejected status is shown as the answer. So is the closing text of the
    view, for an answer without text.
    """

    def __init__(
        self,
        events: Iterator[Event | None],
        *,
        view: TextOnlyView,
        seconds: float,
        still_working: Callable[[str], str],
        message_factory: MessageFactory,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._events = events
        self._view = view
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
                reason = text_of(status.message) if status.message else ""
                last = reason if status.state in _UNSUCCESSFUL and reason else self._view.closing_text
                if self._task and last:
                    self._closing = self._closing_events(self._task, last)
                    return self._closing.pop(0)
            case TaskStatusUpdateEvent(status=status) if self._has_answered(status):
                return replace(event, status=replace(status, state=TaskState.COMPLETED))
            case None if self._task and not self._task_ended and self._clock() > self._deadline:
                self._closing = self._closing_events(self._task, self._still_working(self._task.id))
                self.close()
        return event

    def _has_answered(self, status: TaskStatus) -> bool:
        waits = status.state is TaskState.INPUT_REQUIRED and status.message is None
        return waits and not self._view.closing_text

    def _next_shown(self) -> Event | None:
        while (event := next(self._events)) is not None:
            shown = self._view.event(event)
            if shown is not None:
                return shown
        return None

    def _closing_events(self, task: Task, text: str) -> list[Event]:
        part = Part(text=f"\n\n{text}" if self._answering else text)
        artifact = Artifact(artifact_id=self._message_factory.new_id(), name="answer", parts=(part,))
        return [
            TaskArtifactUpdateEvent(task_id=task.id, context_id=task.context_id or "", artifact=artifact),
            status_update(task, TaskState.COMPLETED, self._message_factory.timestamp()),
        ]

    def close(self) -> None:
        """Leave the task's events; idempotent."""
        close_if_closable(self._events)
