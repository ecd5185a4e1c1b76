"""An agent's own messages, tasks and artifacts, passed on with the hub's ids (a route with `passes_tasks`)."""

from collections.abc import Iterator
from itertools import count
from typing import Any

from msgspec.structs import replace

from a2a_hub.a2a import model, reply
from a2a_hub.a2a.a2ui import a2ui_in, without_surfaces
from a2a_hub.a2a.call import Call, CurrentTask
from a2a_hub.a2a.extensions.development_tool import URI as DEVELOPMENT_TOOL
from a2a_hub.a2a.extensions.memory import is_memory
from a2a_hub.a2a.reply import agent_message
from a2a_hub.routing.routes import Route
from a2a_hub.runtime.ids import new_id, timestamp
from functions.hub.downstream.event_translator import TranslatedEvent, status_from_history

# A message and an artifact have a part (A2A 1.0.1 §5.7), and clients in Java refuse those without. The last chunk of agents made
# with the SDK for Python is one without.
_NO_PARTS = (model.Part(text=""),)
_NOTE = "artifacts"
# Notes are stored again with each event, and so stay small. Artifacts beyond these are not noted, nor replaced by a second run.
_MAX_NOTED = 200


def is_mirrored(route: Route, call: Call) -> bool:
    """Return True if the caller gets the agent's own task. A program that accepts text alone could not read the questions of a
    development tool, which are data, and answers them in words, as in a user interface.
    """
    text_alone = bool(call.accepted_modes) and not call.wants_data and DEVELOPMENT_TOOL not in call.extensions
    asks_in_words = text_alone and DEVELOPMENT_TOOL in route.extensions
    return route.passes_tasks and not (call.for_ui or asks_in_words)


def mirrored(translated: Iterator[TranslatedEvent], *, context_id: str, call: Call) -> Iterator[model.Event]:
    """Yield the events as the agent sent them, with the hub's ids; a failure or a question of the hub's own becomes the task's.

    The history is the hub's own: the agent's may have messages under other ids. What an agent says only there is in the status.
    A failure's text is the hub's: that of an agent may be an exception's.
    """
    task_id = call.task.id if call.task else new_id()
    begun = is_over = False
    ids = ArtifactIds(call.task)
    before = call.task.before if call.task else None
    begun_artifacts = {each.artifact_id for each in before.artifacts} if before else set()

    def shown(parts: tuple[model.Part, ...]) -> tuple[model.Part, ...]:
        parts = _for_callers(parts)
        return (parts if a2ui_in(call.extensions) else without_surfaces(parts)) or _NO_PARTS

    def artifact(agents_task: str, theirs: model.Artifact) -> model.Artifact:
        id_ = ids.of(agents_task, theirs.artifact_id)
        begun_artifacts.add(id_)
        return replace(theirs, artifact_id=id_, parts=shown(theirs.parts))

    def message(theirs: model.Message) -> model.Message:
        return replace(theirs, context_id=context_id, task_id=task_id, parts=shown(theirs.parts), reference_task_ids=())

    def status(theirs: model.TaskStatus) -> model.TaskStatus:
        text = message(theirs.message) if theirs.message else None
        return replace(theirs, message=text, timestamp=theirs.timestamp or timestamp())

    def ended(piece: reply.Failure | reply.Question) -> model.Event:
        state, metadata = model.TaskState.INPUT_REQUIRED, None
        if isinstance(piece, reply.Failure):
            state, metadata = model.TaskState.FAILED, piece.metadata
        text = agent_message(model.Part(text=piece.text), context_id=context_id, task_id=task_id, metadata=metadata)
        last = model.TaskStatus(state=state, message=text, timestamp=timestamp())
        if begun:
            return model.TaskStatusUpdateEvent(task_id=task_id, context_id=context_id, status=last)
        return model.Task(id=task_id, context_id=context_id, status=last)

    for event, pieces in translated:
        match event:
            case model.Message():
                yield replace(event, context_id=context_id, task_id=None, parts=_for_callers(event.parts) or _NO_PARTS)
            case model.Task(status=model.TaskStatus(state=model.TaskState.FAILED)):
                begun = True
                kept = tuple(artifact(event.id, each) for each in event.artifacts)
                working = model.TaskStatus(state=model.TaskState.WORKING, timestamp=timestamp())
                yield replace(event, id=task_id, context_id=context_id, status=working, artifacts=kept, history=())
            case model.TaskStatusUpdateEvent(status=model.TaskStatus(state=model.TaskState.FAILED)):
                pass
            case model.Task():
                begun, is_over = True, event.status.state.terminal
                answers = event.status.state is model.TaskState.COMPLETED or event.status.state.interrupted
                yield replace(
                    event,
                    id=task_id,
                    context_id=context_id,
                    status=status(status_from_history(event) if answers and not begun_artifacts else event.status),
                    artifacts=tuple(artifact(event.id, each) for each in event.artifacts),
                    history=(),
                )
            case model.TaskStatusUpdateEvent():
                is_over = event.status.state.terminal
                yield replace(event, task_id=task_id, context_id=context_id, status=status(event.status))
            case model.TaskArtifactUpdateEvent():
                begins = ids.of(event.task_id, event.artifact.artifact_id) not in begun_artifacts
                yield replace(
                    event,
                    task_id=task_id,
                    context_id=context_id,
                    artifact=artifact(event.task_id, event.artifact),
                    # FastA2A appends its first chunk, too; official clients drop what is appended to nothing.
                    append=event.append and not begins,
                )
            case None:
                for piece in pieces:
                    # A task that its agent has rejected without a word has ended, and fails in the log alone.
                    if isinstance(piece, reply.Failure | reply.Question) and not is_over:
                        yield ended(piece)


def _for_callers(parts: tuple[model.Part, ...]) -> tuple[model.Part, ...]:
    return tuple(part for part in parts if not is_memory(part.data))


class ArtifactIds:
    """The ids of one task's artifacts: the agent's own, unless the agent repeats the turn in another task.

    Then its artifacts take the ids of those of the run before, in order, and so replace them. The ids are noted with the task.
    """

    def __init__(self, task: CurrentTask | None) -> None:
        self._turn = task.turn if task else 1
        self._notes: dict[str, Any] = task.notes if task else {}
        self._agents_task: str | None = None
        self._ids: dict[str, list[Any]] = {}
        self._given: set[str] = set()
        self._left: list[str] = []

    def of(self, agents_task: str, artifact_id: str) -> str:
        """Return the id under which the artifact of the agent's task is passed on."""
        if agents_task != self._agents_task:
            self._enter(agents_task)
        known = self._ids.get(artifact_id)
        if known is None:
            known = self._ids[artifact_id] = [self._new(artifact_id), self._turn]
            self._given.add(known[0])
            if len(self._ids) <= _MAX_NOTED:
                # A copy, since another thread may be storing the notes.
                self._notes[_NOTE] = {"task": agents_task, "ids": dict(self._ids)}
        return str(known[0])

    def _new(self, artifact_id: str) -> str:
        if artifact_id in self._left:
            self._left.remove(artifact_id)
            return artifact_id
        if self._left:
            return self._left.pop(0)
        if artifact_id not in self._given:
            return artifact_id
        free = (f"{artifact_id}-{number}" for number in count(2))
        return next(each for each in free if each not in self._given)

    def _enter(self, agents_task: str) -> None:
        noted = self._notes.get(_NOTE) or {"task": agents_task, "ids": {}}
        self._agents_task = agents_task
        if noted["task"] == agents_task:
            self._ids, self._left = dict(noted["ids"]), []
        else:
            self._ids = {}
            self._left = [given for given, turn in noted["ids"].values() if turn == self._turn]
        self._given = {given for given, _ in self._ids.values()}
