"""Wake-ups among the processes of one machine: posted to the subscribers' addresses as Pub/Sub would push them."""

import itertools
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from a2a_hub.http.client import Budget, HttpClient, HttpFailure
from a2a_hub.queue.wakeups import Wakeup, push_body

_MOST_WAITING = 10_000
_POST_SECONDS = 2.0
_MOST_ANSWER_BYTES = 64_000


class LocalWakeups:
    """An implementation of Wakeups. A thread posts, so that publishers do not wait; rejected wake-ups are lost."""

    def __init__(
        self,
        subscribers: Sequence[str],
        *,
        http: HttpClient,
        headers: Callable[[], Mapping[str, str]],
        failed: Callable[[str], object],
    ) -> None:
        """`headers` authenticate the caller to the subscriber; `failed` gets a sentence for the log."""
        self._subscribers = tuple(subscribers)
        self._http = http
        self._headers = headers
        self._failed = failed
        self._numbers = itertools.count(1)
        # The oldest are dropped first: a sweep finds their tasks.
        self._waiting: deque[Wakeup] = deque(maxlen=_MOST_WAITING)
        self._state = threading.Condition()
        self._poster: threading.Thread | None = None
        self._closed = False

    def publish(self, topic: str, task_id: str) -> None:
        """Wake every subscriber soon."""
        with self._state:
            self._waiting.append(Wakeup(topic, task_id))
            if self._poster is None or not self._poster.is_alive():
                self._poster = threading.Thread(target=self._post_all, name="wakeups", daemon=True)
                self._poster.start()
            self._state.notify_all()

    def close(self) -> None:
        """Post what was published before, then stop."""
        with self._state:
            self._closed = True
            self._state.notify_all()
        if self._poster:
            self._poster.join()

    def _post_all(self) -> None:
        while True:
            with self._state:
                self._state.wait_for(lambda: self._waiting or self._closed)
                if not self._waiting:
                    return
                wakeup = self._waiting.popleft()
            for url in self._subscribers:
                self._post(url, wakeup)

    def _post(self, url: str, wakeup: Wakeup) -> None:
        budget = Budget(
            deadline=self._http.clock() + _POST_SECONDS,
            connect_seconds=_POST_SECONDS,
            idle_seconds=_POST_SECONDS,
            max_bytes=_MOST_ANSWER_BYTES,
        )
        headers = {"Content-Type": "application/json", **self._headers()}
        body = push_body(wakeup, message_id=str(next(self._numbers)))
        try:
            answer = self._http.request("POST", url, headers=headers, body=body, budget=budget)
            for _ in answer.chunks():
                pass
            if answer.status >= 300:
                self._failed(f"a wake-up was refused with status {answer.status}")
        except HttpFailure as failure:
            self._failed(f"a wake-up was not delivered: {failure.detail}")
