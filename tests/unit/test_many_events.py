"""What agents say in great numbers: 4 MB of events are 20,000 of them, and the hub answers others meanwhile."""

import time
from collections.abc import Callable, Sequence

import pytest

from a2a_hub.a2a.call import CurrentTask
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
from a2a_hub.http.messages import Cancellation
from a2a_hub.task_store.task_log import apply_events
from a2a_hub.tasks.updates import updates
from functions.hub.downstream.event_translator import EventTranslator
from functions.hub.downstream.mirror import ArtifactIds

_MANY = 15_000
# A tenth of a second here; whoever looks at all that was said before each time takes ten and more.
_MAX_SECONDS = 1.5
_TASK = Task(id="t", context_id="c", status=TaskStatus(state=TaskState.WORKING))


def _update(id_: str, *parts: Part, append: bool = False) -> Event:
    artifact = Artifact(artifact_id=id_, parts=parts)
    return TaskArtifactUpdateEvent(task_id="t", context_id="c", artifact=artifact, append=append)


def _status(text: str) -> Event:
    said = Message(message_id="m", role=Role.AGENT, parts=(Part(text=text),))
    status = TaskStatus(state=TaskState.WORKING, message=said)
    return TaskStatusUpdateEvent(task_id="t", context_id="c", status=status)


def _one_artifact(parts: Sequence[Part]) -> list[Event]:
    return [Task(id="t", status=_TASK.status, artifacts=(Artifact(artifact_id="a", parts=tuple(parts)),))]


_NUMBERS = range(_MANY)
SAID: dict[str, Callable[[], Sequence[Event]]] = {
    "artifacts": lambda: [_update(str(number), Part(text="x")) for number in _NUMBERS],
    "chunks of two artifacts": lambda: [_update(str(n % 2), Part(text="x"), append=True) for n in _NUMBERS],
    "chunks behind a long one": lambda: [
        _update("a", Part(text="x" * 1_500_000)),
        *(_update("a", Part(text="x"), append=True) for _ in _NUMBERS),
    ],
    "data": lambda: [_update(str(number), Part(data={"number": number})) for number in _NUMBERS],
    "statuses": lambda: [_status(str(number)) for number in _NUMBERS],
    "a task again and again": lambda: [_update(str(n), Part(text="x")) for n in range(5_000)] + [_TASK] * 5_000,
    "one artifact of many data": lambda: _one_artifact([Part(data={"number": n}) for n in range(3 * _MANY)]),
    "one artifact of many texts": lambda: _one_artifact([Part(text="text " * 9)] * (3 * _MANY)),
}


@pytest.fixture(scope="module", params=SAID)
def events(request: pytest.FixtureRequest) -> Sequence[Event]:
    """All that one agent says."""
    return SAID[request.param]()


def _hear(events: Sequence[Event]) -> None:
    listener = EventTranslator()
    for event in events:
        for _ in listener.translate(event):
            pass
    for _ in listener.finish():
        pass


def _update_task(events: Sequence[Event]) -> None:
    cancellation = Cancellation()
    for _ in updates(iter(events), _TASK, cancellation=cancellation, allows_message=False):
        pass


def _name(events: Sequence[Event]) -> None:
    ids = ArtifactIds(CurrentTask(id="ours"))
    for event in events:
        if isinstance(event, TaskArtifactUpdateEvent):
            ids.of("t", event.artifact.artifact_id)


TAKEN: dict[str, Callable[[Sequence[Event]], object]] = {
    "heard": _hear,
    "folded": lambda events: fold([_TASK, *events]),
    "folded from the log": lambda events: apply_events(_TASK, events),
    "made updates of": _update_task,
    "given ids": _name,
}


@pytest.mark.parametrize("take", TAKEN.values(), ids=TAKEN.keys())
def test_many_events_cost_many_times_what_one_costs_and_no_more(
    events: Sequence[Event], take: Callable[[Sequence[Event]], object]
) -> None:
    before = time.thread_time()
    take(events)
    assert time.thread_time() - before < _MAX_SECONDS
