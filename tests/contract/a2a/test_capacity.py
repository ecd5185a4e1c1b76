"""Requests beyond what a process may do at once: an error for programs, one sentence as the whole answer for people."""

import json
from collections.abc import Callable

import pytest

from a2a_hub.a2a.agent import AnsweringAgent
from a2a_hub.a2a.server import A2AServer
from a2a_hub.http.admission import Capacity, Limits
from a2a_hub.http.messages import Request, Response, blocking, body_of
from a2a_hub.identity.authentication import Caller
from a2a_hub.identity.principal import Contract
from a2a_hub.telemetry.log import Log
from tests.contract.a2a.served import CARD, WAYS, Way, echo, error_of, whole

EACH_WAY = pytest.mark.parametrize("way", WAYS, ids=str)
_SENTENCES = {
    "hello": "There are too many questions at the moment.",
    "期限はいつですか": "現在、質問が集中しています。",
}


def _turns(capacity: Capacity) -> None:
    capacity.count_turns(lambda: 1)


def _streams(capacity: Capacity) -> None:
    capacity.open_stream("")


def _ask(way: Way, fill: Callable[[Capacity], None], text: str, *, ui: bool) -> Response:
    capacity = Capacity(Limits(turns=1, streams=1))
    fill(capacity)
    log = Log(lambda _: None, clock=lambda: 0.0, new_id=lambda: "r", function="agent")
    agent = AnsweringAgent(echo)
    server = A2AServer(
        agent,
        card=lambda: CARD,
        log=log,
        contract=Contract.UI if ui else Contract.PROGRAM,
        capacity=capacity,
    )
    body = body_of(json.dumps(way.body(way.params(text))).encode())
    request = Request(method="POST", path=way.path, headers={"content-type": "application/json"}, read_body=body)
    record = {"requestId": "r"}
    response = server.handle(request, Caller(principal=None), record)
    assert response is not None
    assert record["fault"] == "OVERLOADED"
    return blocking(response)


@pytest.mark.parametrize(
    ("way", "fill"),
    [(way, _turns) for way in WAYS] + [(way, _streams) for way in WAYS if way.streaming],
    ids=lambda each: getattr(each, "__name__", str(each)),
)
def test_a_program_gets_an_error_that_says_when_to_come_back(way: Way, fill: Callable[[Capacity], None]) -> None:
    response = _ask(way, fill, "hello", ui=False)
    assert response.headers["retry-after"] == "1"
    _, error, _ = error_of(way, response)
    assert error["message"].startswith("There are too many questions at the moment.")


@EACH_WAY
@pytest.mark.parametrize("text", _SENTENCES)
def test_a_person_reads_it_in_the_language_of_the_question(way: Way, text: str) -> None:
    response = _ask(way, _turns, text, ui=True)
    assert response.status == 200
    assert _SENTENCES[text] in json.dumps(
        json.loads(whole(response).split(b"data: ")[-2 if way.streaming else 0]), ensure_ascii=False
    )
