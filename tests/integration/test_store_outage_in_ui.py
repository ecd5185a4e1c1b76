"""What people read while the task store is away or its file damaged: answers, and never an error that they cannot be shown."""

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.fakes.agent_server import AgentServer, ReceivedMessage
from tests.fakes.agent_wire import Json, message, task, text
from tests.fakes.http_server import Exchange
from tests.fakes.hub import Hub, route, settle, streamed_text, text_of

_WORK = {"skill": "work"}


@contextlib.contextmanager
def _without_its_table(file: Path) -> Iterator[None]:
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("ALTER TABLE tasks RENAME TO lost")
        yield
        connection.execute("ALTER TABLE lost RENAME TO tasks")


@contextlib.contextmanager
def _overwritten(file: Path) -> Iterator[None]:
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = file.read_bytes()
    file.write_bytes(b"\xff" * len(before))
    yield
    file.write_bytes(before)


@pytest.fixture
def agent() -> Iterator[AgentServer]:
    def say(said: ReceivedMessage) -> list[Json]:
        if said.text == "Paint it" and not said.task_id:
            return [task("input-required", says="Which colour?")]
        return [message(text(f"You said: {said.text}"))]

    with AgentServer(say) as server:
        yield server


@pytest.fixture
def patience() -> str:
    """Seconds that a user interface is kept waiting."""
    return "30"


@pytest.fixture(params=[_without_its_table, _overwritten], ids=["away", "damaged"])
def hub(agent: AgentServer, tmp_path: Path, patience: str, request: pytest.FixtureRequest) -> Iterator[Hub]:
    file = tmp_path / "tasks.db"
    damaged: Callable[[Path], AbstractContextManager[None]] = request.param
    settings = {
        "TASK_STORE": f"sqlite:{file}",
        "TASK_UI_SECONDS": patience,
        "TASK_STORE_AFTER_SECONDS": "0.1",
    }
    hub = Hub(route("work", "", role="developer", priority=7), route("alpha", agent.url), settings=settings)
    with damaged(file):
        yield hub
    settle()


def test_a_question_is_answered_wherever_in_its_conversation_it_stands(hub: Hub) -> None:
    assert text_of(hub.send("hello")) == "You said: hello"
    assert streamed_text(hub.stream("hello", context_id="the-conversation")) == "You said: hello"


def test_an_agents_question_is_put_and_its_answer_reaches_the_agent(hub: Hub, agent: AgentServer) -> None:
    asked = hub.send("Paint it")
    assert text_of(asked) == "Which colour?"
    assert text_of(hub.send("red", context_id=asked["contextId"])) == "You said: red"
    assert [said.task_id for said in agent.said] == [None, "task-1"]


@pytest.mark.parametrize(
    ("asked", "read"),
    [("Fix it", "cannot be stored at the moment"), ("直して", "保存先に接続できない")],
)
def test_work_that_has_to_be_stored_is_refused_with_a_text(hub: Hub, asked: str, read: str) -> None:
    assert read in text_of(hub.send(asked, metadata=_WORK))
    assert (hub.log[-1]["severity"], hub.log[-1]["fault"]) == ("ERROR", "UNAVAILABLE")
    streamed = hub.stream(asked, metadata=_WORK)
    assert read in streamed_text(streamed)
    assert streamed[-1]["final"] is True


@pytest.mark.parametrize("patience", ["0.3"])
def test_whoever_loses_patience_is_told_where_to_look_later(hub: Hub, agent: AgentServer) -> None:
    goes_on = threading.Event()

    def wait(exchange: Exchange) -> None:
        assert goes_on.wait(20)
        exchange.json(agent.written(exchange, message(text("At last."))))

    agent.serve_message = wait
    try:
        assert "「/タスク一覧」" in text_of(hub.send("待って"))
    finally:
        goes_on.set()
