"""A machine without a further thread: work waits or is refused meanwhile, and is done again afterwards."""

import asyncio
import math
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from a2a_hub.http.admission import Overloaded
from a2a_hub.http.dialing import Resolver
from a2a_hub.http.forwarded_body import ReadinessWatcher
from a2a_hub.http.worker_threads import WorkerThreads
from a2a_hub.runtime.scheduler import Scheduler
from a2a_hub.runtime.shared_fetch import Fetched, SharedFetch

_LONG_SECONDS = 30.0
_NO_MACHINE_HAS = 1 << 46


@contextmanager
def _no_further_thread() -> Iterator[None]:
    before = threading.stack_size(_NO_MACHINE_HAS)
    try:
        yield
    finally:
        threading.stack_size(before)


def test_scheduled_work_waits_for_a_thread() -> None:
    scheduler, done = Scheduler("test", max_threads=1), [threading.Event() for _ in range(3)]
    with _no_further_thread():
        scheduler.run(done[0].set)
        scheduler.run_later(0.01, done[1].set)
    scheduler.run_later(0.01, done[2].set)
    assert all(each.wait(_LONG_SECONDS) for each in done)


def test_a_request_that_no_thread_can_take_is_refused_and_the_next_one_is_served() -> None:
    async def main() -> None:
        threads = WorkerThreads(1)
        with _no_further_thread(), pytest.raises(Overloaded):
            await threads.run(lambda: "first")
        assert await asyncio.wait_for(threads.run(lambda: "second"), _LONG_SECONDS) == "second"

    asyncio.run(main())


def test_a_value_that_could_not_be_fetched_is_fetched_for_the_next_caller() -> None:
    shared = SharedFetch[str](lambda key: Fetched(key, math.inf, math.inf), clock=lambda: 0.0, name="test")
    with _no_further_thread(), pytest.raises(RuntimeError):
        shared.value("token")
    assert shared.value("token") == "token"


def test_a_name_that_could_not_be_resolved_is_resolved_for_the_next_caller() -> None:
    resolver = Resolver(lambda *_: ("192.0.2.1",))
    with _no_further_thread(), pytest.raises(RuntimeError):
        resolver.resolve("agent.example", 443, seconds=_LONG_SECONDS)
    assert resolver.resolve("agent.example", 443, seconds=_LONG_SECONDS) == ("192.0.2.1",)


def test_a_connection_that_could_not_be_watched_leaves_the_others_watched() -> None:
    watcher, woken = ReadinessWatcher(), threading.Event()
    reader, writer = os.pipe()
    os.write(writer, b"x")
    try:
        with _no_further_thread(), pytest.raises(RuntimeError):
            watcher.watch(reader, woken.set)
        watcher.watch(reader, woken.set)
        assert woken.wait(_LONG_SECONDS)
    finally:
        os.close(reader)
        os.close(writer)
