"""An agent's own messages, tasks and artifacts, passed on with the hub's ids (a route with `passes_tasks`)."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from a2a_hub.a2a import reply
from a2a_hub.a2a.call import Call
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
from functions.hub.downstream.artifact_ids import ArtifactIds
from functions.hub.downstream.event_translator import TranslatedEvent

# A message and an artifact have a part (A2A 1.0.1 §5.7), and clients in Java refuse those without. The last chunk of agents made
# with the SDK for Python is one without.
_NO_PARTS = (Part(text=""),)


def mirrored(
    heard: Iterator[TranslatedEvent], *, context_id: str, call: Call, message_factory: MessageFactory
) -> Iterator[Event]:
    """The events as the agent sent them, but for the ids; a failure or a question of the hub's own is the task's.

    The history is the hub's own: the agent's may hold what was said to it under other ids.
    """
    task_id = call.task.id if call.task else message_factory.new_id()
    begun = False
    ids = ArtifactIds(call.task)
    before = call.task.before if call.task else None
    begun_artifacts = {each.artifact_id for each in before.artifacts} if before else set()

    def artifact(agents_task: str, said: Artifact) -> Artifact:
        id_ = ids.of(agents_task, said.artifact_id)
        begun_artifacts.add(id_)
        return msgspec.structs.replace(said, artifact_id=id_, parts=said.parts or _NO_PARTS)

    def message(said: Message) -> Message:
        return msgspec.structs.replace(
            said, context_id=context_id, task_id=task_id, parts=said.parts or _NO_PARTS, reference_task_ids=()
        )

    def status(said: TaskStatus) -> TaskStatus:
        timestamp = said.timestamp or message_factory.timestamp()
        text = message(said.message) if said.message else None
        return msgspec.structs.replace(said, message=text, timestamp=timestamp)

    for event, pieces in heard:
        match event:
            case Message():
                yield msgspec.structs.replace(
                    event, context_id=context_id, task_id=None, parts=event.parts or _NO_PARTS
                )
            case Task():
                begun = True
                yield msgspec.structs.replace(
                    event,
                    id=task_id,
                    context_id=context_id,
                    status=status(event.status),
                    artifacts=tuple(artifact(event.id, each) for each in event.artifacts),
                    history=(),
                )
            case TaskStatusUpdateEvent():
                yield msgspec.structs.replace(
                    event, task_id=task_id, context_id=context_id, status=status(event.status)
                )
            case TaskArtifactUpdateEvent():
                begins = ids.of(event.task_id, event.artifact.artifact_id) not in begun_artifacts
                yield msgspec.structs.replace(
                    event,
                    task_id=task_id,
                    context_id=context_id,
                    artifact=artifact(event.task_id, event.artifact),
                    # FastA2A appends its first chunk, too; official clients drop what is appended to nothing.
                    append=event.append and not begins,
                )
            case None:
                for piece in pieces:
                    if isinstance(piece, reply.Failure | reply.Question):
                        fails = isinstance(piece, reply.Failure)
                        state = TaskState.FAILED if fails else TaskState.INPUT_REQUIRED
                        yield from _ended(
                            state, piece.text, task_id, context_id, message_factory, begun=begun
                        )


def _ended(
    state: TaskState,
    text: str,
    task_id: str,
    context_id: str,
    message_factory: MessageFactory,
    *,
    begun: bool,
) -> Iterator[Event]:
    said = message_factory.message(Part(text=text), context_id=context_id, task_id=task_id)
    status = TaskStatus(state=state, message=said, timestamp=message_factory.timestamp())
    if begun:
        yield TaskStatusUpdateEvent(task_id=task_id, context_id=context_id, status=status)
    else:
        yield Task(id=task_id, context_id=context_id, status=status)
