"""From an agent's pieces of answer to the protocol's events.

An agent yields `Text`, `Data`, `Progress`, `Question`, `Idle` or `Failure`; here they become one Message (SendMessage) or a
task's life (SendStreamingMessage): task → working → artifact updates → one final status, every event with both ids.
"""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from msgspec import Struct

from a2a_hub.a2a.call import Call
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
)

__all__ = ["Data", "Failure", "Idle", "Piece", "Progress", "Question", "Text"]


class Text(Struct, frozen=True):
    """A further stretch of the answer's text. Stretches are concatenated."""

    text: str


class Data(Struct, frozen=True):
    """The structured form of the answer, a JSON object, for clients that accept JSON."""

    value: dict[str, Any]


class Progress(Struct, frozen=True):
    """The agent's current activity; shown while it works, and no part of the answer."""

    text: str


class Question(Struct, frozen=True):
    """A question to the user, or with `auth` a request for a credential. The task waits for the answer."""

    text: str
    auth: bool = False


class Idle(Struct, frozen=True):
    """The end of an answer without a question, after which the task can be continued."""


class Failure(Struct, frozen=True):
    """The failure of an answer; the text helps the user."""

    text: str


Piece = Text | Data | Progress | Question | Idle | Failure


class MessageFactory(Struct, frozen=True, kw_only=True):
    """A source of new ids and timestamps."""

    new_id: Callable[[], str]
    timestamp: Callable[[], str]

    def message(self, *parts: Part, context_id: str | None, task_id: str | None = None) -> Message:
        """Return a message of the agent with a new id."""
        return Message(message_id=self.new_id(), role=Role.AGENT, parts=parts, context_id=context_id, task_id=task_id)


def to_events(
    pieces: Iterator[Piece],
    *,
    context_id: str,
    call: Call,
    message_factory: MessageFactory,
    as_task: bool = True,
) -> Iterator[Event]:
    """Return the events of one turn: a task's life for SendStreamingMessage and, with `as_task`, for a stored task; else a
    Message.
    """
    if call.streaming or (as_task and call.task is not None):
        return _task_life(pieces, context_id=context_id, call=call, message_factory=message_factory)
    return _message(pieces, context_id=context_id, call=call, message_factory=message_factory)


def as_message(task: Task, *, before: Task | None, message_id: str) -> Message:
    """Return a task as a Message for a client that gets no task: the artifacts of this turn and its last status message."""
    texts: list[str] = []
    others: list[Part] = []
    for artifact in task.artifacts:
        if before is not None and artifact in before.artifacts:
            continue
        text = "".join(part.text for part in artifact.parts if part.text is not None)
        texts += [text] if text else []
        others += [part for part in artifact.parts if part.text is None]
    message = task.status.message
    if message is not None:
        texts += [part.text for part in message.parts if part.text]
        others += [part for part in message.parts if part.text is None]
    parts = (Part(text="\n\n".join(texts)), *others) if texts or not others else tuple(others)
    return Message(message_id=message_id, role=Role.AGENT, parts=parts, context_id=task.context_id)


def _message(
    pieces: Iterator[Piece], *, context_id: str, call: Call, message_factory: MessageFactory
) -> Iterator[Event]:
    texts: list[str] = []
    data: list[Part] = []
    for piece in pieces:
        match piece:
            case Text(text):
                texts.append(text)
            case Question(text):
                texts.append(f"\n\n{text}" if any(texts) else text)
            case Failure(text):
                texts = [f"{''.join(texts)}\n\n{text}" if any(texts) else text]
            case Data(value):
                data.append(Part(data=value, media_type="application/json"))
            case Progress() | Idle():
                pass
    yield message_factory.message(Part(text="".join(texts)), *(data if call.wants_data else ()), context_id=context_id)


def _task_life(
    pieces: Iterator[Piece], *, context_id: str, call: Call, message_factory: MessageFactory
) -> Iterator[Event]:
    task_id = call.task.id if call.task else message_factory.new_id()
    # Constant ids: a turn that runs again replaces its artifacts instead of adding others.
    turn = call.task.turn if call.task else 1
    artifact_id = f"answer-{turn}"
    data_ids = (f"data-{turn}.{number}" for number in count(1))

    def status(state: TaskState, text: str | None = None) -> TaskStatusUpdateEvent:
        message = None
        if text is not None:
            message = message_factory.message(Part(text=text), context_id=context_id, task_id=task_id)
        return TaskStatusUpdateEvent(
            task_id=task_id,
            context_id=context_id,
            status=TaskStatus(state=state, message=message, timestamp=message_factory.timestamp()),
        )

    def artifact(part: Part, *, id_: str, append: bool = False) -> TaskArtifactUpdateEvent:
        return TaskArtifactUpdateEvent(
            task_id=task_id,
            context_id=context_id,
            artifact=Artifact(artifact_id=id_, name="answer" if part.text is not None else "data", parts=(part,)),
            append=append,
        )

    yield Task(
        id=task_id,
        context_id=context_id,
        status=TaskStatus(state=TaskState.SUBMITTED, timestamp=message_factory.timestamp()),
    )
    yield status(TaskState.WORKING)
    started = False
    final: TaskStatusUpdateEvent | None = None
    for piece in pieces:
        match piece:
            case Text(text):
                if text:
                    yield artifact(Part(text=text), id_=artifact_id, append=started)
                    started = True
            case Failure(text):
                # A stored task has failed; it becomes an answer where it is shown to a person.
                if call.for_ui and call.task is None:
                    yield artifact(Part(text=f"\n\n{text}" if started else text), id_=artifact_id, append=started)
                    started = True
                else:
                    final = status(TaskState.FAILED, text)
            case Question(text, auth):
                final = status(TaskState.AUTH_REQUIRED if auth else TaskState.INPUT_REQUIRED, text)
            case Idle() if call.task is not None or not call.for_ui:
                final = status(TaskState.INPUT_REQUIRED)
            case Idle():
                pass
            case Progress(text):
                yield status(TaskState.WORKING, text)
            case Data(value):
                if call.wants_data:
                    yield artifact(Part(data=value, media_type="application/json"), id_=next(data_ids))
    yield final or status(TaskState.COMPLETED)
