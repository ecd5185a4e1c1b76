"""A task that is followed late: what was said before, as the updates that it came in."""

from typing import Any

from a2a_hub.a2a.extensions.development_tool import URI
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
from functions.hub.downstream.history_replay import replayed

THOUGHT = Part(data={"subject": "Files", "description": "I look"})
CALL = Part(data={"tool_call_id": "1", "status": "SUCCEEDED"})
DONE = Part(text="Done.")


def _said(id: str, part: Part, role: Role = Role.AGENT) -> Message:
    return Message(message_id=id, role=role, parts=(part,))


def _task(state: TaskState, *history: Message, says: Message | None = None, **members: Any) -> Task:
    return Task(id="t", context_id="c", status=TaskStatus(state=state, message=says), history=history, **members)


def _update(message: Message | None, state: TaskState = TaskState.WORKING) -> TaskStatusUpdateEvent:
    return TaskStatusUpdateEvent(task_id="t", context_id="c", status=TaskStatus(state=state, message=message))


def _told(*events: Event) -> list[tuple[TaskState, str, Part | None]]:
    """State, kind and words of each status update."""
    told = []
    for event in replayed(iter(events)):
        assert isinstance(event, TaskStatusUpdateEvent)
        message, metadata = event.status.message, event.metadata or {URI: {"kind": "as it came"}}
        told.append((event.status.state, metadata[URI]["kind"], message.parts[0] if message else None))
    return told


def test_a_history_is_told_with_the_kinds_that_its_words_are() -> None:
    asked = _said("0", Part(text="/files"), Role.USER)
    task = _task(TaskState.COMPLETED, asked, _said("1", THOUGHT), _said("2", CALL), _said("3", DONE))
    assert _told(task) == [
        (TaskState.WORKING, "THOUGHT", THOUGHT),
        (TaskState.WORKING, "TOOL_CALL_UPDATE", CALL),
        (TaskState.WORKING, "TEXT_CONTENT", DONE),
        (TaskState.COMPLETED, "STATE_CHANGE", None),
    ]


def test_what_a_task_says_now_follows_what_it_said() -> None:
    task = _task(TaskState.WORKING, _said("1", THOUGHT), says=_said("2", CALL))
    assert [kind for _, kind, _ in _told(task)] == ["THOUGHT", "TOOL_CALL_UPDATE"]
    asks = _task(TaskState.INPUT_REQUIRED, _said("1", THOUGHT), says=_said("2", CALL))
    assert _told(asks)[-1] == (TaskState.INPUT_REQUIRED, "STATE_CHANGE", CALL)


def test_nothing_is_told_twice() -> None:
    first = _task(TaskState.WORKING, _said("1", THOUGHT))
    events: list[Event] = [
        first,
        first,
        _update(_said("2", CALL)),
        _update(_said("3", DONE)),
        _task(TaskState.COMPLETED, _said("1", THOUGHT), _said("2", CALL), _said("3", DONE)),
    ]
    assert [part for _, _, part in _told(*events)] == [THOUGHT, None, CALL, DONE, None]


def test_two_messages_under_one_id_are_two() -> None:
    task = _task(TaskState.COMPLETED, _said("1", THOUGHT), _said("1", CALL))
    assert [part for _, _, part in _told(task)] == [THOUGHT, CALL, None]


def test_a_task_that_was_found_again_tells_what_follows_the_message_that_it_answers() -> None:
    earlier, asked, again = (
        _said("0", Part(text="Earlier.")),
        _said("1", Part(text="Go on"), Role.USER),
        _said("1", Part(text="Go on"), Role.USER),
    )
    begins = _task(TaskState.WORKING, earlier, asked)
    found = _task(TaskState.COMPLETED, earlier, again, _said("2", CALL), _said("3", DONE))
    first, *others = replayed(iter([begins, _update(_said("2", CALL)), found]), since="1")
    assert first == begins
    assert _told(*others) == [
        (TaskState.WORKING, "as it came", CALL),
        (TaskState.WORKING, "TEXT_CONTENT", DONE),
        (TaskState.COMPLETED, "STATE_CHANGE", None),
    ]
    # An agent that does not keep what it was asked may have said all of it in an earlier turn.
    without = _task(TaskState.COMPLETED, earlier, _said("2", CALL))
    (_, *others) = replayed(iter([_update(_said("2", CALL)), without]), since="1")
    assert _told(*others) == [(TaskState.COMPLETED, "STATE_CHANGE", None)]


def test_an_artifact_is_told_when_it_is_another() -> None:
    one, other = (Artifact(artifact_id="a", parts=(Part(text=text),)) for text in ("1", "2"))
    tasks = [_task(TaskState.WORKING, artifacts=(each,)) for each in (one, one, other)]
    told = [event for event in replayed(iter(tasks)) if isinstance(event, TaskArtifactUpdateEvent)]
    assert [event.artifact for event in told] == [one, other]


def test_a_task_that_is_only_submitted_has_nothing_to_tell() -> None:
    assert _told(_task(TaskState.SUBMITTED)) == []
