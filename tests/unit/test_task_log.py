"""A log's bytes, and its fold in one go."""

import functools

from hypothesis import given
from hypothesis import strategies as st

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
from a2a_hub.task_store.task_log import apply_events, event_bytes, read_event, read_task, task_bytes

TASK = Task(id="t", context_id="c", status=TaskStatus(state=TaskState.SUBMITTED))
_texts = st.text(max_size=5)
_parts = st.builds(Part, text=_texts) | st.builds(
    Part, data=st.none() | st.dictionaries(_texts, st.integers(-(2**53), 2**53))
)
_messages = st.builds(
    Message,
    message_id=_texts,
    role=st.sampled_from([Role.USER, Role.AGENT]),
    parts=st.lists(_parts, max_size=2).map(tuple),
)
_states = st.sampled_from([TaskState.WORKING, TaskState.INPUT_REQUIRED, TaskState.COMPLETED])
_statuses = st.builds(TaskStatus, state=_states, message=st.none() | _messages)
_artifacts = st.builds(
    Artifact, artifact_id=st.sampled_from("ab"), parts=st.lists(_parts, max_size=2).map(tuple), name=_texts
)
_events: st.SearchStrategy[Event] = st.one_of(
    st.builds(
        TaskArtifactUpdateEvent,
        task_id=st.just("t"),
        context_id=st.just("c"),
        artifact=_artifacts,
        append=st.booleans(),
    ),
    st.builds(TaskStatusUpdateEvent, task_id=st.just("t"), context_id=st.just("c"), status=_statuses),
    _messages,
    st.builds(Task, id=st.just("t"), status=_statuses, artifacts=st.lists(_artifacts, max_size=2).map(tuple)),
)


@given(st.lists(_events, max_size=12))
def test_folding_in_one_go_is_folding_one_after_another(events: list[Event]) -> None:
    expected = functools.reduce(lambda task, event: apply_events(task, [event]), events, TASK)
    assert apply_events(TASK, events) == expected
    assert apply_events(None, [TASK, *events]) == expected
    assert read_task(task_bytes(expected)) == expected


@given(_events)
def test_an_event_is_read_as_it_was_written(event: Event) -> None:
    assert read_event(event_bytes(event)) == event
