"""Gemini Enterprise sends one click several times: identical requests of one caller run once, those of others for themselves."""

import json
import threading
from base64 import b64decode
from collections.abc import Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from a2a_hub.a2a.agent import Turn
from a2a_hub.a2a.bindings import sse
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import Event, Message, Part, Role, SendMessageRequest, Version
from a2a_hub.a2a.server import A2AServer
from a2a_hub.http.forwarded_body import STREAM_END
from a2a_hub.http.messages import Request, Response, blocking, body_of
from a2a_hub.identity.authentication import Caller
from a2a_hub.identity.principal import Contract, Principal
from a2a_hub.telemetry.log import Log
from tests.contract.a2a.served import CARD, WAYS, Way, whole

ADA, BOB = (Caller(principal=Principal(subject=name)) for name in ("ada", "bob"))
NOBODY = Caller(principal=None)
PATIENCE_SECONDS = 30.0
STREAMS = [way for way in WAYS if way.streaming]


class Slow:
    """An agent that counts its turns and ends them when the test lets it; it says which turn it was."""

    def __init__(self) -> None:
        self.turns = 0
        self.begun = threading.Semaphore(0)
        self.may_end = threading.Event()
        self.requests: list[SendMessageRequest] = []
        self.calls: list[Call] = []
        self._lock = threading.Lock()

    def context_of(self, request: SendMessageRequest, call: Call) -> str:  # noqa: ARG002 - the protocol's
        return request.message.context_id or "c"

    def bypasses_task(self, request: SendMessageRequest, *_: object) -> bool:
        raise AssertionError(f"no task waits for {request}")

    def starts_new_task(self, request: SendMessageRequest, *_: object) -> bool:
        raise AssertionError(f"no task waits for {request}")

    def cancel(self, call: Call) -> None:
        raise AssertionError(f"nobody cancels {call}")

    def send(self, request: SendMessageRequest, call: Call) -> Turn:
        with self._lock:
            self.turns += 1
            turn = self.turns
            self.requests.append(request)
            self.calls.append(call)
        self.begun.release()
        return Turn(events=self._events(turn))

    def _events(self, turn: int) -> Iterator[Event]:
        assert self.may_end.wait(PATIENCE_SECONDS)
        yield Message(message_id="answer", role=Role.AGENT, parts=(Part(text=f"turn {turn}"),), context_id="c")


class Hub:
    """A server around a slow agent, whose keep-alives come at once."""

    def __init__(self, *, keep_alive_seconds: float = 0.001) -> None:
        self.agent = Slow()
        log = Log(list[bytes]().append, clock=lambda: 0.0, new_id=lambda: "r", function="hub")
        self._server = A2AServer(self.agent, card=lambda: CARD, log=log, keep_alive_seconds=keep_alive_seconds)

    def send(
        self, way: Way, caller: Caller, *, id_: str = "r-1", headers: Mapping[str, str] | None = None, **message: Any
    ) -> Response:
        params = way.params()
        params["message"] |= message
        body = json.dumps(way.body(params, id_)).encode()
        sent = {"content-type": "application/json", **(headers or {})}
        request = Request(method="POST", path=way.path, headers=sent, read_body=body_of(body))
        response = self._server.handle(request, caller, {"requestId": "r"})
        assert response is not None
        return blocking(response)


def _events(response: Response) -> list[Any]:
    body = whole(response)
    return [json.loads(data) for data in sse.read([body], limit_bytes=len(body))]


@pytest.mark.parametrize("way", STREAMS, ids=str)
def test_the_same_stream_of_the_same_caller_runs_once_and_each_gets_its_own_id(way: Way) -> None:
    hub = Hub()
    responses = [hub.send(way, ADA, id_=f"r-{number}") for number in range(4)]
    assert hub.agent.turns == 1
    assert hub.agent.requests[0].message.message_id == "m-1"
    hub.agent.may_end.set()
    answers = [_events(response) for response in responses]
    assert all("turn 1" in json.dumps(answer) for answer in answers)
    if not way.rest:
        assert [answer[0]["id"] for answer in answers] == ["r-0", "r-1", "r-2", "r-3"]


@pytest.mark.parametrize("way", STREAMS, ids=str)
def test_a_gate_knows_how_to_end_a_persons_stream_of_no_task(way: Way) -> None:
    hub = Hub()
    person = Caller(principal=Principal(subject="cleo", contract=Contract.UI))
    for caller in (person, ADA):
        response = hub.send(way, caller, headers={STREAM_END: "1"})
        last = b64decode(response.headers[STREAM_END])
        is_person = caller is person or (way.version is Version.V0_3 and not way.rest)
        assert (rb"\n\nThe service is being restarted." in last) == is_person
        assert bool(last) == is_person
        hub.agent.may_end.set()
        whole(response)


@pytest.mark.parametrize("way", STREAMS, ids=str)
@pytest.mark.parametrize(
    ("caller", "message"),
    [
        (BOB, {}),
        (ADA, {"messageId": "m-2"}),
        (ADA, {"contextId": "ctx-2"}),
        (ADA, {"metadata": {"skill": "pm"}}),
    ],
    ids=["another caller", "another message", "another context", "another skill"],
)
def test_another_stream_runs_for_itself(way: Way, caller: Caller, message: dict[str, Any]) -> None:
    hub = Hub()
    responses = [hub.send(way, ADA), hub.send(way, caller, **message)]
    assert hub.agent.turns == 2
    hub.agent.may_end.set()
    for response in responses:
        whole(response)


@pytest.mark.parametrize("way", STREAMS, ids=str)
def test_anonymous_callers_are_not_one_caller(way: Way) -> None:
    hub = Hub()
    responses = [hub.send(way, NOBODY) for _ in range(2)]
    assert hub.agent.turns == 2
    hub.agent.may_end.set()
    for response in responses:
        whole(response)


def test_another_version_or_binding_runs_for_itself() -> None:
    hub = Hub()
    responses = [hub.send(way, ADA) for way in STREAMS]
    assert hub.agent.turns == len(STREAMS)
    hub.agent.may_end.set()
    for response in responses:
        whole(response)


@pytest.mark.parametrize("way", STREAMS, ids=str)
def test_a_stream_that_all_have_left_is_told_so_and_not_joined(way: Way) -> None:
    hub = Hub()
    first = hub.send(way, ADA)
    assert isinstance(first.body, Generator)
    assert next(first.body) == sse.KEEP_ALIVE
    first.body.close()
    assert hub.agent.calls[0].cancellation.cancelled
    second = hub.send(way, ADA)
    hub.agent.may_end.set()
    assert "turn 2" in json.dumps(_events(second))
    assert not hub.agent.calls[1].cancellation.cancelled


@pytest.mark.parametrize("way", STREAMS, ids=str)
def test_one_of_two_that_leaves_does_not_end_the_other(way: Way) -> None:
    hub = Hub()
    first, second = hub.send(way, ADA), hub.send(way, ADA)
    assert isinstance(first.body, Generator)
    first.body.close()
    assert not hub.agent.calls[0].cancellation.cancelled
    hub.agent.may_end.set()
    assert "turn 1" in json.dumps(_events(second))


@pytest.mark.parametrize("way", STREAMS, ids=str)
def test_a_stream_after_the_end_of_its_twin_is_a_new_turn(way: Way) -> None:
    hub = Hub(keep_alive_seconds=PATIENCE_SECONDS)
    hub.agent.may_end.set()
    assert "turn 1" in json.dumps(_events(hub.send(way, ADA)))
    assert "turn 2" in json.dumps(_events(hub.send(way, ADA)))


@pytest.mark.parametrize("way", STREAMS, ids=str)
def test_an_idle_stream_says_something_before_its_first_event(way: Way) -> None:
    hub = Hub()
    response = hub.send(way, ADA)
    assert response.headers["content-type"] == "text/event-stream"
    assert isinstance(response.body, Iterator)
    assert [next(response.body) for _ in range(3)] == [sse.KEEP_ALIVE] * 3
    hub.agent.may_end.set()
    assert any(b"turn 1" in chunk for chunk in response.body)


@pytest.mark.parametrize("way", [way for way in WAYS if not way.streaming], ids=str)
def test_sends_of_different_callers_run_side_by_side(way: Way) -> None:
    hub = Hub()
    with ThreadPoolExecutor(2) as pool:
        answers = [pool.submit(hub.send, way, caller) for caller in (ADA, BOB)]
        for _ in answers:
            assert hub.agent.begun.acquire(timeout=PATIENCE_SECONDS)
        hub.agent.may_end.set()
        bodies = sorted(whole(answer.result(PATIENCE_SECONDS)) for answer in answers)
    assert [turn for turn in (b"turn 1", b"turn 2") if any(turn in body for body in bodies)] == [
        b"turn 1",
        b"turn 2",
    ]
