"""What an agent said of a command before the hub followed it is told in updates, once."""

from collections.abc import Sequence
from typing import Any

from functions.hub.downstream.told_before import told_before
from shared.a2a.extensions.development_tool import URI
from shared.a2a.model import (
    Event,
    Message,
    Part,
    Role,
    Task,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)


def said(id_: str, *parts: Part, role: Role = Role.AGENT) -> Message:
    return Message(message_id=id_, role=role, parts=parts)


ASKED = said("asked", Part(text="/read a.txt"), role=Role.USER)
CALL = said("call", Part(data={"toolCallId": "1", "status": "SUCCEEDED"}))
THOUGHT = said("thought", Part(data={"subject": "Reading", "description": ""}))
ANSWER = said("answer", Part(text="What stands in a.txt"))


def task(state: TaskState, *history: Message) -> Task:
    return Task(id="t", context_id="c", status=TaskStatus(state=state), history=history)


def update(state: TaskState, message: Message | None = None) -> TaskStatusUpdateEvent:
    return TaskStatusUpdateEvent(
        task_id="t", context_id="c", status=TaskStatus(state=state, message=message), metadata={"own": 1}
    )


def seen(*events: Event) -> list[tuple[str, str, Any]]:
    """The kind of each event after the first one, its state and its message's id."""
    first, *others = told_before(iter(events))
    assert isinstance(first, Task)
    assert first.history == ()
    assert not first.status.state.settled
    return [_seen(event) for event in others]


def _seen(event: Event) -> tuple[str, str, Any]:
    assert isinstance(event, TaskStatusUpdateEvent)
    metadata = event.metadata or {}
    kind = metadata[URI]["kind"] if URI in metadata else "its own"
    return kind, event.status.state.name, event.status.message and event.status.message.message_id


TOLD: Sequence[tuple[str, str, Any]] = (
    ("TOOL_CALL_UPDATE", "WORKING", "call"),
    ("THOUGHT", "WORKING", "thought"),
    ("TEXT_CONTENT", "WORKING", "answer"),
)


def test_a_command_that_has_ended_is_told_from_the_history_of_its_task() -> None:
    ended = task(TaskState.COMPLETED, ASKED, CALL, THOUGHT, ANSWER)
    assert seen(ended) == [*TOLD, ("STATE_CHANGE", "COMPLETED", None)]


def test_what_the_agent_said_before_it_was_followed_comes_before_what_it_says_now() -> None:
    found = seen(
        task(TaskState.WORKING, ASKED, CALL), update(TaskState.WORKING, ANSWER), update(TaskState.COMPLETED)
    )
    assert found == [
        TOLD[0],
        ("STATE_CHANGE", "WORKING", None),
        ("its own", "WORKING", "answer"),
        ("its own", "COMPLETED", None),
    ]


def test_a_task_that_is_asked_for_again_tells_only_what_is_new() -> None:
    again = [task(TaskState.WORKING, CALL), task(TaskState.COMPLETED, CALL, ANSWER)]
    updates = [event for event in told_before(iter(again)) if isinstance(event, TaskStatusUpdateEvent)]
    messages = [event.status.message for event in updates]
    assert [message.message_id for message in messages if message] == ["call", "answer"]


def test_a_task_of_which_nothing_was_said_passes_as_it_is() -> None:
    whole = task(TaskState.COMPLETED, ASKED)
    assert list(told_before(iter([whole]))) == [whole]
