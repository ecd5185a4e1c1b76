"""A soak: tasks of all kinds while processes are killed at random (`make soak`)."""

import argparse
import contextlib
import http.client
import itertools
import random
import secrets
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from a2a_hub.a2a.model import TaskArtifactUpdateEvent, TaskState, TaskStatusUpdateEvent
from a2a_hub.task_store.store import StoredTask, TaskQuery
from a2a_hub.task_store.task_log import event_bytes
from tests.e2e.long_running_agent import LongRunningAgent, answer_to
from tests.e2e.task_machine import OWNER, Json, Machine, machine, message

HUBS, WORKERS, CLIENTS = 2, 4, 6
_KINDS = ("agent", "mirror", "work", "stream")
_AGENT_SECONDS = 0.4
_KILL_EVERY_SECONDS = (0.5, 1.5)
_END_SECONDS = 60.0
_BUSY = (OSError, http.client.HTTPException, KeyError)


@dataclass(kw_only=True)
class SoakResult:
    """What happened. `accepted` are the tasks that a client was told of, by what they were to be about."""

    seed: int
    accepted: dict[str, str] = field(default_factory=dict)
    kills: Counter[str] = field(default_factory=Counter)
    watched: dict[str, list[list[int]]] = field(default_factory=dict)
    streamed: dict[str, list[list[Json]]] = field(default_factory=dict)
    stored: list[StoredTask] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    broken_streams: int = 0
    begun_again: int = 0
    asked_again: int = 0
    seconds: float = 0.0

    def report(self) -> str:
        """The numbers, in a few lines."""
        kills = ", ".join(f"{name} {count}" for name, count in sorted(self.kills.items()))
        watchers, streams = (sum(map(len, kind.values())) for kind in (self.watched, self.streamed))
        lines = [
            f"seed {self.seed}: {len(self.stored)} tasks, {len(self.accepted)} of them told to a client",
            f"{sum(self.kills.values())} kills ({kills}) in {self.seconds:.1f} s",
            f"{self.begun_again} tasks run again, {self.asked_again} messages sent to the agent again",
            f"{watchers} watchers and {streams} streams compared with the log, {self.broken_streams} streams broke off",
            f"faults: {len(self.faults)}",
            *self.faults[:20],
        ]
        return "\n".join(lines)


def soak(folder: Path, *, seconds: float, seed: int) -> SoakResult:
    """Send tasks for so long, and return everything that went wrong in `faults`."""
    made, started = SoakResult(seed=seed), time.monotonic()
    with (
        LongRunningAgent(seconds=_AGENT_SECONDS) as agent,
        machine(folder, agent.url, hubs=HUBS, workers=WORKERS) as run,
    ):
        sending = threading.Event()
        killer = threading.Thread(target=_kill, args=(run, made, random.Random(seed), sending))
        killer.start()
        numbers, until = itertools.count(), time.monotonic() + seconds

        def send() -> None:
            while time.monotonic() < until:
                _ask(run, made, next(numbers), seed)

        with ThreadPoolExecutor(CLIENTS) as clients:
            for client in [clients.submit(send) for _ in range(CLIENTS)]:
                client.result()
        sending.set()
        killer.join()
        made.stored = _all_ended(run)
        for stored in made.stored:
            _examine(run, made, stored)
        _compare(run, made)
        made.asked_again = sum(agent.asked.values()) - len(agent.asked)
    made.faults += [f"{task_id} is lost" for task_id in set(made.accepted) - _ids(made.stored)]
    made.seconds = time.monotonic() - started
    return made


def _ask(run: Machine, made: SoakResult, number: int, seed: int) -> None:
    """One client's request: sent again, as it was, until somebody says that it is a task."""
    chance = random.Random(f"{seed}.{number}")
    kind = _KINDS[number % len(_KINDS)]
    text, message_id = f"{'agent' if kind == 'stream' else kind} number {number}", f"{seed}-{number}"
    while True:
        hub = f"hub-{chance.randint(1, HUBS)}"
        if kind == "stream":
            events = list(run.events(hub, "SendStreamingMessage", message(text, message_id)))
            if events and "task" in events[0]:
                task_id = events[0]["task"]["id"]
                made.accepted[task_id] = text
                if _has_ended(events[-1]):
                    made.streamed.setdefault(task_id, []).append(events[1:])
                else:
                    # The last of what a killed hub has said may be in no log: a stream waits for no store before its end.
                    made.broken_streams += 1
                return
        else:
            with contextlib.suppress(*_BUSY):
                asked = message(text, message_id, at_once=True)
                made.accepted[id_ := run.call(hub, "SendMessage", asked)["task"]["id"]] = text
                if number % 5 == 0:
                    _watch(run, made, id_, chance)
                return
        time.sleep(0.1)


def _watch(run: Machine, made: SoakResult, task_id: str, chance: random.Random) -> None:
    """Two subscribers of the store from the start, and one of a hub from now on."""

    def watch() -> list[int]:
        seen: list[int] = []
        deadline = time.monotonic() + _END_SECONDS
        while time.monotonic() < deadline:
            run.store.wait(task_id, after=len(seen), timeout_seconds=0.5)
            entries = run.store.entries(task_id, after=len(seen))
            seen += [entry.sequence for entry in entries]
            if entries and _is_end(entries[-1].event):
                break
        return seen

    def subscribe() -> list[Json]:
        hub = f"hub-{chance.randint(1, HUBS)}"
        with contextlib.suppress(KeyError):
            return list(run.events(hub, "SubscribeToTask", {"id": task_id}))[1:]
        return []

    with ThreadPoolExecutor(3) as watchers:
        watches = [watchers.submit(watch) for _ in range(2)]
        subscription = watchers.submit(subscribe)
        made.watched[task_id] = [each.result() for each in watches]
        made.streamed.setdefault(task_id, []).append(subscription.result())


def _kill(run: Machine, made: SoakResult, chance: random.Random, ended: threading.Event) -> None:
    names = sorted(run.programs)
    while not ended.wait(chance.uniform(*_KILL_EVERY_SECONDS)):
        name = chance.choice(names)
        run.kill(name)
        made.kills[name.partition("-")[0]] += 1
        run.start(name)


def _all_ended(run: Machine) -> list[StoredTask]:
    """Every task there is, when none is under way any more or time is up."""
    deadline = time.monotonic() + _END_SECONDS
    open_states = (TaskState.SUBMITTED, TaskState.WORKING)
    while time.monotonic() < deadline:
        if not run.store.list(OWNER, TaskQuery(states=open_states), size=1, after=None).tasks:
            break
        time.sleep(0.1)
    found: list[StoredTask] = []
    page = run.store.list(OWNER, TaskQuery(), size=100, after=None)
    found += page.tasks
    while page.next:
        page = run.store.list(OWNER, TaskQuery(), size=100, after=page.next)
        found += page.tasks
    return found


def _examine(run: Machine, made: SoakResult, stored: StoredTask) -> None:
    """The task has one end, its log no gap, and its answer is whole and there once."""
    task = stored.task
    entries = run.store.entries(task.id, after=0)
    if [entry.sequence for entry in entries] != list(range(1, len(entries) + 1)):
        made.faults.append(f"{task.id} has a gap")
    ends = [entry.sequence for entry in entries if _is_end(entry.event)]
    if ends != [len(entries)]:
        made.faults.append(f"{task.id} ends at {ends} of {len(entries)}, is {task.status.state}")
    text = task.history[0].parts[0].text or ""
    said = "".join(part.text or "" for artifact in task.artifacts for part in artifact.parts)
    expected = f"You said: {text}" if text.startswith("work") else answer_to(text)
    if task.status.state is not TaskState.COMPLETED or said != expected:
        made.faults.append(f"{task.id} is {task.status.state} and says {said!r} to {text!r}")
    if made.accepted.get(task.id, text) != text:
        made.faults.append(f"{task.id} was told as that of another request")
    made.begun_again += stored.attempt > 1


def _compare(run: Machine, made: SoakResult) -> None:
    """Whoever watched saw the log; whoever had a stream saw a piece of it without a gap."""
    for task_id, watches in made.watched.items():
        whole = [entry.sequence for entry in run.store.entries(task_id, after=0)]
        if any(watch != whole for watch in watches):
            made.faults.append(f"{task_id}'s watchers saw {[len(each) for each in watches]} of {len(whole)}")
    for task_id, streams in made.streamed.items():
        log = [
            msgspec.json.decode(event_bytes(entry.event))
            for entry in run.store.entries(task_id, after=0)
            if isinstance(entry.event, TaskStatusUpdateEvent | TaskArtifactUpdateEvent)
        ]
        for events in streams:
            if events and not any(log[start : start + len(events)] == events for start in range(len(log))):
                made.faults.append(f"{task_id}'s stream is no piece of its log")


def _is_end(event: Any) -> bool:
    return isinstance(event, TaskStatusUpdateEvent) and event.status.state.terminal


def _has_ended(event: Json) -> bool:
    update = event.get("statusUpdate")
    return bool(update and update["status"]["state"] == "TASK_STATE_COMPLETED")


def _ids(stored: list[StoredTask]) -> set[str]:
    return {each.task.id for each in stored}


def main(write: Callable[[str], object] = print) -> None:
    """Exit with 1 if anything was lost, done twice or out of order."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.task_soak")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    seed = secrets.randbelow(1_000_000) if options.seed is None else options.seed
    write(f"seed {seed}, {options.seconds:.0f} s")
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        made = soak(Path(folder), seconds=options.seconds, seed=seed)
    write(made.report())
    raise SystemExit(bool(made.faults))


if __name__ == "__main__":
    main()
