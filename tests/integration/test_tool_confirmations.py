"""People behind a text UI allow or reject what a development agent wants to do: Gemini CLI's own server, as it was heard."""

import json
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.runtime.ids import random_hex
from a2a_hub.task_store.sqlite import SqliteTaskStore
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import message, text
from tests.fakes.development_agents import GeminiCliAgent
from tests.fakes.http_server import Exchange
from tests.fakes.hub import TOKEN, Hub, route, streamed_text, text_of
from tests.integration.conversation_agents import echo, turn
from tests.integration.slash_commands import hub_of as commands_of
from tests.integration.slash_commands import tool_route

_STORED = pytest.mark.parametrize("stored", [False, True], ids=["in memory", "stored"])
_BOTH = pytest.mark.parametrize("way", ["send", "stream"])
_YES = {"callId": "call-1", "outcome": "proceed_once"}


@pytest.fixture
def agent() -> Iterator[GeminiCliAgent]:
    with GeminiCliAgent() as server:
        yield server


def hub_of(agent: GeminiCliAgent, folder: Path | None = None, *, anonymous: bool = False, **changes: Any) -> Hub:
    settings = {"TASK_STORE": f"sqlite:{folder / 'tasks.db'}"} if folder else {}
    default = route("beta", "http://127.0.0.1:9")
    return Hub(route("code", agent.url, **changes), default, settings=settings, anonymous=anonymous)


@_STORED
@_BOTH
def test_a_stranger_does_not_decide_in_a_conversation_whose_id_an_anonymous_caller_made_up(
    agent: GeminiCliAgent, tmp_path: Path, way: str, stored: bool
) -> None:
    # The agent says nothing to the last of these.
    soon = {"timeout_seconds": 2.0, "stream_idle_timeout_seconds": 2.0}
    hub = hub_of(agent, tmp_path if stored else None, anonymous=True, **soon)
    context_id, asked = turn(hub, way, "code: write it", "my-conversation", token=None)
    assert (context_id, "wants to change the file" in asked) == ("my-conversation", True)
    for stranger in (None, TOKEN):
        assert turn(hub, way, "yes", "my-conversation", token=stranger)[0] == "my-conversation"
    assert turn(hub, way, "code: yes", "my-conversation", token=None)[0] == "my-conversation"
    assert agent.decisions == []
    assert [said for said, _ in agent.texts] == ["code: write it", "code: yes"]


@_STORED
@_BOTH
def test_an_anonymous_caller_decides_in_the_conversation_whose_id_the_hub_made(
    agent: GeminiCliAgent, tmp_path: Path, way: str, stored: bool
) -> None:
    hub = hub_of(agent, tmp_path if stored else None, anonymous=True)
    context_id, _ = turn(hub, way, "code: write it", token=None)
    assert turn(hub, way, "yes", token=None)[0] != context_id
    assert agent.decisions == []
    assert turn(hub, way, "yes", context_id, token=None)[1].startswith("All done.")
    assert agent.decisions == [_YES]


@_STORED
@_BOTH
@pytest.mark.parametrize("passes_tasks", [False, True])
def test_a_tool_call_is_asked_about_and_done_when_it_is_allowed(
    agent: GeminiCliAgent, tmp_path: Path, way: str, stored: bool, passes_tasks: bool
) -> None:
    hub = hub_of(agent, tmp_path if stored else None, passes_tasks=passes_tasks)
    context_id, asked = turn(hub, way, "code: write it")
    assert asked.startswith("The agent “Agent code” wants to change the file /workspace/hello.txt:\n\n    @@ -0,0 ")
    assert "\n\n1. Allow once\n2. Always allow this kind\n3. Reject\n\n" in asked
    _, answer = turn(hub, way, "Yes, please.", context_id)
    assert answer.startswith("All done. write_file=")
    assert (agent.decisions, agent.texts) == ([_YES], [("code: write it", None)])


def test_a_stream_shows_text_alone_and_a_line_for_each_tool_at_work(agent: GeminiCliAgent) -> None:
    hub = hub_of(agent)
    asks = hub.stream("codeで run をお願いします")
    assert _shown(asks[-1]) == ("input-required", True, streamed_text(asks))
    assert (
        "エージェント「担当code」が次のコマンドの実行を求めています：\n\n    echo one; sleep 1; echo two\n"
        in _shown(asks[-1])[2]
    )
    answers = hub.stream("1", context_id=asks[-1]["contextId"])
    assert _shown(answers[2]) == ("working", False, "実行中：echo one; sleep 1; echo two")
    assert [event["kind"] for event in answers[3:]] == ["artifact-update"] * 2 + ["status-update"]
    assert _shown(answers[-1]) == ("completed", True, "")
    assert '"data"' not in json.dumps([asks, answers])
    assert '"one\\ntwo"' not in json.dumps(answers)


def test_a_program_that_shows_text_alone_is_asked_and_decides_in_words_where_tasks_pass(
    agent: GeminiCliAgent, tmp_path: Path
) -> None:
    """As the console does."""
    program: dict[str, Any] = {"version": "1.0", "modes": ["text/plain"]}
    hub = commands_of(tmp_path, tool_route("code", agent.url))
    asked = hub.stream("code: two things", **program)
    status = asked[-1]["statusUpdate"]["status"]
    assert (status["state"], "1. Allow once" in text_of(status["message"])) == ("TASK_STATE_INPUT_REQUIRED", True)
    hub.stream("1", context_id=asked[0]["task"]["contextId"], **program)
    assert [each["outcome"] for each in agent.decisions] == ["proceed_once"]


@_STORED
@_BOTH
def test_several_tool_calls_are_decided_on_one_by_one(
    agent: GeminiCliAgent, tmp_path: Path, way: str, stored: bool
) -> None:
    hub = hub_of(agent, tmp_path if stored else None)
    context_id, first = turn(hub, way, "code: two things")
    _, second = turn(hub, way, "はい", context_id)
    _, answer = turn(hub, way, "3", context_id)
    assert ["a.txt" in first, "    rm -rf build && echo hi\n" in second] == [True, True]
    assert "今回だけ許可" in second
    assert answer.startswith("All done.")
    assert "Operation Cancelled" in answer
    assert agent.decisions == [_YES, {"callId": "call-2", "outcome": "cancel"}]


@_STORED
@_BOTH
def test_an_unclear_reply_is_no_consent_the_question_is_asked_again_and_the_agent_hears_nothing(
    agent: GeminiCliAgent, tmp_path: Path, way: str, stored: bool
) -> None:
    hub = hub_of(agent, tmp_path if stored else None)
    context_id, asked = turn(hub, way, "code: write it")
    for unclear in ("yes, but in src", "beta, what do you think?", "それは何ですか"):
        _, again = turn(hub, way, unclear, context_id)
        assert "wants to change the file" in again or "の変更を求めています" in again
        assert again != asked
    assert again.startswith("ご返信を選択肢のどれとも判断できなかったため、まだ何も実行していません。\n\nエージェント")
    assert agent.decisions == []
    assert turn(hub, way, "2", context_id)[1].startswith("All done.")
    assert agent.decisions == [{"callId": "call-1", "outcome": "proceed_always"}]
    assert agent.texts == [("code: write it", None)]


def test_the_record_of_a_query_asks_and_takes_the_decision(agent: GeminiCliAgent) -> None:
    hub = hub_of(agent)
    asked = hub.query("code: write it")
    assert asked["answer"].startswith("The agent “Agent code” wants to change the file")
    assert hub.query("いいえ", contextId=asked["contextId"])["reason"].startswith("waiting:")
    assert agent.decisions == [{"callId": "call-1", "outcome": "cancel"}]


def test_a_question_outlives_the_hub_that_asked_it(agent: GeminiCliAgent, tmp_path: Path) -> None:
    context_id, _ = turn(hub_of(agent, tmp_path), "stream", "code: write it、お願いします")
    again = turn(hub_of(agent, tmp_path), "stream", "?", context_id)[1]
    assert "今回だけ許可" in again
    assert turn(hub_of(agent, tmp_path), "send", "OK", context_id)[1].startswith("All done.")
    assert agent.decisions == [_YES]


@_STORED
@pytest.mark.parametrize(("way", "code"), [("send", -32001), ("stream", -32001), ("stream", -32004)])
def test_a_decision_on_a_task_that_is_gone_is_told_to_be_late_and_is_no_new_request(
    agent: GeminiCliAgent, tmp_path: Path, stored: bool, way: str, code: int
) -> None:
    def forgot(exchange: Exchange) -> None:
        exchange.json({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "gone"}})

    hub = hub_of(agent, tmp_path if stored else None)
    context_id, _ = turn(hub, "send", "code: write it")
    before = len(agent.received)
    agent.fails = forgot
    late = turn(hub, way, "yes", context_id)[1]
    assert late.startswith("The agent “Agent code” was not waiting for your decision any more")
    assert len(agent.received) == before + 1
    assert not hub.query("yes", contextId=context_id)["reason"].startswith("waiting:")


def test_a_tool_call_that_its_agent_gave_up_is_told_to_be_late(agent: GeminiCliAgent) -> None:
    hub = hub_of(agent)
    context_id, _ = turn(hub, "stream", "code: write it")
    agent.fails = agent.gives_up
    events = hub.stream("yes", context_id=context_id)
    assert streamed_text(events) == (
        "The agent “Agent code” was not waiting for your decision any more, so this was not done. Please ask again."
        "\n\nExecution aborted."
    )
    assert _shown(events[-1]) == ("input-required", True, "Execution aborted.")


@_BOTH
@pytest.mark.parametrize(
    ("reply", "answer"),
    [("no", "Rejected: this was not done."), ("やめて", "拒否しました。実行していません。")],
)
def test_a_rejection_is_told_where_the_agent_says_nothing_to_it(
    agent: GeminiCliAgent, way: str, reply: str, answer: str
) -> None:
    hub = hub_of(agent)
    context_id, _ = turn(hub, way, "code: write it")
    agent.fails = agent.obeys
    assert turn(hub, way, reply, context_id)[1] == answer
    agent.fails = None
    assert turn(hub, way, "further", context_id)[1] == "Echo: further"


@_STORED
def test_a_decision_that_did_not_reach_the_agent_can_be_sent_again(
    agent: GeminiCliAgent, tmp_path: Path, stored: bool
) -> None:
    hub = hub_of(agent, tmp_path if stored else None)
    context_id, _ = turn(hub, "send", "code: write it")
    agent.fails = lambda exchange: exchange.answer(503)
    assert "cannot be reached" in turn(hub, "send", "yes", context_id)[1]
    agent.fails = None
    assert turn(hub, "send", "yes", context_id)[1].startswith("All done.")
    assert agent.decisions == [_YES]


def test_an_agent_that_says_nothing_to_a_decision_is_given_up_in_time(agent: GeminiCliAgent) -> None:
    hub = hub_of(agent, timeout_seconds=1.5, stream_idle_timeout_seconds=1.5)
    context_id, _ = turn(hub, "stream", "code: write it")
    agent.fails = lambda exchange: exchange.wait_until_left()
    assert "did not answer in time" in turn(hub, "stream", "yes", context_id)[1]


@_STORED
@_BOTH
def test_what_asks_nothing_is_an_answer_and_the_next_text_goes_on_unless_it_belongs_to_another(
    agent: GeminiCliAgent, tmp_path: Path, way: str, stored: bool
) -> None:
    with AgentServer(echo) as beta, AgentServer(lambda _: [message(text("gamma"))]) as gamma:
        settings = {"TASK_STORE": f"sqlite:{tmp_path / 'tasks.db'}"} if stored else {}
        default = route("gamma", gamma.url)
        hub = Hub(route("code", agent.url), route("beta", beta.url), default, settings=settings)
        context_id, answer = turn(hub, way, "code: think")
        assert answer == "You said: think"
        assert turn(hub, way, "and further", context_id)[1] == "Echo: and further"
        assert turn(hub, way, "beta, please", context_id)[1] == "beta, please"
        assert turn(hub, way, "whatever", context_id)[1] == "gamma"
        assert turn(hub, way, "code again", context_id)[1] == "Echo: code again"
        assert turn(hub, way, "a new topic")[1] == "gamma"
    assert agent.texts == [("code: think", None), ("and further", "task-1"), ("code again", "task-1")]


def test_an_answer_that_asks_nothing_ends_the_stream_and_is_shown_once(agent: GeminiCliAgent, tmp_path: Path) -> None:
    hub = hub_of(agent, tmp_path)
    first = hub.stream("code: think")
    assert _shown(first[2]) == ("working", False, "Planning")
    assert _shown(first[-1]) == ("completed", True, "")
    second = hub.stream("further", context_id=first[-1]["contextId"])
    assert "You said: think" not in json.dumps([event for event in second if event["kind"] != "task"])
    assert "artifacts" not in second[0]
    assert streamed_text(second) == "Echo: further"


def test_what_is_for_workers_leaves_a_task_that_asks_nothing_and_reaches_them(
    agent: GeminiCliAgent, tmp_path: Path
) -> None:
    file = tmp_path / "tasks.db"
    settings = {"TASK_STORE": f"sqlite:{file}", "TASK_UI_SECONDS": "0.1"}
    hub = Hub(route("code", agent.url), route("team", "", role="developer"), settings=settings)
    context_id, _ = turn(hub, "stream", "code: think")
    turn(hub, "stream", "team: plan it", context_id)

    def listed() -> list[list[str]]:
        return [text_of(hub.send(command)).split("\n")[1:] for command in ("/tasks", "/タスク一覧")]

    assert listed() == [
        ["2: waiting for a worker: team: plan it", "1: answered; you can continue it: code: think"],
        ["2：ワーカー待ち：team: plan it", "1：回答済み（続けられます）：code: think"],
    ]
    with closing(SqliteTaskStore(file, clock=time.time, new_token=random_hex)) as store:
        lease = store.lease("a-worker", seconds=5, roles=("developer",))
    assert lease is not None
    assert [lines[0] for lines in listed()] == [
        "2: in progress: team: plan it",
        "2：処理中：team: plan it",
    ]
    assert turn(hub, "stream", "code: further", context_id)[1] == "Echo: code: further"
    assert agent.texts[1] == ("code: further", "task-1")


def test_after_a_new_hub_has_started_the_next_text_still_goes_on(agent: GeminiCliAgent, tmp_path: Path) -> None:
    context_id, _ = turn(hub_of(agent, tmp_path), "stream", "code: think")
    assert turn(hub_of(agent, tmp_path), "stream", "further", context_id)[1] == "Echo: further"
    assert agent.texts[1] == ("further", "task-1")


def _shown(event: dict[str, Any]) -> tuple[str, bool, str]:
    status = event["status"]
    return status["state"], event["final"], text_of(status["message"]) if "message" in status else ""
