"""What is shown of a task to a client that shows text only, whoever wrote it: text, and files by their names."""

from __future__ import annotations

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
)
from a2a_hub.a2a.reply import MessageFactory
from a2a_hub.a2a.text import data_as_text, named, text_of
from a2a_hub.tasks.updates import status_update

_UNSUCCESSFUL = frozenset({TaskState.FAILED, TaskState.REJECTED})


class TextOnlyView:
    """One turn for one client. `with_data`: it takes data beside the text. `nothing` is the text of an answer without any.

    What the task had `before` the turn is not shown again.
    """

    def __init__(self, *, with_data: bool, nothing: Callable[[], str], before: Task | None = None) -> None:
        self._earlier = frozenset(each.artifact_id for each in before.artifacts) if before else frozenset()
        self._with_data = with_data
        self._nothing = nothing
        self._left_out: list[Any] = []
        self._said = False
        self._begun: set[str] = set()

    @property
    def closing_text(self) -> str:
        """What is left to say at the end, where there has been no text: the data as JSON, or that there was nothing."""
        return "" if self._said else data_as_text(self._left_out) or self._nothing()

    def message(self, said: Message) -> Message:
        """The whole result: one text, and the data for a client that takes it."""
        if len(said.parts) == 1 and _speaks(said.parts[0]):
            return said
        parts = self._answer(said.parts)
        text = self.closing_text or "\n\n".join(part.text for part in parts if part.text)
        return replace(said, parts=(Part(text=text), *(part for part in parts if part.text is None)))

    def event(self, event: Event) -> Event | None:
        """The event of a stream; None for one that holds nothing to show."""
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
                    history=tuple(
                        message for each in event.history if (message := self._beside(each)) is not None
                    ),
                )
            case TaskStatusUpdateEvent():
                return replace(event, status=self._status(event.status))
            case TaskArtifactUpdateEvent():
                return self._artifact(event)

    def _artifact(self, event: TaskArtifactUpdateEvent) -> TaskArtifactUpdateEvent | None:
        # A file is a paragraph of what has been said.
        parts = self._answer(event.artifact.parts, before_file="\n\n" if self._said else "")
        if not parts:
            return None
        id_ = event.artifact.artifact_id
        # What it began with may have been left out.
        append = event.append and id_ in self._begun
        self._begun.add(id_)
        return replace(event, artifact=replace(event.artifact, parts=parts), append=append)

    def _status(self, status: TaskStatus) -> TaskStatus:
        return replace(status, message=self._beside(status.message)) if status.message else status

    def _beside(self, said: Message) -> Message | None:
        """A message that is no part of the answer."""
        parts = self._shown(said.parts)
        return replace(said, parts=parts) if parts else None

    def _answer(self, parts: tuple[Part, ...], *, before_file: str = "") -> tuple[Part, ...]:
        shown = self._shown(parts, before_file)
        self._said = self._said or any(map(_speaks, shown))
        self._left_out += [part.data for part in parts if part.data is not UNSET]
        return shown

    def _shown(self, parts: tuple[Part, ...], before_file: str = "") -> tuple[Part, ...]:
        return tuple(
            part
            if part.text is not None or part.data is not UNSET
            else Part(text=f"{before_file}{named(part)}")
            for part in parts
            if part.data is UNSET or self._with_data
        )


def _speaks(part: Part) -> bool:
    return part.text is not None and part.text.strip() != ""


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


class TextOnlyStream(Iterator["Event | None"]):
    """A task's events for a person. When nothing comes and patience has ended, the stream closes with the text `still_working`
    (of a task id) as the end of its answer: a user interface may show nothing before a stream is complete. The task goes on.

    A task that waits without asking for anything has answered. The text of a status `failed` or `rejected` is shown as an answer,
    too. So is data, where the answer is nothing else, and that there was none at all.
    """

    def __init__(
        self,
        events: Iterator[Event | None],
        *,
        shown: TextOnlyView,
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
                last = said if status.state in _UNSUCCESSFUL and said else self._shown.closing_text
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
        return waits and not self._shown.closing_text

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
