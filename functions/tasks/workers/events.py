"""Translate a worker's reports into the events of its task's log."""

from collections.abc import Iterator, Sequence

from a2a_hub.a2a.errors import invalid_field
from a2a_hub.a2a.model import Artifact, Event, Part, Task, TaskState, TaskStatusUpdateEvent
from a2a_hub.a2a.reply import MessageFactory, artifact_update, status_update
from a2a_hub.task_store.store import StoredTask
from a2a_hub.tasks.resume_payload import decode_resume_payload
from functions.tasks.workers.wire import Status, Update, state_after


class Events:
    """The events of workers' reports; `message_factory` supplies ids and the time of day."""

    def __init__(self, message_factory: MessageFactory) -> None:
        self._message_factory = message_factory

    def status(self, task: Task, state: TaskState, text: str | None = None) -> TaskStatusUpdateEvent:
        """Return a new status of the task, with the worker's text."""
        message = None
        if text:
            message = self._message_factory.message(Part(text=text), context_id=task.context_id, task_id=task.id)
        return status_update(task, state, self._message_factory.timestamp(), message)

    def of_result(self, stored: StoredTask, text: str | None, artifacts: Sequence[Artifact]) -> list[Event]:
        """Return the result's artifacts and the completed status. Raise INVALID_PARAMS that names the field."""
        task = stored.task
        for index, artifact in enumerate(artifacts):
            _check(artifact, f"artifacts[{index}]")
        results = list(artifacts)
        if text:
            # The id is stable: repeated work replaces its artifact instead of adding another.
            turn = decode_resume_payload(stored.payload).turn if stored.payload else 1
            results.insert(0, Artifact(artifact_id=f"answer-{turn}", name="answer", parts=(Part(text=text),)))
        return [*(artifact_update(task, each) for each in results), self.status(task, TaskState.COMPLETED)]

    def of_progress(self, task: Task, updates: Sequence[Update]) -> Iterator[Event]:
        """Yield the updates as events. Raise INVALID_PARAMS that names the field."""
        state = task.status.state
        for index, update in enumerate(updates):
            place = f"updates[{index}]"
            if state.terminal:
                raise invalid_field(place, "comes after the task's end")
            if update.artifact is not None:
                if update.status is not None or update.text is not None:
                    raise invalid_field(place, "has an artifact and a status or a text: they are two updates")
                _check(update.artifact, f"{place}.artifact")
                yield artifact_update(task, update.artifact, append=update.append, last_chunk=update.last_chunk)
                continue
            if update.status is None and not update.text:
                raise invalid_field(place, "must have a status, a text, or an artifact")
            status = Status.IN_PROGRESS if update.status is None else _status(update.status, place)
            changed = state_after(state, status)
            if changed is not state or update.text:
                yield self.status(task, changed, update.text)
            state = changed


def _check(artifact: Artifact, place: str) -> None:
    """Raise INVALID_PARAMS unless the artifact has what A2A requires (1.0.1 §4.1.7)."""
    if not artifact.artifact_id:
        raise invalid_field(f"{place}.artifactId", "must not be empty")
    if not artifact.parts:
        raise invalid_field(f"{place}.parts", "must have at least one part")


def _status(word: str, place: str) -> Status:
    try:
        return Status(word)
    except ValueError:
        raise invalid_field(f"{place}.status", f"must be one of {', '.join(Status)}") from None
