"""The result of a slash command in the notes of its task."""

import pytest

from a2a_hub.a2a.model import TaskState, TaskStatusUpdateEvent, text_of
from functions.hub.commands.agent_commands import has_result, result_events
from functions.hub.conversations import EXECUTES


def test_a_stored_result_is_read() -> None:
    notes = {EXECUTES: {"result": "done"}}
    assert has_result(notes)
    _, result, end = result_events(notes, task_id="t", context_id="c")
    assert isinstance(result, TaskStatusUpdateEvent)
    assert isinstance(end, TaskStatusUpdateEvent)
    assert result.status.message is not None
    assert (text_of(result.status.message), end.status.state) == ("done", TaskState.COMPLETED)


@pytest.mark.parametrize("notes", [{}, {EXECUTES: {}}])
def test_notes_without_a_result_have_none(notes: dict[str, dict[str, str]]) -> None:
    assert not has_result(notes)
