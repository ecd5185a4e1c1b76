"""Turns whose callers leave, on instances without CPU between requests: the queue goes on with what is stored."""

import json
import queue
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import Task, TaskState
from a2a_hub.a2a.reply import Piece, Text
from a2a_hub.queue.wakeups import Wakeups
from tests.fakes import agent_wire
from tests.fakes.agent_server import AgentServer, ReceivedMessage
from tests.fakes.task_instance import PATIENCE_SECONDS, Instance, settled, terminal, text_of, until
from tests.fakes.waiting import Waiting
from tests.integration.gates import BEARER, TOKEN, function


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tasks.db"


class Published(Wakeups):
    """Wake-ups that the test delivers."""

    def __init__(self) -> None:
        self.wakeups: queue.SimpleQueue[tuple[str, str, float | None]] = queue.SimpleQueue()

    def publish(self, topic: str, task_id: str, *, due_at: float | None = None) -> None:
        self.wakeups.put((topic, task_id, due_at))

    def close(self) -> None:
        """Does nothing."""


def _answers(_: Call) -> Iterator[Piece]:
    yield Text("the answer")


def test_the_queue_goes_on_with_a_stream_whose_last_client_has_left(file: Path) -> None:
    stuck, wakeups = threading.Event(), Published()

    def script(_: Call) -> Iterator[Piece]:
        yield Text("half of")
        assert stuck.wait(PATIENCE_SECONDS)

    here, elsewhere = Instance(file, script, runs_at_once=False, wakeups=wakeups), Instance(file, _answers)
    stream = here.open_stream("hello")
    events = (event for event in Waiting(stream, idle_seconds=PATIENCE_SECONDS) if event is not None)
    task = next(events)
    assert isinstance(task, Task)
    next(events)
    stream.close()
    assert wakeups.wakeups.get(timeout=PATIENCE_SECONDS) == ("tasks", task.id, None)
    assert elsewhere.run_again(task.id) is TaskState.COMPLETED
    assert text_of(settled(elsewhere, task.id)) == "the answer"
    stuck.set()
    assert len(terminal(elsewhere, task.id)) == 1


def test_a_turn_that_another_request_waits_for_stays_where_it_is(file: Path) -> None:
    goes_on, wakeups = threading.Event(), Published()

    def script(_: Call) -> Iterator[Piece]:
        yield Text("the ")
        assert goes_on.wait(PATIENCE_SECONDS)
        yield Text("answer")

    here = Instance(file, script, runs_at_once=False, wakeups=wakeups)
    first, second = (here.open_stream("hello", message_id="m") for _ in range(2))
    rest = (event for event in Waiting(second, idle_seconds=PATIENCE_SECONDS) if event is not None)
    task = next(rest)
    assert isinstance(task, Task)
    first.close()
    goes_on.set()
    list(rest)
    assert text_of(settled(here, task.id)) == "the answer"
    assert here.agent.asked == 1
    assert wakeups.wakeups.empty()


def test_a_process_that_has_cpu_without_callers_keeps_its_turns(file: Path) -> None:
    goes_on, wakeups = threading.Event(), Published()

    def script(_: Call) -> Iterator[Piece]:
        assert goes_on.wait(PATIENCE_SECONDS)
        yield Text("the answer")

    here = Instance(file, script, wakeups=wakeups)
    stream = here.open_stream("hello")
    task = next(event for event in Waiting(stream, idle_seconds=PATIENCE_SECONDS) if event is not None)
    assert isinstance(task, Task)
    stream.close()
    goes_on.set()
    assert text_of(settled(here, task.id)) == "the answer"
    assert wakeups.wakeups.empty()


def test_a_stored_turn_counts_its_request_where_it_runs(file: Path) -> None:
    counted: list[int] = []

    def script(_: Call) -> Iterator[Piece]:
        counted.append(here.kept.operations.turns.body_bytes)
        yield Text("the answer")

    task = Instance(file, script, runs_at_once=False).send("hello" * 100, at_once=True)
    assert isinstance(task, Task)
    here = Instance(file, script)
    assert here.run_again(task.id) is TaskState.COMPLETED
    assert counted[0] > 500


def test_large_requests_count_until_their_turns_are_over_though_nobody_waits(tmp_path: Path) -> None:
    goes_on = threading.Event()

    def script(_: ReceivedMessage) -> Iterator[agent_wire.Json]:
        yield agent_wire.task("working")
        assert goes_on.wait(PATIENCE_SECONDS)
        yield agent_wire.status("completed", "done")

    def body(id_: str, size: int) -> bytes:
        message = {"messageId": id_, "role": "ROLE_USER", "parts": [{"text": "a" * size}]}
        return json.dumps({"message": message, "configuration": {"returnImmediately": True}}).encode()

    settings = {
        "HUB_DEV_TOKEN": TOKEN,
        "IAM_CREDENTIALS": "none",
        "MAX_HELD_MEBIBYTES": "1",
        "TASK_STORE": f"sqlite:{tmp_path}/tasks.db",
    }
    with AgentServer(script) as agent:
        routes = tmp_path / "routes.toml"
        names = 'id = "only"\nname = "Only"\ndescription = "The only agent."\nboundary = "public"\ndefault = true'
        routes.write_text(f'[[routes]]\n{names}\nurl = "{agent.url}"\n')
        with function("hub", tmp_path, ROUTES_FILE=str(routes), **settings) as hub:

            def ask(id_: str, size: int) -> int:
                headers = {**BEARER, "A2A-Version": "1.0", "Content-Type": "application/json"}
                return hub.ask(path="/message:send", body=body(id_, size), headers=headers).status

            assert ask("first", 600_000) == 200
            assert ask("second", 600_000) == 503
            assert ask("small", 6_000) == 200
            goes_on.set()
            until(lambda: ask("second", 600_000) == 200)
