"""Tasks filtered for user interfaces: no hidden text and no foreign links, however the text is split into parts."""

from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from a2a_hub.a2a.model import (
    Event,
    Message,
    Part,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from a2a_hub.a2a.relay import EventSource
from a2a_hub.http.messages import Wake

# More than what decides on the text that follows it.
_LONGEST_END = 50


class Display(Protocol):
    """The filter of parts for user interfaces."""

    def __call__(self, parts: tuple[Part, ...], *, is_question: bool = False, after: str = "") -> tuple[Part, ...]:
        """Return the parts of one text, or of a question, as they may be shown where the text `after` is shown before them."""


def unfiltered(parts: tuple[Part, ...], *, is_question: bool = False, after: str = "") -> tuple[Part, ...]:  # noqa: ARG001 - the protocol's
    """Return the parts unchanged: the `Display` for our own texts."""
    return parts


class ShownArtifacts(Struct):
    """The artifacts of one task, which may come in chunks, as `display` shows them."""

    display: Display
    _ends: dict[str, str] = {}

    def show(self, artifact_id: str, parts: tuple[Part, ...], *, append: bool = False) -> tuple[Part, ...]:
        """Return the parts of an artifact, or of a chunk to `append`, as they may be shown."""
        before = self._ends.get(artifact_id, "") if append else ""
        shown = self.display(parts, after=before)
        self._ends[artifact_id] = (before + "".join(part.text or "" for part in shown))[-_LONGEST_END:]
        return shown


class DisplayedEvents:
    """The events of a task that a user interface follows or reads, an `EventSource`: whole, but for what it may not show."""

    def __init__(self, events: EventSource, display: Display) -> None:
        self._events = events
        self._artifacts = ShownArtifacts(display)

    def poll(self) -> Event | None:
        """See `EventSource.poll`."""
        event = self._events.poll()
        match event:
            case Task():
                return displayed_task(event, self._artifacts)
            case TaskStatusUpdateEvent(status=status):
                return replace(event, status=_status(status, self._artifacts.display))
            case TaskArtifactUpdateEvent(artifact=artifact, append=append):
                parts = self._artifacts.show(artifact.artifact_id, artifact.parts, append=append)
                return replace(event, artifact=replace(artifact, parts=parts))
        return event

    def on_ready(self, wake: Wake) -> None:
        """See `EventSource.on_ready`."""
        self._events.on_ready(wake)

    def close(self) -> None:
        """See `EventSource.close`."""
        self._events.close()


def displayed_task(task: Task, artifacts: ShownArtifacts) -> Task:
    """Return the task as a user interface may show it."""
    return replace(
        task,
        status=_status(task.status, artifacts.display),
        artifacts=tuple(replace(each, parts=artifacts.show(each.artifact_id, each.parts)) for each in task.artifacts),
        history=tuple(_message(each, artifacts.display) for each in task.history),
    )


def _status(status: TaskStatus, display: Display) -> TaskStatus:
    if status.message is None:
        return status
    return replace(status, message=_message(status.message, display, is_question=status.state.interrupted))


def _message(message: Message, display: Display, *, is_question: bool = False) -> Message:
    # The person's own messages are not filtered.
    return (
        replace(message, parts=display(message.parts, is_question=is_question))
        if message.role is Role.AGENT
        else message
    )
