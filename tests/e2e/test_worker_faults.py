"""Nothing is lost and nothing is done twice, whoever dies: many workers, a function that is killed, a wake-up that is alone."""

import collections
import threading
from pathlib import Path
from typing import Any

from tests.e2e.worker_runs import WORKER, WorkedHub, WorkerProcess, worked_hub
from workers.client import Client, Work, static_token

_WORKERS, _TASKS = 8, 200


def test_no_two_workers_ever_hold_one_task(tmp_path: Path) -> None:
    held: collections.Counter[str] = collections.Counter()
    lock, stopping = threading.Lock(), threading.Event()

    def do(work: Work) -> str:
        with lock:
            held[work.task_id] += 1
            if len(held) == _TASKS:
                stopping.set()
        return f"You said: {work.text}"

    with worked_hub(tmp_path) as hub:
        client = Client(hub.tasks_url, static_token(WORKER), roles=["developer"], wait_seconds=1)
        workers = [
            threading.Thread(target=client.run, args=(do,), kwargs={"stopping": stopping}) for _ in range(_WORKERS)
        ]
        for worker in workers:
            worker.start()
        ids = {hub.send(f"Fix the bug {number}", at_once=True)["task"]["id"] for number in range(_TASKS)}
        for worker in workers:
            worker.join(60)
        assert held == dict.fromkeys(ids, 1)
        for state, count in (("TASK_STATE_COMPLETED", _TASKS), ("TASK_STATE_WORKING", 0)):
            assert hub.operation("ListTasks", {"status": state})["totalSize"] == count


def test_a_function_that_is_killed_and_comes_back_costs_no_task(tmp_path: Path) -> None:
    begun, back = threading.Event(), threading.Event()

    def do(work: Work) -> str:
        begun.set()
        assert back.wait(60)
        work.progress("Halfway", {"artifactId": "half", "parts": [{"text": "half"}]})
        return "Done"

    stopping = threading.Event()
    with worked_hub(tmp_path) as hub:
        client = Client(hub.tasks_url, static_token(WORKER), lease_seconds=30, wait_seconds=1)
        worker = threading.Thread(target=client.run, args=(do,), kwargs={"stopping": stopping})
        worker.start()
        first = hub.send("Fix the first bug", at_once=True)["task"]
        assert begun.wait(60)
        hub.kill("tasks")
        second = hub.send("Fix the second bug", at_once=True)["task"]
        hub.start(["tasks"])
        back.set()
        for task in (first, second):
            _ended(hub, task["id"])
            done = hub.operation("GetTask", {"id": task["id"]})
            assert done["status"]["state"] == "TASK_STATE_COMPLETED"
            texts = [part["text"] for artifact in done["artifacts"] for part in artifact["parts"]]
            assert texts == ["half", "Done"]
        stopping.set()
        worker.join(60)


def test_the_hub_wakes_a_worker_that_waits(tmp_path: Path) -> None:
    """Nothing but the wake-up can be as quick: the store is looked into once a minute."""
    with worked_hub(tmp_path, WORKER_POLL_SECONDS="60") as hub, WorkerProcess(hub, "-m", "workers.echo"):
        assert hub.send("Fix the bug")["task"]["artifacts"][0]["parts"] == [{"text": "You said: Fix the bug"}]
        assert hub.send("Fix the bug")["task"]["artifacts"][0]["parts"] == [{"text": "You said: Fix the bug"}]


def _ended(hub: WorkedHub, task_id: str) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask", "params": {"id": task_id}}
    return hub.user().post("/", body, {"A2A-Version": "1.0", "Accept": "text/event-stream"})
