"""Turns the pieces of an agent's answer into the protocol's events.

An agent yields `Text`, `Data`, `Progress`, `Question`, `Idle` or `Failure`; here they become one Message (SendMessage) or a
task's life (SendStreamingMessage): task → working → artifact updates → one final status, every event with both ids.
"""

import math
from collections.abc import Iterator
from itertools import count
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from a2a_hub.a2a import model
from a2a_hub.a2a.a2ui import a2ui_in
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.fold import fold
from a2a_hub.runtime.ids import id_of, new_id, timestamp

__all__ = ["Data", "Failure", "Idle", "Piece", "Progress", "Question", "Surface", "Text"]


class Text(Struct, frozen=True):
    """A chunk of the answer's text; chunks are concatenated. With `more`, it is sent at once; otherwise together with the next
    piece, so that the last chunk can be marked.
    """

    text: str
    more: bool = False


class Data(Struct, frozen=True):
    """The structured form of the answer, a JSON object, for clients that accept JSON."""

    value: dict[str, Any]


class Progress(Struct, frozen=True):
    """The agent's current activity; shown while it works, and no part of the answer."""

    text: str


class Surface(Struct, frozen=True):
    """A part of A2UI, for clients that activate it; its text is part of the answer's."""

    part: model.Part


class Question(Struct, frozen=True):
    """A question to the user, or with `auth` a request for a credential. The task waits for the answer."""

    text: str
    auth: bool = False


class Idle(Struct, frozen=True):
    """The end of an answer without a question, after which the task can be continued."""


class Rejection(Struct, frozen=True):
    """The end of an answer that explains a rejection. For programs, the task is rejected; people get the text."""


class Failure(Struct, frozen=True):
    """The failure of an answer; the text helps the user, the rest programs. `retryable`: the same request may succeed later."""

    text: str
    reason: str = "FAILED"
    retryable: bool = False
    retry_after_seconds: float | None = None

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata of the status message of a failed task."""
        wait = {} if self.retry_after_seconds is None else {"retryAfterSeconds": math.ceil(self.retry_after_seconds)}
        return {"error": {"reason": self.reason, "retryable": self.retryable} | wait}


Piece = Text | Data | Surface | Progress | Question | Idle | Rejection | Failure


def agent_message(
    *parts: model.Part, context_id: str | None, task_id: str | None = None, metadata: dict[str, Any] | None = None
) -> model.Message:
    """Return a message of the agent with a new id."""
    return model.Message(
        message_id=new_id(),
        role=model.Role.AGENT,
        parts=parts,
        context_id=context_id,
        task_id=task_id,
        metadata=metadata,
    )


def to_events(pieces: Iterator[Piece], *, context_id: str, call: Call, as_task: bool = True) -> Iterator[model.Event]:
    """Return the events of one turn: a task's life for SendStreamingMessage and, with `as_task`, for a stored task; else the
    result alone, a Message unless it is a program's and waits, has failed or is rejected.
    """
    if (call.streaming and (as_task or call.for_ui)) or (as_task and call.task is not None):
        return _task_life(pieces, context_id=context_id, call=call)
    return _result(pieces, context_id=context_id, call=call)


def status_update(
    task: model.Task, state: model.TaskState, message: model.Message | None = None, *, at: str | None = None
) -> model.TaskStatusUpdateEvent:
    """Return a new status of the task, which it has since this moment, or since the time `at`."""
    status = model.TaskStatus(state=state, message=message, timestamp=timestamp() if at is None else at)
    return model.TaskStatusUpdateEvent(task_id=task.id, context_id=task.context_id or "", status=status)


def artifact_update(
    task: model.Task, artifact: model.Artifact, *, append: bool = False, last_chunk: bool = True
) -> model.TaskArtifactUpdateEvent:
    """Return an artifact of the task, whole unless the arguments say otherwise."""
    return model.TaskArtifactUpdateEvent(
        task_id=task.id, context_id=task.context_id or "", artifact=artifact, append=append, last_chunk=last_chunk
    )


def as_message(task: model.Task, *, before: model.Task | None) -> model.Message:
    """Return a task as a Message for a client that gets no task: the artifacts of this turn and its last status message.

    Its id is always the same for the same turn: a request that is repeated has the same answer.
    """
    texts: list[str] = []
    others: list[model.Part] = []
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
    parts = (model.Part(text="\n\n".join(texts)), *others)
    answer_id = id_of(f"{task.id}/{task.status.timestamp}")
    return model.Message(message_id=answer_id, role=model.Role.AGENT, parts=parts, context_id=task.context_id)


def _result(pieces: Iterator[Piece], *, context_id: str, call: Call) -> Iterator[model.Event]:
    """Yield the Message; for a program, the task of an answer that waits, has failed or is a rejection."""
    taken = [*pieces]
    if not call.for_ui and any(isinstance(piece, (Question, Idle, Rejection, Failure)) for piece in taken):
        yield fold(_task_life(iter(taken), context_id=context_id, call=call))
        return
    texts: list[str] = []
    question = ""
    for piece in taken:
        match piece:
            case Text(text):
                texts.append(text)
            case Failure(text):
                texts.append(f"\n\n{text}" if any(texts) else text)
            case Question(question):
                pass
    text = "\n\n".join(filter(None, ("".join(texts), question)))
    others = (part for piece in taken if (part := _other_part(piece, call)))
    yield agent_message(model.Part(text=text), *others, context_id=context_id)


def _other_part(piece: Piece, call: Call) -> model.Part | None:
    """Return the part of a piece that is no text; None if the client does not take it."""
    match piece:
        case Data(value) if call.wants_data:
            return model.Part(data=value, media_type="application/json")
        case Surface(part) if a2ui_in(call.extensions):
            return part
    return None


def _task_life(pieces: Iterator[Piece], *, context_id: str, call: Call) -> Iterator[model.Event]:
    task_id = call.task.id if call.task else new_id()
    submitted = model.TaskStatus(state=model.TaskState.SUBMITTED, timestamp=timestamp())
    task = model.Task(id=task_id, context_id=context_id, status=submitted)
    # Constant ids: a turn that runs again replaces its artifacts instead of adding others.
    turn = call.task.turn if call.task else 1
    artifact_id = f"answer-{turn}"
    numbers = {"data": count(1), "surface": count(1)}

    def status(
        state: model.TaskState, text: str | None = None, metadata: dict[str, Any] | None = None
    ) -> model.TaskStatusUpdateEvent:
        message = None
        if text is not None:
            message = agent_message(model.Part(text=text), context_id=context_id, task_id=task_id, metadata=metadata)
        return status_update(task, state, message)

    def artifact(
        part: model.Part, *, id_: str = artifact_id, append: bool = False, last: bool = False, name: str = "answer"
    ) -> model.TaskArtifactUpdateEvent:
        whole = model.Artifact(artifact_id=id_, name=name, parts=(part,))
        return artifact_update(task, whole, append=append, last_chunk=last)

    yield task
    yield status(model.TaskState.WORKING)
    started = False
    # A chunk of text that may be the last one, and the artifacts after it.
    held: list[model.TaskArtifactUpdateEvent] = []
    final: model.TaskStatusUpdateEvent | None = None
    for piece in pieces:
        if isinstance(piece, Text) and not piece.text:
            continue
        if isinstance(piece, (Text, Question, Failure, Progress)):
            yield from held
            held = []
        other: model.TaskArtifactUpdateEvent | None = None
        match piece:
            case Text(text, more):
                chunk = artifact(model.Part(text=text), append=started)
                started = True
                if more:
                    yield chunk
                else:
                    held = [chunk]
            case Question(text) | Failure(text):
                # The view of a stored task adds this where the task is shown to a person.
                if shows_ends := call.for_ui and call.task is None:
                    held = [artifact(model.Part(text=f"\n\n{text}" if started else text), append=started)]
                    started = True
                if isinstance(piece, Question):
                    final = status(
                        model.TaskState.AUTH_REQUIRED if piece.auth else model.TaskState.INPUT_REQUIRED, text
                    )
                elif not shows_ends:
                    final = status(model.TaskState.FAILED, text, piece.metadata)
            case Idle() if call.task is not None or not call.for_ui:
                final = status(model.TaskState.INPUT_REQUIRED)
            case Rejection() if not call.for_ui:
                final = status(model.TaskState.REJECTED)
            case Progress(text):
                yield status(model.TaskState.WORKING, text)
            case Data() | Surface() if part := _other_part(piece, call):
                name = "data" if isinstance(piece, Data) else "surface"
                other = artifact(part, id_=f"{name}-{turn}.{next(numbers[name])}", last=True, name=name)
        if other is not None and held:
            held.append(other)
        elif other is not None:
            yield other
    if held:
        yield replace(held[0], last_chunk=True)
        yield from held[1:]
    elif started:
        yield artifact(model.Part(text=""), append=True, last=True)
    yield final or status(model.TaskState.COMPLETED)
