"""Wake-ups among the processes of one machine: posted to the subscribers' addresses as Pub/Sub would push them."""

import itertools
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from a2a_hub.http.client import HttpClient, HttpFailure, fetch
from a2a_hub.http.messages import JSON
from a2a_hub.queue.wakeups import Wakeup, Wakeups, push_body
from a2a_hub.runtime.scheduler import Scheduler

_MAX_WAITING = 10_000
_POST_SECONDS = 2.0


class LocalWakeups(Wakeups):
    """An implementation of Wakeups. A thread posts, so that publishers do not wait; rejected wake-ups are lost, and those with a
    time when this process ends.
    """

    def __init__(
        self,
        subscribers: Sequence[str],
        *,
        http: HttpClient,
        headers: Callable[[bytes], Mapping[str, str]],
        failed: Callable[[str], object],
    ) -> None:
        """`headers`, made from a body, authenticate the caller to the subscriber; `failed` gets a sentence for the log."""
        self._subscribers = tuple(subscribers)
        self._http = http
        self._headers = headers
        self._failed = failed
        self._numbers = itertools.count(1)
        self._poster = Scheduler("wakeups", max_threads=1)
        self._lock = threading.Lock()
        # Beyond the limit they are lost: a sweep finds their tasks.
        self._waiting = 0

    def publish(self, topic: str, task_id: str, *, due_at: float | None = None) -> None:
        """Wake every subscriber soon, or at `due_at`."""
        with self._lock:
            if self._waiting >= _MAX_WAITING:
                return
            self._waiting += 1
        seconds = 0.0 if due_at is None else due_at - time.time()
        self._poster.run_later(seconds, lambda: self._post_to_all(Wakeup(topic, task_id)))

    def close(self) -> None:
        """Wait until what was published before, without a time, is posted."""
        posted = threading.Event()
        self._poster.run(posted.set)
        posted.wait()

    def _post_to_all(self, wakeup: Wakeup) -> None:
        with self._lock:
            self._waiting -= 1
        for url in self._subscribers:
            self._post(url, wakeup)

    def _post(self, url: str, wakeup: Wakeup) -> None:
        body = push_body(wakeup, message_id=str(next(self._numbers)))
        headers = {"Content-Type": JSON, **self._headers(body)}
        try:
            answer, _ = fetch(self._http, "POST", url, headers=headers, body=body, seconds=_POST_SECONDS, retries=0)
            if answer.status >= 300:
                self._failed(f"a wake-up was refused with status {answer.status}")
        except HttpFailure as failure:
            self._failed(f"a wake-up was not delivered: {failure.detail}")
