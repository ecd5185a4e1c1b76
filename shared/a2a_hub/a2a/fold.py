"""The fold of a turn's events into a task, and into the one result of SendMessage (A2A 1.0.1 §3.1.1)."""

from collections.abc import Iterable

import msgspec

from a2a_hub.a2a import model
from a2a_hub.a2a.errors import INVALID_AGENT_RESPONSE, A2AError


class TaskAccumulator:
    """A task that grows by events. Adding one costs as much as the event, not the task: an agent may send 50,000."""

    status: model.TaskStatus
    _task: model.Task
    _history: list[model.Message]
    _artifacts: list[model.Artifact]
    _parts: dict[int, list[model.Part]]
    _places: dict[str, int]

    def __init__(self, task: model.Task) -> None:
        self._replace(task)

    @property
    def task(self) -> model.Task:
        """The current task."""
        return msgspec.structs.replace(
            self._task,
            status=self.status,
            history=tuple(self._history),
            artifacts=tuple(map(self._whole, range(len(self._artifacts)))),
        )

    def artifact(self, artifact_id: str) -> model.Artifact | None:
        """Return the current artifact, None if there is none."""
        place = self._places.get(artifact_id)
        return None if place is None else self._whole(place)

    def add(self, event: model.Event) -> None:
        """Add the next entry of the task's log. An appended artifact's parts follow the existing ones (§4.2.2); an
        empty text, which ends many, adds none.

        A whole task replaces this one; a message joins its history, as does a status's message when another status follows.
        """
        match event:
            case model.Task():
                self._replace(event)
            case model.Message():
                self._history.append(event)
            case model.TaskStatusUpdateEvent():
                if self.status.message is not None:
                    self._history.append(self.status.message)
                self.status = event.status
            case model.TaskArtifactUpdateEvent():
                self._add_artifact(event.artifact, append=event.append)

    def _replace(self, task: model.Task) -> None:
        self._task = task
        self.status = task.status
        self._history = list(task.history)
        self._artifacts = list(task.artifacts)
        self._parts = {}
        self._places = {}
        for place, artifact in enumerate(self._artifacts):
            self._places.setdefault(artifact.artifact_id, place)

    def _add_artifact(self, artifact: model.Artifact, *, append: bool) -> None:
        place = self._places.setdefault(artifact.artifact_id, len(self._artifacts))
        if place == len(self._artifacts):
            self._artifacts.append(artifact)
        elif append:
            self._parts.setdefault(place, list(self._artifacts[place].parts)).extend(
                part for part in artifact.parts if part.text != ""
            )
        else:
            self._artifacts[place] = artifact
            self._parts.pop(place, None)

    def _whole(self, place: int) -> model.Artifact:
        parts = self._parts.pop(place, None)
        if parts is not None:
            self._artifacts[place] = msgspec.structs.replace(self._artifacts[place], parts=tuple(parts))
        return self._artifacts[place]


def fold(events: Iterable[model.Event]) -> model.Task | model.Message:
    """Return the Message, or the task in its last state. Raises INVALID_AGENT_RESPONSE for an order that §3.1.2 does not know."""
    growing: TaskAccumulator | None = None
    task_id = ""
    for event in events:
        match event:
            case model.Message() if growing is None:
                return event
            case model.Task() if growing is None:
                growing, task_id = TaskAccumulator(event), event.id
            case (
                model.Task(id=of) | model.TaskStatusUpdateEvent(task_id=of) | model.TaskArtifactUpdateEvent(task_id=of)
            ) if growing is not None and of == task_id:
                growing.add(event)
            case _:
                raise A2AError(INVALID_AGENT_RESPONSE, "The agent sent an event that does not belong to its task")
    if growing is None:
        raise A2AError(INVALID_AGENT_RESPONSE, "The agent sent no result")
    return growing.task


def with_history(task: model.Task, length: int | None) -> model.Task:
    """Return the task with its last `length` messages, all of them for None (A2A 1.0.1 §3.2.4)."""
    if length is None or length >= len(task.history):
        return task
    return msgspec.structs.replace(task, history=task.history[len(task.history) - length :])
