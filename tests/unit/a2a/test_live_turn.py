"""Identical requests in flight are one turn, and only those; its states change in one direction."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event as Signal

import pytest
from msgspec.structs import replace

from a2a_hub.a2a.agent import Turn
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.live_turn import LiveTurn, LiveTurns, TurnState
from a2a_hub.a2a.model import Event, Message, Part, Role, SendMessageConfiguration, SendMessageRequest
from a2a_hub.a2a.server import EphemeralTurns
from tests.fakes.task_instance import PATIENCE_SECONDS, Compared, a_call, a_request, text_of
from tests.fakes.waiting import Waiting


class Slow:
    """An agent that numbers its turns, and ends them when the test lets it."""

    def __init__(self, *, error: Exception | None = None) -> None:
        self.turns = 0
        self.begun, self.may_end = Signal(), Signal()
        self._error = error

    def context_of(self, *_: object) -> str:
        return "c"

    def bypasses_task(self, *_: object) -> bool:
        return False

    def starts_new_task(self, *_: object) -> bool:
        return False

    def cancel(self, *_: object) -> None:
        pass

    def send(self, _: SendMessageRequest, call: Call) -> Turn:
        self.turns += 1
        return Turn(events=self._events(self.turns, call))

    def _events(self, number: int, call: Call) -> Iterator[Event]:
        call.cancellation.on_cancel(self.may_end.set)
        self.begun.set()
        assert self.may_end.wait(PATIENCE_SECONDS)
        if self._error is not None:
            raise self._error
        yield Message(message_id="answer", role=Role.AGENT, parts=(Part(text=f"turn {number}"),))


def _request(text: str = "hello", message_id: str = "m") -> SendMessageRequest:
    return a_request(text, SendMessageConfiguration(), message_id=message_id)


def _sent_twice(agent: Slow) -> list[object]:
    """What both callers of the same request get, which the second sends while the first is answered."""
    unstored, first = EphemeralTurns(agent), replace(_request(), metadata=(compared := Compared()))
    with ThreadPoolExecutor() as threads:
        answers = [threads.submit(unstored.send, first, a_call())]
        assert agent.begun.wait(PATIENCE_SECONDS)
        answers.append(threads.submit(unstored.send, replace(first, metadata={}), a_call()))
        assert compared.joined.wait(PATIENCE_SECONDS)
        agent.may_end.set()
        return [each.exception(PATIENCE_SECONDS) or text_of(each.result()) for each in answers]


def test_who_sends_the_same_request_gets_the_same_answer() -> None:
    agent = Slow()
    assert _sent_twice(agent) == ["turn 1", "turn 1"]
    assert agent.turns == 1


def test_who_joined_a_request_that_fails_gets_its_failure() -> None:
    failure = KeyError("broken")
    assert _sent_twice(Slow(error=failure)) == [failure, failure]


@pytest.mark.parametrize(
    ("request_", "call"),
    [
        (_request(), a_call(owner="client:bob")),
        (_request(message_id="m-2"), a_call()),
        (_request("goodbye"), a_call()),
        (_request(), replace(a_call(), principal=None)),
        (_request(), a_call(streaming=True)),
    ],
    ids=["another caller", "another message", "another content", "no caller", "another operation"],
)
def test_another_request_is_a_turn_of_its_own(request_: SendMessageRequest, call: Call) -> None:
    turns = LiveTurns[LiveTurn]()
    first = turns.claim(LiveTurn(_request(), a_call()))
    assert turns.claim(LiveTurn(_request(), a_call())) is first
    other = LiveTurn(request_, call)
    assert turns.claim(other) is other


def test_anonymous_callers_are_not_one() -> None:
    turns, call = LiveTurns[LiveTurn](), replace(a_call(), principal=None)
    both = [LiveTurn(_request(), call) for _ in range(2)]
    assert [turns.claim(turn) for turn in both] == both


def test_a_turn_that_has_ended_is_joined_no_more() -> None:
    unstored, agent = EphemeralTurns(agent := Slow()), agent
    agent.may_end.set()
    assert [text_of(unstored.send(_request(), a_call())) for _ in range(2)] == ["turn 1", "turn 2"]
    assert not len(unstored.turns)


def test_a_state_that_cannot_follow_changes_nothing() -> None:
    turn = LiveTurn(_request(), a_call())
    assert turn.enter(TurnState.RUNNING)
    assert not turn.enter(TurnState.RECORDED)
    assert turn.enter(TurnState.SETTLED)
    assert not any(turn.enter(state) for state in TurnState)


def test_a_process_that_is_being_stopped_takes_no_new_turn() -> None:
    turns = LiveTurns[LiveTurn]()
    turns.drain(seconds=0)
    with pytest.raises(A2AError) as refused:
        turns.claim(LiveTurn(_request(), a_call()))
    assert (refused.value.kind.http_status, refused.value.headers["retry-after"]) == (503, "1")


def test_what_ends_in_time_is_answered_though_the_process_is_being_stopped() -> None:
    agent = Slow()
    unstored = EphemeralTurns(agent)
    with ThreadPoolExecutor() as threads:
        answer = threads.submit(unstored.send, _request(), a_call())
        assert agent.begun.wait(PATIENCE_SECONDS)
        drained = threads.submit(unstored.turns.drain, seconds=PATIENCE_SECONDS)
        agent.may_end.set()
        assert text_of(answer.result(PATIENCE_SECONDS)) == "turn 1"
        drained.result(PATIENCE_SECONDS)


@pytest.mark.parametrize("text_only", [False, True], ids=["a program", "a person"])
def test_what_does_not_end_before_the_process_stops_is_ended(text_only: bool) -> None:
    agent = Slow()
    unstored, call = EphemeralTurns(agent), a_call(text_only=text_only)
    with ThreadPoolExecutor() as threads:
        answer = threads.submit(unstored.send, _request(), call)
        assert agent.begun.wait(PATIENCE_SECONDS)
        unstored.turns.drain(seconds=0)
        assert call.cancellation.cancelled
        if text_only:
            # Its agent's answer says that it broke off.
            assert text_of(answer.result(PATIENCE_SECONDS)) == "turn 1"
        else:
            assert isinstance(answer.exception(PATIENCE_SECONDS), A2AError)


def test_a_program_whose_agent_fails_as_the_process_stops_may_try_again() -> None:
    agent = Slow(error=KeyError("broken"))
    unstored = EphemeralTurns(agent)
    with ThreadPoolExecutor() as threads:
        answer = threads.submit(unstored.send, _request(), a_call())
        assert agent.begun.wait(PATIENCE_SECONDS)
        unstored.turns.drain(seconds=0)
        refused = answer.exception(PATIENCE_SECONDS)
    assert isinstance(refused, A2AError)
    assert refused.kind.http_status == 503


def test_a_stream_that_does_not_end_before_the_process_stops_has_its_agents_last_words() -> None:
    agent = Slow()
    unstored = EphemeralTurns(agent)
    events = Waiting(unstored.stream(_request(), a_call(streaming=True)), idle_seconds=PATIENCE_SECONDS)
    unstored.turns.drain(seconds=0)
    assert [text_of(event) for event in events if isinstance(event, Message)] == ["turn 1"]


def test_who_joins_a_stream_that_has_just_begun_and_leaves_does_not_end_it() -> None:
    class Joined(Slow):
        def _events(self, number: int, call: Call) -> Iterator[Event]:
            # The first caller may not have got as far as to wait for this.
            unstored.stream(_request(), a_call(streaming=True)).close()
            yield from super()._events(number, call)

    agent = Joined()
    unstored = EphemeralTurns(agent)
    agent.may_end.set()
    for _ in range(100):
        list(Waiting(unstored.stream(_request(), a_call(streaming=True)), idle_seconds=PATIENCE_SECONDS))
    assert agent.turns == 100
