"""The view of a task for a client that shows text only: text, files by name, and a closing text when a wait ends."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import UNSET, Struct, field
from msgspec.structs import replace

from a2a_hub.a2a.a2ui import is_surface
from a2a_hub.a2a.model import (
    Artifact,
    Event,
    Message,
    Part,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
    data_as_text,
    file_text,
    text_of,
)
from a2a_hub.a2a.relay import EventSource
from a2a_hub.a2a.reply import artifact_update, status_update
from a2a_hub.http.messages import Wake
from a2a_hub.runtime.ids import new_id
from a2a_hub.runtime.scheduler import Scheduler, Timer
from a2a_hub.task_store.store import StoredTask
from a2a_hub.tasks.display import Display, ShownArtifacts, unfiltered
from a2a_hub.text.language import Language, language_of

_Translations = Mapping[Language, str]
_UNSUCCESSFUL = frozenset({TaskState.FAILED, TaskState.REJECTED, TaskState.CANCELED})


class TextOnlyView(Struct, kw_only=True):
    """The view of one turn. `with_data` adds data parts, `with_surfaces` those of A2UI; `empty_answer` returns the text of an
    answer without content, `canceled` that of a task that somebody has canceled; `artifacts` are those
    that the turn has shown.

    Artifacts that the task had `before` the turn are left out.
    """

    with_data: bool
    empty_answer: Callable[[], str]
    canceled: Callable[[], str]
    before: Task | None = None
    with_surfaces: bool = False
    artifacts: ShownArtifacts = field(default_factory=lambda: ShownArtifacts(unfiltered))
    _data: list[Any] = []
    _has_text: bool = False
    _shown_artifacts: set[str] = set()

    @property
    def closing_text(self) -> str:
        """The text that closes an answer without text: its data as JSON, or that there was none; empty after a text."""
        if self._has_text:
            return ""
        data = data_as_text(self._data)
        return "".join(part.text or "" for part in self._display((Part(text=data),))) if data else self.empty_answer()

    def message(self, message: Message, *, is_question: bool = False) -> Message:
        """Return the whole result: one text, and the data for a client that takes it."""
        if len(message.parts) == 1 and _has_text(message.parts[0]):
            return replace(message, parts=self._display(message.parts, is_question=is_question))
        parts = self._answer("", message.parts)
        text = self.closing_text or "\n\n".join(part.text for part in parts if part.text)
        return replace(message, parts=(Part(text=text), *(part for part in parts if part.text is None)))

    def event(self, event: Event) -> Event | None:
        """Return the event of a stream; None if it shows nothing."""
        match event:
            case Message():
                return self.message(event)
            case Task():
                earlier = {each.artifact_id for each in self.before.artifacts} if self.before else ()
                return replace(
                    event,
                    status=self._status(event.status),
                    artifacts=tuple(
                        replace(each, parts=parts)
                        for each in event.artifacts
                        if each.artifact_id not in earlier
                        if (parts := self._answer(each.artifact_id, each.parts))
                    ),
                    history=tuple(message for each in event.history if (message := self._aside(each)) is not None),
                )
            case TaskStatusUpdateEvent():
                return replace(event, status=self._status(event.status))
            case TaskArtifactUpdateEvent():
                return self._artifact(event)

    @property
    def _display(self) -> Display:
        return self.artifacts.display

    def _artifact(self, event: TaskArtifactUpdateEvent) -> TaskArtifactUpdateEvent | None:
        # A file's name is a paragraph of its own.
        id_, before_file = event.artifact.artifact_id, "\n\n" if self._has_text else ""
        parts = self._answer(id_, event.artifact.parts, append=event.append, before_file=before_file)
        if not parts:
            return None
        # The first chunk may have been left out.
        append = event.append and id_ in self._shown_artifacts
        self._shown_artifacts.add(id_)
        return replace(event, artifact=replace(event.artifact, parts=parts), append=append)

    def _status(self, status: TaskStatus) -> TaskStatus:
        is_question = status.state.interrupted
        return replace(status, message=self._aside(status.message, is_question)) if status.message else status

    def _aside(self, message: Message, is_question: bool = False) -> Message | None:
        """Return a message outside the answer; None if it shows nothing."""
        parts = self._shown(message.parts)
        if message.role is Role.AGENT:
            parts = self._display(parts, is_question=is_question)
        return replace(message, parts=parts) if parts else None

    def _answer(
        self, artifact_id: str, parts: tuple[Part, ...], *, append: bool = False, before_file: str = ""
    ) -> tuple[Part, ...]:
        shown = self.artifacts.show(artifact_id, self._shown(parts, before_file), append=append)
        self._has_text = self._has_text or any(map(_has_text, shown))
        self._data += [part.data for part in parts if part.data is not UNSET and not is_surface(part)]
        return shown

    def _shown(self, parts: tuple[Part, ...], before_file: str = "") -> tuple[Part, ...]:
        return tuple(
            part if part.text is not None or part.data is not UNSET else Part(text=f"{before_file}{file_text(part)}")
            for part in parts
            if part.data is UNSET or (self.with_surfaces if is_surface(part) else self.with_data)
        )


def _has_text(part: Part) -> bool:
    return part.text is not None and part.text.strip() != ""


class UiTexts(Struct, frozen=True, kw_only=True):
    """The texts that a person reads of a stored task, with places for values, in each language.

    For a task that continues: `still_working`, `waits_for_worker` if no worker has taken it, and `unnumbered` if the store does
    not answer. `store_away`: a request has to be stored during an outage of the store. `without_answer` and `canceled`: the work
    ended so. `trying_again`: the agent of a task is away.
    """

    still_working: _Translations
    waits_for_worker: _Translations
    unnumbered: _Translations
    store_away: _Translations
    without_answer: _Translations
    canceled: _Translations
    trying_again: _Translations

    def of_running(self, message: Message, stored: StoredTask | None) -> str:
        """Return the text for a task that continues, with its number if it is known."""
        if stored is None:
            return translated(self.unnumbered, message)
        text = self.waits_for_worker if stored.waits_for_worker else self.still_working
        return translated(text, message, number=stored.number)


def translated(translations: _Translations, message: Message, **values: object) -> str:
    """Return the translation in the message's language, with these values."""
    return translations[language_of(text_of(message))].format(**values)


class TextOnlyStream(Struct, kw_only=True):
    """A task's events for a person, an `EventSource`; the task begins as `first`. At the `deadline` of the scheduler's clock, or
    when the process is stopped, an idle stream closes with the text `still_working` (of a task id) as the end of its answer,
    because a user interface may show nothing before a stream is complete; one that is not passed on, with `farewell_text`. The
    task continues.

    An idle task counts as answered. The text of a failed, rejected or canceled status is shown as the answer, and so is the
    closing text of the view, for an answer without text. A question is shown as an artifact, too, because some user interfaces
    show nothing else.
    """

    events: EventSource
    first: Task
    view: TextOnlyView
    deadline: float
    still_working: Callable[[str], str]
    farewell_text: Callable[[], str]
    scheduler: Scheduler
    _task: Task | None = None
    _answering: bool = False
    _settled: bool = False
    _closing: list[Event] | None = None
    _timer: Timer | None = None

    def poll(self) -> Event | None:
        """See `EventSource.poll`."""
        if self._closing is not None:
            if not self._closing:
                raise StopIteration
            return self._closing.pop(0)
        try:
            event = self._next_shown()
        except StopIteration:
            # Another instance continues.
            if self._task is None or self._settled:
                raise
            return self._leave(self._task)
        match event:
            case Task():
                self._task = event
            case TaskArtifactUpdateEvent():
                self._answering = True
            case TaskStatusUpdateEvent(status=status):
                self._settled = status.state.settled
                return self._shown_status(event)
            case None if self._task and not self._settled and self.scheduler.clock() >= self.deadline:
                return self._leave(self._task)
        return event

    def _shown_status(self, event: TaskStatusUpdateEvent) -> Event:
        status = event.status
        text = text_of(status.message) if status.message else ""
        if status.state is TaskState.CANCELED:
            text = text or self.view.canceled()
        if self._task is None or not status.state.settled:
            return event
        if status.state is TaskState.AUTH_REQUIRED or (status.state.interrupted and status.message):
            return self._closed(self._task, text, event) if text else event
        completed = replace(event, status=replace(status, state=TaskState.COMPLETED, message=None))
        if last := (status.state in _UNSUCCESSFUL and text) or self.view.closing_text:
            return self._closed(self._task, last, completed)
        return event if status.state.terminal else completed

    def _leave(self, task: Task) -> Event:
        first = self._closed(task, self.still_working(task.id), status_update(task, TaskState.COMPLETED))
        self.close()
        return first

    def farewell(self) -> list[Event]:
        """See `ForwardedStream.farewell`."""
        return [self._answer(self.first, f"\n\n{self.farewell_text()}"), status_update(self.first, TaskState.COMPLETED)]

    def _next_shown(self) -> Event | None:
        while (event := self.events.poll()) is not None:
            shown = self.view.event(event)
            if shown is not None:
                return shown
        return None

    def _closed(self, task: Task, text: str, last: Event) -> Event:
        """Close the stream with a text and the event `last`; return the first of both."""
        self._closing = [last]
        return self._answer(task, f"\n\n{text}" if self._answering else text)

    def _answer(self, task: Task, text: str) -> Event:
        return artifact_update(task, Artifact(artifact_id=new_id(), name="answer", parts=(Part(text=text),)))

    def on_ready(self, wake: Wake) -> None:
        """See `EventSource.on_ready`."""
        self.events.on_ready(wake)
        self._end_timer()
        self._timer = self.scheduler.run_later(self.deadline - self.scheduler.clock(), wake)

    def close(self) -> None:
        """See `EventSource.close`."""
        self._end_timer()
        self.events.close()

    def _end_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
