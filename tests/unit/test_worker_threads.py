"""Threads for an event loop: so many and no more, results and failures, and a line that does not last for ever."""

import asyncio
import threading

import pytest

from a2a_hub.http.admission import Overloaded
from a2a_hub.http.worker_threads import WorkerThreads


def test_results_and_failures_come_back_to_the_loop() -> None:
    def fail() -> None:
        raise KeyError("x")

    async def main() -> None:
        threads = WorkerThreads(2)
        assert await threads.run(lambda: threading.current_thread() is not threading.main_thread())
        with pytest.raises(KeyError):
            await threads.run(fail)

    asyncio.run(main())


def test_no_more_work_runs_at_once_than_there_are_threads() -> None:
    running, most = [0], [0]
    lock, go_on = threading.Lock(), threading.Event()

    def work() -> None:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        assert go_on.wait(30)
        with lock:
            running[0] -= 1

    async def main() -> None:
        threads = WorkerThreads(3)
        futures = [threads.run(work) for _ in range(10)]
        go_on.set()
        await asyncio.gather(*futures)

    asyncio.run(main())
    assert most[0] <= 3


def test_work_that_no_thread_takes_in_time_is_given_up_and_what_comes_later_is_done() -> None:
    go_on, done = threading.Event(), []

    async def main() -> None:
        threads = WorkerThreads(1)
        first = threads.run(lambda: go_on.wait(30))
        with pytest.raises(Overloaded):
            await threads.run(lambda: done.append("late"), max_wait_seconds=0.0)
        go_on.set()
        assert await first
        await threads.run(lambda: done.append("later"), max_wait_seconds=30.0)

    asyncio.run(main())
    assert done == ["later"]
