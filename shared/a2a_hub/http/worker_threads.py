"""A bounded pool of threads for an event loop."""

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

from a2a_hub.http.admission import Overloaded

T = TypeVar("T")
# A piece of work and its result; empty once somebody has taken it.
_Job = list[tuple[Callable[[], Any], "asyncio.Future[Any]"]]


class WorkerThreads:
    """At most `max_threads` threads that work for one event loop. Further work is queued without a thread.

    A free thread takes the next piece of work by itself; only its result goes through the loop.
    """

    def __init__(self, max_threads: int) -> None:
        self._max_threads = max_threads
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._threads = 0
        self._unfinished = 0

    def run(self, work: Callable[[], T], *, max_wait_seconds: float | None = None) -> "asyncio.Future[T]":
        """Return the future result of `work`, or Overloaded if no thread took it in time; called on the event loop."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        job: _Job = [(work, future)]
        self._unfinished += 1
        self._jobs.put(job)
        if self._unfinished > self._threads and not self._adds_thread(loop):
            if not self._threads:
                self._give_up(job)
            elif max_wait_seconds is not None:
                loop.call_later(max_wait_seconds, self._give_up, job)
        return future

    def _adds_thread(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Start a thread; return False if there are enough, or if the machine has no further one."""
        if self._threads == self._max_threads:
            return False
        try:
            threading.Thread(target=self._serve, args=(loop,), name="request", daemon=True).start()
        except RuntimeError:
            return False
        self._threads += 1
        return True

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        while True:
            job = self._jobs.get()
            try:
                work, future = job.pop()
            except IndexError:
                continue
            try:
                result, error = work(), None
            except BaseException as raised:
                result, error = None, raised
            loop.call_soon_threadsafe(self._finish, future, result, error)
            # Otherwise this thread would keep them until its next piece of work.
            del work, future, result, error

    def _give_up(self, job: _Job) -> None:
        try:
            _, future = job.pop()
        except IndexError:
            # A thread has taken it.
            return
        self._finish(future, None, Overloaded())

    def _finish(self, future: "asyncio.Future[Any]", result: object, error: BaseException | None) -> None:
        self._unfinished -= 1
        if future.cancelled():
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
