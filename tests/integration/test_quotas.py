"""The quotas of callers and of routes at a hub without a gate: their refusals in every form, and instances that share a store."""

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.a2a.model import Event, Message, Part, Role, Version
from a2a_hub.http.messages import Response
from functions.hub.downstream.interface import AgentRequest
from tests.contract.a2a.served import WAYS, Way, whole
from tests.fakes.hub import OTHER_TOKEN, TOKEN, Hub, route, settle, streamed_text, text_of
from tests.fakes.in_process import InProcess
from tests.fakes.task_instance import until

EACH_WAY = pytest.mark.parametrize("way", WAYS, ids=str)
WAIT_EN = "Too many requests. Please try again in "
WAIT_JA = "リクエストが多すぎます。"
_PROGRAM = Way(Version.V1_0, rest=False)
_STREAM = Way(Version.V0_3, rest=False, streaming=True)


def _answer(_: AgentRequest) -> Iterator[Event]:
    yield Message(message_id="a", role=Role.AGENT, parts=(Part(text="Done"),))


def _hub(settings: Mapping[str, str], *, anonymous: bool = False, **limits: Any) -> Hub:
    agent = route("alpha", "http://127.0.0.1:9", **limits)
    return Hub(agent, downstreams={"alpha": InProcess(_answer)}, anonymous=anonymous, settings=settings)


def _body(way: Way, text: str, *modes: str) -> bytes:
    params = way.params(text)
    params["configuration"] = {"acceptedOutputModes": list(modes)}
    return json.dumps(way.body(params)).encode()


def _exhausted(way: Way, **settings: str) -> Hub:
    hub = _hub({"RATE_LIMIT_PER_MINUTE": "1"} | settings)
    whole(hub.request("POST", way.path, _body(way, "hello")))
    return hub


@EACH_WAY
def test_a_program_gets_429_with_the_time_to_wait_in_the_form_of_its_request(way: Way) -> None:
    hub = _exhausted(way, UI_CONTRACT="off")
    response = hub.request("POST", way.path, _body(way, "hello", "application/json"), headers={"a2a-extensions": "x"})
    error = json.loads(whole(response))["error"]
    assert response.status == 429
    assert 1 <= int(response.headers["retry-after"]) <= 60
    assert error["message"].startswith(WAIT_EN)
    assert "RATE_LIMITED" in json.dumps(error)
    (line,) = [line for line in hub.log if line.get("quota")]
    assert (line["fault"], line["quota"], line["severity"]) == ("RATE_LIMITED", "requests", "WARNING")


@EACH_WAY
@pytest.mark.parametrize(("text", "sentence"), [("hello", WAIT_EN), ("経費精算の期限はいつですか", WAIT_JA)])
def test_a_person_gets_one_sentence_in_the_language_of_the_question_as_the_whole_answer(
    way: Way, text: str, sentence: str
) -> None:
    hub = _exhausted(way)
    response = hub.request("POST", way.path, _body(way, text))
    body = whole(response)
    assert response.status == 200
    if way.streaming:
        assert response.headers["content-type"] == "text/event-stream"
        events = [json.loads(each.removeprefix(b"data: ")) for each in body.split(b"\n\n") if each]
        assert "COMPLETED" in json.dumps(events[-1]).upper()
        body = b"".join(each for each in body.split(b"\n\n") if b"artifact" in each)
    assert sentence in str(json.loads(body.removeprefix(b"data: ")))
    assert hub.log[-1]["quota"] == "requests"


def test_each_caller_has_a_quota_and_anonymous_callers_have_one_together() -> None:
    hub = _hub({"RATE_LIMIT_PER_MINUTE": "2", "QUOTA_ANONYMOUS_PER_MINUTE": "1"}, anonymous=True)
    tokens = (TOKEN, OTHER_TOKEN, None)
    statuses = {token: [hub.request("GET", "/routes", token=token).status for _ in range(3)] for token in tokens}
    assert statuses == {TOKEN: [200, 200, 429], OTHER_TOKEN: [200, 200, 429], None: [200, 429, 429]}


def test_pages_for_everybody_have_no_quota() -> None:
    hub = _hub({"RATE_LIMIT_PER_MINUTE": "1", "QUOTA_ANONYMOUS_PER_MINUTE": "1"})
    for page in ("/health", "/openapi.yaml", "/.well-known/agent-card.json"):
        assert {hub.request("GET", page, token=None).status for _ in range(5)} == {200}


def test_two_hubs_with_one_store_keep_one_quota(tmp_path: Path) -> None:
    settings = {"TASK_STORE": f"sqlite:{tmp_path}/tasks.db", "RATE_LIMIT_PER_MINUTE": "40"}
    hubs = [_hub(settings), _hub(settings)]
    passed = sum(hub.request("GET", "/routes").status == 200 for _ in range(40) for hub in hubs)
    # A window may end meanwhile.
    assert passed in range(32, 43) or passed in range(64, 81)


def test_hubs_whose_store_is_away_keep_their_own_quotas_and_refuse_nobody_else(tmp_path: Path) -> None:
    file = tmp_path / "tasks.db"
    hubs = [_hub({"TASK_STORE": f"sqlite:{file}", "RATE_LIMIT_PER_MINUTE": "1000"}) for _ in range(2)]
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("ALTER TABLE claims RENAME TO lost")
    assert {hub.request("GET", "/routes").status for _ in range(900) for hub in hubs} == {200}
    told = [line["message"] for hub in hubs for line in hub.log if "quotas" in line.get("message", "")]
    assert len(told) == 2


def test_a_caller_has_so_many_streams_open_and_another_when_one_has_ended() -> None:
    hub = _hub({"QUOTA_STREAMS": "1"})
    first = hub.open("hello")
    refused = hub.request("POST", "/", _body(_STREAM, "hello"))
    assert b"Too many answers at the same time." in whole(refused)
    hub.open("hello", token=OTHER_TOKEN).chunks.close()  # type: ignore[attr-defined]
    first.chunks.close()  # type: ignore[attr-defined]
    for _ in range(3):
        assert streamed_text(hub.stream("hello")) == "Done"


@pytest.mark.parametrize("skill", ["nobody", 7])
def test_a_stream_that_cannot_begin_is_not_an_open_one(skill: object) -> None:
    hub = _hub({"QUOTA_STREAMS": "1"})
    params = _STREAM.params() | {"metadata": {"skill": skill}}
    for _ in range(3):
        assert b"skill" in whole(hub.request("POST", "/", json.dumps(_STREAM.body(params)).encode()))
    assert streamed_text(hub.stream("hello")) == "Done"


def test_a_route_takes_so_many_turns_and_says_when_it_takes_more() -> None:
    hub = _hub({}, turns_per_minute=1, name_ja="経費精算")
    assert text_of(hub.send("hello")) == "Done"
    english, japanese = text_of(hub.send("hello", token=OTHER_TOKEN)), text_of(hub.send("期限はいつですか"))
    assert english.startswith("The limit for requests to the agent “Agent alpha” is reached. Please ask again in ")
    assert japanese.startswith("エージェント「経費精算」の利用上限に達しました。")
    assert hub.log[-1]["fault"] == "quota"
    assert hub.query("hello")["error"]["retryAfterSeconds"] <= 60


def test_a_route_runs_so_many_turns_at_once() -> None:
    begun, may_end = threading.Event(), threading.Event()

    def answer(asked: AgentRequest) -> Iterator[Event]:
        begun.set()
        assert may_end.wait(30)
        return _answer(asked)

    agent = route("alpha", "http://127.0.0.1:9", concurrent_turns=1)
    hub = Hub(agent, downstreams={"alpha": InProcess(answer)})
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(hub.send, "hello")
        assert begun.wait(30)
        assert "is reached" in text_of(hub.send("hello", token=OTHER_TOKEN))
        may_end.set()
        assert text_of(first.result(30)) == "Done"
    assert text_of(hub.send("hello")) == "Done"


def test_the_models_of_routes_have_a_ceiling_a_day_for_each_caller_and_for_all() -> None:
    hub = _hub({"QUOTA_MODEL_CALLS_PER_DAY": "1"}, model_calls_per_day=2)
    answers = [text_of(hub.send("hello", token=token)) for token in (TOKEN, TOKEN, OTHER_TOKEN, OTHER_TOKEN)]
    assert [answer == "Done" for answer in answers] == [True, False, True, False]
    assert "hours" in answers[1] or "minutes" in answers[1]
    (cause,) = {line["cause"].partition(" is used")[0] for line in hub.log if line.get("fault") == "quota"}
    assert cause == "alpha: the quota of model_calls"


def test_operators_see_the_largest_claims(tmp_path: Path) -> None:
    hub = _hub({"TASK_STORE": f"sqlite:{tmp_path}/tasks.db", "RATE_LIMIT_PER_MINUTE": "100"})

    def quotas() -> list[Any]:
        response = hub.request("GET", "/doctor")
        assert isinstance(response.body, bytes)
        examined = json.loads(response.body)["examined"]
        return [step for each in examined if each["subject"] == "quotas" for step in each["steps"]]

    # Claims are made in the background.
    (step,) = until(quotas)
    assert (step["check"], step["outcome"]) == ("requests", "ok")
    assert "client:dev-" in step["message"]


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[tuple[Hub, threading.Event]]:
    """A hub where each caller may have one running task, and the event with which its agent answers."""
    may_end = threading.Event()

    def answer(asked: AgentRequest) -> Iterator[Event]:
        assert may_end.wait(30)
        return _answer(asked)

    downstream = InProcess(answer)
    downstream.immediate = False
    settings = {"TASK_STORE": f"sqlite:{tmp_path}/tasks.db", "QUOTA_RUNNING_TASKS": "1"}
    hub = Hub(route("alpha", "http://127.0.0.1:9"), downstreams={"alpha": downstream}, settings=settings)
    yield hub, may_end
    may_end.set()
    settle()


def _work(message_id: str = "m-1", *, token: str = TOKEN, hub: Hub) -> Response:
    params = _PROGRAM.params()
    params["message"]["messageId"] = message_id
    params["configuration"] = {"returnImmediately": True, "acceptedOutputModes": ["application/json"]}
    return hub.request("POST", "/", json.dumps(_PROGRAM.body(params)).encode(), token=token)


def test_a_caller_runs_so_many_tasks_and_another_when_one_has_ended(busy: tuple[Hub, threading.Event]) -> None:
    hub, may_end = busy
    assert "task" in json.loads(whole(_work(hub=hub)))["result"]
    refused = _work("m-2", hub=hub)
    assert (refused.status, refused.headers["retry-after"]) == (429, "10")
    assert json.loads(whole(refused))["error"]["message"].startswith("Too many of your tasks are at work.")
    assert hub.log[-1]["quota"] == "running_tasks"
    # The same request is the same task, and others have quotas of their own.
    assert "task" in json.loads(whole(_work(hub=hub)))["result"]
    assert _work(token=OTHER_TOKEN, hub=hub).status == 200
    assert b"Too many of your tasks are at work." in whole(hub.request("POST", "/", _body(_STREAM, "hello")))
    assert "Too many" not in streamed_text(hub.stream("/tasks"))
    may_end.set()
    until(lambda: _work("m-3", hub=hub).status == 200)
