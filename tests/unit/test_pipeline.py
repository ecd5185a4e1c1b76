"""A turn that is run again goes to the route that its text leads to by now; the agent's own task goes with its route alone."""

import itertools
from collections.abc import Callable, Iterator

import pytest
from msgspec import structs

from a2a_hub.a2a.agent import TryLater
from a2a_hub.a2a.call import CurrentTask
from a2a_hub.a2a.model import Event, Message, Part, Role, Task, TaskState, TaskStatus, TaskStatusUpdateEvent
from a2a_hub.quota.limits import CallerLimits
from a2a_hub.quota.quotas import Counters, Quotas
from a2a_hub.routing.routes import HubProfile, RouteTable
from a2a_hub.telemetry.log import Log
from functions.hub.config import read
from functions.hub.conversations import ContextIds, Conversations
from functions.hub.downstream.interface import AgentRequest
from functions.hub.failure import DownstreamFailed, Failure, FailureKind
from functions.hub.misses import Misses
from functions.hub.pipeline import Pipeline
from functions.hub.route_tables import RouteTables
from functions.hub.turn import IncomingTurn
from tests.fakes.hub import person, route
from tests.fakes.in_process import InProcess


def _incoming(text: str, task: CurrentTask | None = None) -> IncomingTurn:
    return IncomingTurn(
        call=person(task=task),
        message=Message(message_id="m", role=Role.USER, parts=(Part(text=text),)),
        context=ContextIds("c", "c"),
        notes=task.notes if task else {"running": {"route": "alpha", "task": "task-of-alpha"}},
    )


def _pipeline(answer: Callable[[AgentRequest], Iterator[Event]]) -> Pipeline:
    """A pipeline in front of two such agents, at the time 1000."""
    routes = (route("alpha", "http://127.0.0.1:9"), route("beta", "http://127.0.0.1:9", default=True))
    settings = structs.replace(
        read({"HUB_DEV_TOKEN": "token"}).hub, table=RouteTable(hub=HubProfile(), routes=routes), unset=()
    )
    ticks = itertools.count()
    log = Log(lambda _: None, clock=lambda: float(next(ticks)), new_id=lambda: "id", function="hub")
    return Pipeline(
        tables=RouteTables(settings, lambda _: InProcess(answer)),
        conversations=Conversations(None, log=log),
        quotas=Quotas(CallerLimits(), Counters()),
        misses=Misses(None, log=log),
        log=log,
        clock=lambda: float(next(ticks)),
        now=lambda: 1000.0,
    )


def test_an_agents_task_is_asked_for_at_that_agent_and_at_no_other() -> None:
    asked: list[AgentRequest] = []

    def answer(agent_request: AgentRequest) -> Iterator[Event]:
        asked.append(agent_request)
        yield Message(message_id="a", role=Role.AGENT, parts=(Part(text="Done"),))

    pipeline = _pipeline(answer)
    for text in ("alpha please", "beta please"):
        _, events = pipeline.start_turn(_incoming(text))
        assert list(events)
    assert [agent_request.running_task_id for agent_request in asked] == ["task-of-alpha", None]


AWAY = Failure(kind=FailureKind.DOWN, fault="unreachable", cause="alpha: refused", transient=True)
UNANSWERED = Failure(kind=FailureKind.CUT, fault="unanswered", cause="alpha: no answer", transient=True)
CUT = Failure(kind=FailureKind.CUT, fault="cut", cause="alpha: cut", transient=True)


def _fails(failure: Failure, *before: Event) -> Callable[[AgentRequest], Iterator[Event]]:
    def answer(_: AgentRequest) -> Iterator[Event]:
        yield from before
        raise DownstreamFailed(failure)

    return answer


def test_a_turn_that_nobody_waits_for_is_tried_later_and_goes_on_with_the_agents_task() -> None:
    working = Task(id="theirs", context_id="own", status=TaskStatus(state=TaskState.WORKING))
    task = CurrentTask(id="ours", retries_until=1600.0)
    turn, events = _pipeline(_fails(AWAY, working)).start_turn(_incoming("alpha please", task))
    with pytest.raises(TryLater) as raised:
        list(events)
    assert (raised.value.seconds, raised.value.cause) == (0.0, "alpha: refused")
    assert raised.value.message.startswith("The agent “Agent alpha” cannot be reached at the moment.")
    assert (turn.failure, turn.answer) == (None, "")
    assert task.notes == {"running": {"route": "alpha", "task": "theirs"}}


@pytest.mark.parametrize(
    ("failure", "task"),
    [
        (AWAY, None),
        (AWAY, CurrentTask(id="ours")),
        (AWAY, CurrentTask(id="ours", retries_until=1000.0)),
        (structs.replace(AWAY, transient=False), CurrentTask(id="ours", retries_until=1600.0)),
        (structs.replace(AWAY, seconds_to_wait=700.0), CurrentTask(id="ours", retries_until=1600.0)),
    ],
    ids=["no task", "somebody waits", "the time is over", "it does not pass", "the circuit is open for longer"],
)
def test_any_other_turn_fails_at_once(failure: Failure, task: CurrentTask | None) -> None:
    turn, events = _pipeline(_fails(failure)).start_turn(_incoming("alpha please", task))
    assert list(events)
    assert turn.failure == failure


@pytest.mark.parametrize("failure", [AWAY, UNANSWERED], ids=["no connection", "a connection without an answer"])
def test_an_agent_that_did_not_begin_to_answer_is_asked_again_until_the_time_is_over(failure: Failure) -> None:
    task = CurrentTask(id="ours", retries_until=1600.0)
    for _ in range(20):
        _, events = _pipeline(_fails(failure)).start_turn(_incoming("alpha please", task))
        with pytest.raises(TryLater):
            list(events)
    assert task.notes == {}


def test_an_agent_that_may_have_done_the_work_is_not_asked_for_it_without_end() -> None:
    task, tries = CurrentTask(id="ours", retries_until=1600.0), 0
    while True:
        tries += 1
        turn, events = _pipeline(_fails(CUT)).start_turn(_incoming("alpha please", task))
        try:
            assert list(events)
        except TryLater:
            continue
        break
    assert (tries, turn.failure) == (5, CUT)
    assert set(task.notes) == {"conversation"}


def test_the_next_turn_may_begin_as_soon_as_the_event_that_ends_this_one_is_seen() -> None:
    asks = TaskStatusUpdateEvent(task_id="theirs", context_id="own", status=TaskStatus(state=TaskState.INPUT_REQUIRED))

    def answer(_: AgentRequest) -> Iterator[Event]:
        yield Task(id="theirs", context_id="own", status=TaskStatus(state=TaskState.WORKING))
        yield asks

    pipeline, incoming = _pipeline(answer), _incoming("alpha please")
    _, events = pipeline.start_turn(incoming)
    for event, _ in events:
        found = pipeline.conversations.open(incoming.call.owner, incoming.context).conversation
        assert (found is not None) is (event is asks)
        if event is asks:
            break
    assert found is not None
    assert (found.waiting_task_id, found.context_ids) == ("theirs", {"alpha": "own"})
