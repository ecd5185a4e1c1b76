"""Processes that are killed with `kill -9` while they hold tasks: nothing is lost, and nothing is done twice."""

import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.runtime.ids import random_hex
from a2a_hub.task_store.settings import StoreSettings
from a2a_hub.tasks.resume_payload import decode_resume_payload
from tests.e2e.long_running_agent import LongRunningAgent, answer_to
from tests.e2e.task_machine import Machine, ended, machine, message, text_of, until
from tests.fakes import emulators

# How long a store waits for the lock of its file.
_BUSY_SECONDS = 10.0


@pytest.mark.parametrize("remembers", [True, False], ids=["of an agent", "of an agent that forgot its task"])
def test_a_hub_killed_in_the_middle_of_streams_leaves_one_whole_answer_to_each(tmp_path: Path, remembers: bool) -> None:
    with (
        LongRunningAgent(seconds=2.0, remembers=remembers) as agent,
        machine(tmp_path, agent.url, hubs=2) as run,
    ):
        streams = {}
        for route in ("agent", "mirror"):
            id_ = random_hex()
            events = run.events("hub-2", "SendStreamingMessage", message(f"{route} please", id_))
            streams[route] = id_, next(events)["task"]["id"], events
        for _, _, events in streams.values():
            while "artifactUpdate" not in next(events):
                pass
        run.kill("hub-2")
        for route, (id_, task_id, events) in streams.items():
            assert not any("statusUpdate" in event for event in events)
            assert text_of(ended(run, task_id)) == answer_to(f"{route} please")
            assert agent.asked[id_] == (1 if remembers else 2)


def test_a_hub_killed_in_the_middle_of_work_that_nobody_waits_for_loses_nothing(tmp_path: Path) -> None:
    with LongRunningAgent(seconds=2.0) as agent, machine(tmp_path, agent.url, hubs=2) as run:
        ids = [random_hex() for _ in range(8)]
        tasks = [
            run.call("hub-2", "SendMessage", message(f"agent {id_}", id_, at_once=True))["task"]["id"] for id_ in ids
        ]
        for _ in ids:
            agent.await_question()
        until(lambda: all(_can_be_taken_up(run, task_id) for task_id in tasks))
        run.kill("hub-2")
        for id_, task_id in zip(ids, tasks, strict=True):
            assert text_of(ended(run, task_id)) == answer_to(f"agent {id_}")
        assert set(agent.asked.values()) == {1}


def test_what_a_killed_tasks_function_was_to_have_run_is_run_by_the_next(tmp_path: Path) -> None:
    with (
        LongRunningAgent(seconds=0.2) as agent,
        machine(tmp_path, agent.url, settings={"TASK_RUNS": "queued"}) as run,
    ):
        run.kill("tasks")
        ids = [random_hex() for _ in range(10)]
        tasks = [
            run.call("hub-1", "SendMessage", message(f"agent {id_}", id_, at_once=True))["task"]["id"] for id_ in ids
        ]
        assert not agent.asked
        run.start("tasks")
        agent.await_question()
        run.kill("tasks")
        run.start("tasks")
        for id_, task_id in zip(ids, tasks, strict=True):
            assert text_of(ended(run, task_id)) == answer_to(f"agent {id_}")
        assert set(agent.asked.values()) == {1}


def test_a_run_that_outlives_its_request_is_handed_over_and_goes_on_from_the_log(tmp_path: Path) -> None:
    settings = {"TASK_RUNS": "queued", "HUB_RUN_SECONDS": "1", "TASK_MOST_ATTEMPTS": "2"}
    with LongRunningAgent(seconds=4.0) as agent, machine(tmp_path, agent.url, settings=settings) as run:
        id_ = random_hex()
        task_id = run.call("hub-1", "SendMessage", message("agent please", id_, at_once=True))["task"]["id"]
        assert text_of(ended(run, task_id)) == answer_to("agent please")
        assert agent.asked[id_] == 1
        # It was handed over more often than a turn may be attempted.
        assert run.log("hub-1").count("/internal/tasks:run") > 2


def test_a_store_that_is_locked_for_longer_than_anybody_waits_for_it_loses_nothing(tmp_path: Path) -> None:
    lease = {"TASK_LEASE_SECONDS": "30"}
    with LongRunningAgent(seconds=1.0) as agent, machine(tmp_path, agent.url, settings=lease) as run:
        id_ = random_hex()
        events = run.events("hub-1", "SendStreamingMessage", message("agent please", id_))
        task_id = next(events)["task"]["id"]
        with contextlib.closing(sqlite3.connect(tmp_path / "tasks.sqlite3", isolation_level=None)) as lock:
            until(lambda: run.store.get(task_id, owner=None))
            lock.execute("BEGIN IMMEDIATE")
            locked_at = time.monotonic()
            # The end is tried to be stored twice.
            last = list(events)[-1]
            assert time.monotonic() - locked_at > _BUSY_SECONDS
            lock.execute("ROLLBACK")
        assert last["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"
        assert text_of(ended(run, task_id)) == answer_to("agent please")
        assert agent.asked[id_] == 1


def test_a_request_that_another_hub_works_on_already_is_joined(tmp_path: Path) -> None:
    with LongRunningAgent(seconds=3.0) as agent, machine(tmp_path, agent.url, hubs=2) as run:
        id_ = random_hex()
        answers: dict[str, Any] = {}

        def ask(hub: str) -> None:
            answers[hub] = run.call(hub, "SendMessage", message("agent please", id_))["task"]

        first = threading.Thread(target=ask, args=("hub-1",))
        first.start()
        until(lambda: run.call("hub-2", "ListTasks", {})["tasks"])
        second = threading.Thread(target=ask, args=("hub-2",))
        second.start()
        first.join(30)
        second.join(30)
        assert [text_of(answer) for answer in answers.values()] == [answer_to("agent please")] * 2
        assert agent.asked[id_] == 1
        ask("hub-2")
        assert agent.asked[id_] == 2


def test_a_store_that_stands_still_for_ten_seconds_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, firestore_emulator: str
) -> None:
    with LongRunningAgent(seconds=2.0) as agent:
        monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", firestore_emulator)
        database = f"tests-{random_hex()}"
        store = StoreSettings(project=emulators.PROJECT, database=database)
        with machine(tmp_path, agent.url, workers=1, store=store) as run:

            def ask(kind: str) -> str:
                text = message(f"{kind} please", random_hex(), at_once=True)
                return str(run.call("hub-1", "SendMessage", text)["task"]["id"])

            tasks = [ask(kind) for kind in ("agent", "mirror", "work") * 2]
            events = run.events("hub-1", "SendStreamingMessage", message("agent please", random_hex()))
            tasks.append(next(events)["task"]["id"])
            until(lambda: run.store.get(tasks[-1], owner=None))
            with emulators.standing_still(firestore_emulator):
                time.sleep(10)
            # What is refused until the store answers again is not lost: its caller knows.
            tasks += [until(lambda kind=kind: _unless_refused(ask, kind)) for kind in ("agent", "mirror", "work")]
            for task_id in tasks:
                ended(run, task_id)
            assert list(events)[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"


def _unless_refused(ask: Callable[[str], str], kind: str) -> str | None:
    """The id of the task that was asked for; None if the hub refused."""
    try:
        return ask(kind)
    except KeyError:
        return None


def _can_be_taken_up(run: Machine, task_id: str) -> bool:
    """Return True if the store knows the agent's own task, so that another hub asks for that instead of beginning anew."""
    stored = run.store.get(task_id, owner=None)
    return stored is not None and "running" in decode_resume_payload(stored.payload).notes
