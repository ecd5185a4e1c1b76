"""The events of one turn become its one result (A2A 1.0.1 §3.1.1, §3.1.2)."""

from collections.abc import Iterator

import pytest

from a2a_hub.a2a.errors import INVALID_AGENT_RESPONSE, A2AError
from a2a_hub.a2a.fold import fold
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

MESSAGE = Message(message_id="m", role=Role.AGENT, parts=(Part(text="hello"),))
TASK = Task(id="t", context_id="c", status=TaskStatus(state=TaskState.SUBMITTED))


def _status(state: TaskState, task_id: str = "t") -> TaskStatusUpdateEvent:
    return TaskStatusUpdateEvent(task_id=task_id, context_id="c", status=TaskStatus(state=state))


def _artifact(text: str, *, id_: str = "a", append: bool = False, task_id: str = "t") -> TaskArtifactUpdateEvent:
    artifact = Artifact(artifact_id=id_, parts=(Part(text=text),))
    return TaskArtifactUpdateEvent(task_id=task_id, context_id="c", artifact=artifact, append=append)


def _texts(task: Task | Message) -> dict[str, list[str | None]]:
    assert isinstance(task, Task)
    return {artifact.artifact_id: [part.text for part in artifact.parts] for artifact in task.artifacts}


def test_a_message_is_the_result() -> None:
    assert fold(iter([MESSAGE])) is MESSAGE


def test_a_task_is_in_its_last_state() -> None:
    result = fold([TASK, _status(TaskState.WORKING), _status(TaskState.COMPLETED)])
    assert isinstance(result, Task)
    assert result.status.state is TaskState.COMPLETED
    assert (result.id, result.context_id) == ("t", "c")


def test_appended_parts_follow_those_that_are_there() -> None:
    events: list[Event] = [TASK, _artifact("one"), _artifact("two", append=True), _artifact("other", id_="b")]
    assert _texts(fold(events)) == {"a": ["one", "two"], "b": ["other"]}


def test_an_artifact_that_is_not_appended_replaces_the_one_of_its_id_in_its_place() -> None:
    events: list[Event] = [TASK, _artifact("one"), _artifact("other", id_="b"), _artifact("two")]
    assert _texts(fold(events)) == {"a": ["two"], "b": ["other"]}


def test_appending_to_nothing_begins_an_artifact() -> None:
    assert _texts(fold([TASK, _artifact("one", append=True)])) == {"a": ["one"]}


def test_a_later_snapshot_of_the_task_counts() -> None:
    snapshot = Task(id="t", context_id="c", status=TaskStatus(state=TaskState.COMPLETED))
    assert fold([TASK, _artifact("one"), snapshot]) == snapshot


NO_TURN: dict[str, list[Event]] = {
    "nothing": [],
    "an update before its task": [_status(TaskState.WORKING), TASK],
    "an artifact before its task": [_artifact("one")],
    "an update of another task": [TASK, _status(TaskState.COMPLETED, "u")],
    "an artifact of another task": [TASK, _artifact("one", task_id="u")],
    "another task": [TASK, Task(id="u", status=TaskStatus(state=TaskState.COMPLETED))],
    "a message after a task": [TASK, MESSAGE],
}


@pytest.mark.parametrize("events", NO_TURN.values(), ids=NO_TURN.keys())
def test_events_in_another_order_are_an_invalid_response(events: list[Event]) -> None:
    with pytest.raises(A2AError) as raised:
        fold(events)
    assert raised.value.kind is INVALID_AGENT_RESPONSE


def test_what_the_agent_raises_is_raised() -> None:
    def events() -> Iterator[Event]:
        yield TASK
        raise KeyError("broken")

    with pytest.raises(KeyError):
        fold(events())
