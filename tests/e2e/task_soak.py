"""A soak: questions of all kinds at two hubs behind a round robin, while their processes and the agent fail (`make soak`).

Processes are killed, told to end, or stand still for longer than a lease; the agent is away for seconds. Every fifth request is
sent again as it was.
"""

import argparse
import contextlib
import http.client
import itertools
import os
import random
import secrets
import signal
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from a2a_hub.a2a.model import TaskArtifactUpdateEvent, TaskState, TaskStatusUpdateEvent
from a2a_hub.task_store.settings import StoreSettings
from a2a_hub.task_store.store import StoredTask, TaskQuery
from a2a_hub.task_store.task_log import event_bytes
from tests.e2e.long_running_agent import LongRunningAgent, answer_to
from tests.e2e.task_machine import FRONT, LEASE_SECONDS, OWNER, Json, Machine, machine, message, text_of, ui_message
from tests.fakes import emulators
from tests.fakes.tcp_proxy import TcpProxy

HUBS, WORKERS, CLIENTS = 2, 4, 6
_KINDS = ("agent", "mirror", "work", "stream", "person", "person streaming")
_PEOPLE = ("person", "person streaming")
_REPEATED = 5
_AGENT_SECONDS = 0.4
_FAULT_EVERY_SECONDS = (0.5, 1.5)
_PAUSE_SECONDS = LEASE_SECONDS * 1.5
_AWAY_EVERY_SECONDS = (5.0, 20.0)
_ASK_SECONDS = 60.0
# As long as a route tries an agent again (`retry_seconds`).
_END_SECONDS = 600.0
_BUSY = (OSError, http.client.HTTPException, KeyError)


@dataclass(kw_only=True)
class SoakResult:
    """The outcome of a soak. `accepted` are the tasks that a client was told of, by what they were to be about.

    `answered` are the requests of people that were answered rightly, by their message ids, each with the answers of all repeats.
    """

    seed: int
    requests: int = 0
    accepted: dict[str, str] = field(default_factory=dict)
    answered: dict[str, list[str]] = field(default_factory=dict)
    disruptions: Counter[str] = field(default_factory=Counter)
    away_seconds: list[float] = field(default_factory=list)
    watched: dict[str, list[list[int]]] = field(default_factory=dict)
    subscribed: dict[str, list[list[Json]]] = field(default_factory=dict)
    streamed: dict[str, list[Json]] = field(default_factory=dict)
    stored: list[StoredTask] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    repeats: int = 0
    told: Counter[str] = field(default_factory=Counter)
    broken_streams: int = 0
    superseded_streams: int = 0
    begun_again: int = 0
    asked_again: int = 0
    seconds: float = 0.0

    def report(self) -> str:
        """The numbers, in a few lines."""
        disruptions = ", ".join(f"{name} {count}" for name, count in sorted(self.disruptions.items()))
        watchers, subscribers = (sum(map(len, kind.values())) for kind in (self.watched, self.subscribed))
        lines = [
            (
                f"seed {self.seed}: {self.requests} requests, {self.repeats} of them repeats; {len(self.stored)} tasks, "
                f"{len(self.accepted)} of them told to a client, {len(self.answered)} answers to people"
            ),
            (
                f"{sum(self.disruptions.values())} disruptions ({disruptions}) in {self.seconds:.1f} s; "
                f"the agent was away {len(self.away_seconds)} times, for up to {max(self.away_seconds, default=0):.0f} s"
            ),
            f"{self.begun_again} tasks run again, {self.asked_again} messages sent to the agent again",
            f"{self.told.total()} times a person was told that it does not work now",
            (
                f"{watchers} watchers, {subscribers} subscribers and {len(self.streamed)} streams compared with the log; "
                f"{self.broken_streams} streams broke off, {self.superseded_streams} showed a run that lost its task"
            ),
            f"faults: {len(self.faults)}",
            *self.faults[:20],
        ]
        return "\n".join(lines)


def soak(
    folder: Path, *, seconds: float, seed: int, away_seconds: tuple[float, float], store: StoreSettings | None = None
) -> SoakResult:
    """Send requests for so long, and return everything that went wrong in `faults`. The agent is away for `away_seconds`."""
    made, started = SoakResult(seed=seed), time.monotonic()
    with (
        LongRunningAgent(seconds=_AGENT_SECONDS) as agent,
        TcpProxy(agent.url.removeprefix("http://")) as line,
        machine(folder, f"http://{line.address}", hubs=HUBS, workers=WORKERS, store=store) as run,
    ):
        ended = threading.Event()
        disruptors = [
            threading.Thread(target=_disrupt, args=(run, made, random.Random(seed), ended)),
            threading.Thread(target=_take_away, args=(line, made, random.Random(seed + 1), ended, away_seconds)),
        ]
        for disruptor in disruptors:
            disruptor.start()
        numbers, until = itertools.count(), time.monotonic() + seconds

        def send() -> None:
            while time.monotonic() < until:
                _ask(run, made, next(numbers), seed)

        with ThreadPoolExecutor(CLIENTS) as clients:
            for client in [clients.submit(send) for _ in range(CLIENTS)]:
                client.result()
        ended.set()
        for disruptor in disruptors:
            disruptor.join()
        made.stored = _all_ended(run)
        for name in tuple(run.programs):
            # What looks for work would slow down whoever reads the store.
            run.kill(name)
        for stored in made.stored:
            _examine(run, made, stored)
        _compare(run, made)
        made.asked_again = sum(agent.asked.values()) - len(agent.asked)
    made.faults += [f"{task_id} is lost" for task_id in set(made.accepted) - _ids(made.stored)]
    made.faults += _doubled(made)
    made.seconds = time.monotonic() - started
    return made


def _ask(run: Machine, made: SoakResult, number: int, seed: int) -> None:
    """One client's request: sent again, as it was, until somebody says that it is a task, or answers it."""
    chance = random.Random(f"{seed}.{number}")
    kind = _KINDS[number % len(_KINDS)]
    route = "agent" if kind == "stream" or kind in _PEOPLE else kind
    text, message_id = f"{route} number {number}", f"{seed}-{number}"
    repeats = number // len(_KINDS) % _REPEATED == 0
    deadline = time.monotonic() + _ASK_SECONDS + max(made.away_seconds, default=0)
    while time.monotonic() < deadline:
        made.requests += 1
        if kind in _PEOPLE:
            if _person(run, made, kind, text, message_id):
                if repeats:
                    made.repeats += 1
                    _person(run, made, kind, text, message_id)
                return
        elif kind == "stream":
            if _stream(run, made, text, message_id):
                return
        else:
            with contextlib.suppress(*_BUSY):
                asked = message(text, message_id, at_once=True)
                ids = {run.call(FRONT, "SendMessage", asked)["task"]["id"]}
                if repeats:
                    # Under way still, or a question of its own.
                    made.repeats += 1
                    with contextlib.suppress(*_BUSY):
                        ids.add(run.call(FRONT, "SendMessage", asked)["task"]["id"])
                made.accepted |= dict.fromkeys(ids, text)
                if number % 5 == 0:
                    _watch(run, made, ids.pop())
                return
        time.sleep(0.1 + chance.random() / 5)
    # A person is told each time why there is no answer.
    if kind not in _PEOPLE or text not in made.told:
        made.faults.append(f"nobody answered {text!r}")


def _stream(run: Machine, made: SoakResult, text: str, message_id: str) -> bool:
    events = list(run.events(FRONT, "SendStreamingMessage", message(text, message_id)))
    if not events or "task" not in events[0]:
        return False
    task_id = events[0]["task"]["id"]
    made.accepted[task_id] = text
    if _has_ended(events[-1]):
        made.streamed[task_id] = events[1:]
    else:
        # The last of what a killed hub has said may be in no log: a stream waits for no store before its end.
        made.broken_streams += 1
    return True


def _person(run: Machine, made: SoakResult, kind: str, text: str, message_id: str) -> bool:
    """Ask as a user interface does; True if the answer is the agent's."""
    asked = ui_message(text, message_id)
    answer = ""
    if kind == "person":
        with contextlib.suppress(*_BUSY):
            answer = text_of(run.call(FRONT, "message/send", asked))
    else:
        for event in run.events(FRONT, "message/stream", asked):
            if event["kind"] == "artifact-update":
                answer += "".join(part["text"] for part in event["artifact"]["parts"])
    if answer != answer_to(text):
        if answer:
            made.told[text] += 1
        return False
    made.answered.setdefault(message_id, []).append(answer)
    return True


def _watch(run: Machine, made: SoakResult, task_id: str) -> None:
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
        with contextlib.suppress(KeyError):
            return list(run.events(FRONT, "SubscribeToTask", {"id": task_id}))[1:]
        return []

    with ThreadPoolExecutor(3) as watchers:
        watches = [watchers.submit(watch) for _ in range(2)]
        subscription = watchers.submit(subscribe)
        made.watched[task_id] = [each.result() for each in watches]
        made.subscribed[task_id] = [subscription.result()]


def _disrupt(run: Machine, made: SoakResult, chance: random.Random, ended: threading.Event) -> None:
    """Kill a process, tell it to end, or let it stand still for longer than a lease."""
    names = sorted(run.programs)
    while not ended.wait(chance.uniform(*_FAULT_EVERY_SECONDS)):
        name, how = chance.choice(names), chance.choice(("killed", "told to end", "stood still"))
        made.disruptions[f"{name.partition('-')[0]} {how}"] += 1
        if how == "stood still":
            run.signal(name, signal.SIGSTOP)
            ended.wait(_PAUSE_SECONDS)
            run.signal(name, signal.SIGCONT)
            continue
        if how == "killed":
            run.kill(name)
        else:
            run.terminate(name)
        run.start(name)


def _take_away(
    line: TcpProxy, made: SoakResult, chance: random.Random, ended: threading.Event, seconds: tuple[float, float]
) -> None:
    """Take the agent away again and again, for a time within `seconds`."""
    while not ended.wait(chance.uniform(*_AWAY_EVERY_SECONDS)):
        made.away_seconds.append(chance.uniform(*seconds))
        line.cut()
        ended.wait(made.away_seconds[-1])
        line.mend()


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
    text, said = _asked(stored), _said(stored)
    expected = f"You said: {text}" if text.startswith("work") else answer_to(text)
    # A person was told at once that the agent is away.
    of_person = task.id not in made.accepted
    if not of_person and (task.status.state is not TaskState.COMPLETED or said != expected):
        reason = task.status.message.parts if task.status.message else ""
        seconds = stored.updated_at - stored.created_at
        made.faults.append(
            f"{task.id} is {task.status.state} after {seconds:.0f} s and says {said!r} to {text!r}: {reason}"
        )
    if made.accepted.get(task.id, text) != text:
        made.faults.append(f"{task.id} was told as that of another request")
    made.begun_again += stored.attempt > 1


def _doubled(made: SoakResult) -> list[str]:
    """Return what was done twice: a person's request, however often it is sent, is one piece of work.

    A failed task is none, though its agent may have said everything before the line broke.
    """
    done = defaultdict[str, list[str]](list)
    for stored in made.stored:
        if stored.task.status.state is TaskState.COMPLETED and _said(stored) == answer_to(_asked(stored)):
            done[stored.task.history[0].message_id].append(stored.task.id)
    return [f"{id_} was done twice: {done[id_]}" for id_ in made.answered if len(done[id_]) > 1]


def _asked(stored: StoredTask) -> str:
    return stored.task.history[0].parts[0].text or ""


def _said(stored: StoredTask) -> str:
    return "".join(part.text or "" for artifact in stored.task.artifacts for part in artifact.parts)


def _compare(run: Machine, made: SoakResult) -> None:
    """Whoever watched saw the log; whoever had a stream saw a piece of it without a gap."""
    for task_id, watches in made.watched.items():
        whole = [entry.sequence for entry in run.store.entries(task_id, after=0)]
        if any(watch != whole for watch in watches):
            made.faults.append(f"{task_id}'s watchers saw {[len(each) for each in watches]} of {len(whole)}")
    run_again = {stored.task.id for stored in made.stored if stored.attempt > 1}
    for task_id, subscriptions in made.subscribed.items():
        for events in subscriptions:
            _compare_events(run, made, task_id, events)
    for task_id, events in made.streamed.items():
        if task_id in run_again:
            # What a hub has shown of its run before it stood still for longer than the lease cannot be taken back.
            made.superseded_streams += 1
        else:
            _compare_events(run, made, task_id, events)


def _compare_events(run: Machine, made: SoakResult, task_id: str, events: list[Json]) -> None:
    log = [
        msgspec.json.decode(event_bytes(entry.event))
        for entry in run.store.entries(task_id, after=0)
        if isinstance(entry.event, TaskStatusUpdateEvent | TaskArtifactUpdateEvent)
    ]
    if events and events[-1] not in log and not _has_ended(events[-1]):
        # A hub that was told to end says goodbye with the state as it was.
        events = events[:-1]
    if events and not any(log[start : start + len(events)] == events for start in range(len(log))):
        made.faults.append(
            f"{task_id}'s stream is no piece of its log: {[event for event in events if event not in log]}"
        )


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
    parser.add_argument("--store", choices=("sqlite", "firestore"), default="sqlite", help="(sqlite)")
    parser.add_argument("--away", type=float, nargs=2, default=(3.0, 60.0), metavar="SECONDS", help="(3 60)")
    options = parser.parse_args()
    seed = secrets.randbelow(1_000_000) if options.seed is None else options.seed
    write(f"seed {seed}, {options.seconds:.0f} s, {options.store}")
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="soak-")))
        store = None
        if options.store == "firestore":
            os.environ["FIRESTORE_EMULATOR_HOST"] = stack.enter_context(emulators.firestore())
            store = StoreSettings(project=emulators.PROJECT, database="(default)")
        made = soak(
            folder, seconds=options.seconds, seed=seed, away_seconds=(options.away[0], options.away[1]), store=store
        )
    write(made.report())
    raise SystemExit(bool(made.faults))


if __name__ == "__main__":
    main()
