"""Agents whose tasks are kept, a gate for their answers, and what is waited for."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Self, TypeVar

from tests.fakes.agent_server import ReceivedMessage
from tests.fakes.agent_wire import Json, message, task, text
from tests.fakes.task_client import WAYS, Refused, Seen, TaskClient

Found = TypeVar("Found")
PATIENCE_SECONDS = 20.0
PROGRAM_WAYS = tuple(way for way in WAYS if way != "0.3 JSONRPC")
"""The ways of programs: who speaks the other one is a user interface unless it is known as a program."""
NOT_FOUND = {"JSONRPC": -32001, "HTTP+JSON": 404}
UNSUPPORTED = {"JSONRPC": -32004, "HTTP+JSON": 400}
NOT_CANCELABLE = {"JSONRPC": -32002, "HTTP+JSON": 400}


class Gate:
    """Lets an agent's answers through when the test says so."""

    def __init__(self) -> None:
        self.asked = threading.Semaphore(0)
        self._open = threading.Event()

    def wait(self) -> None:
        self.asked.release()
        assert self._open.wait(PATIENCE_SECONDS)

    def open(self) -> None:
        self._open.set()

    def await_question(self) -> None:
        assert self.asked.acquire(timeout=PATIENCE_SECONDS)


def echo(said: ReceivedMessage) -> list[Json]:
    """An agent that says what it heard."""
    return [message(text(f"You said {said.text}"))]


def ask_back(said: ReceivedMessage) -> list[Json]:
    """An agent that has to know one thing more."""
    if said.task_id:
        return [message(text(f"Then {said.text} it is"))]
    return [task("input-required", says="Which colour?")]


class Answering:
    """What a call gives back that goes on beside the test."""

    value: Seen

    def __init__(self, call: Callable[[], Seen]) -> None:
        self._call = call

    def __enter__(self) -> Self:
        def run() -> None:
            self.value = self._call()

        self._thread = threading.Thread(target=run)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join(PATIENCE_SECONDS)
        assert not self._thread.is_alive()


def subscribed(client: TaskClient, task_id: str) -> Iterator[Seen] | None:
    """The task's events from now on; None where it is not to be subscribed to yet."""
    try:
        return client.subscribe(task_id)
    except Refused:
        return None


def has_said(client: TaskClient, task_id: str, text: str) -> bool:
    """Return True if the task's agent has said this last."""
    try:
        return client.get(task_id).said == text
    except Refused:
        return False


def waiting(client: TaskClient, task_id: str) -> Seen | None:
    """The task when it waits for its user; else None."""
    seen = client.get(task_id)
    return seen if seen.state == "input-required" else None


def ended(client: TaskClient, task_id: str) -> Seen:
    """The task once it has ended; a subscription waits for that."""
    with contextlib.suppress(Refused):
        list(client.subscribe(task_id))
    return client.get(task_id)


def until(look: Callable[[], Found | None]) -> Found:
    """Return what `look` gives once it is something."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (found := look()):
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.01)
    return found
