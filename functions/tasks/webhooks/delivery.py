"""Delivers push notifications (A2A 1.0.1 §4.3): each config from its task's log, in order, each entry at least once."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable
from typing import Protocol
from urllib.parse import urlsplit

from functions.tasks.webhooks.attempts import Attempts, Failure, Prospect, after_failure, of_answer, of_fault
from functions.tasks.webhooks.notification import Told, headers, told
from functions.tasks.webhooks.signing import Signer
from shared.http.client import Budget, HttpClient, HttpFailure
from shared.log import Log
from shared.task_store.push import Delivery, PushConfig, PushStore
from shared.task_store.store import TaskStore, Unavailable

_MOST_AT_ONCE = 64
_MOST_LOOKED_AT = 64 * _MOST_AT_ONCE
_MOST_AT_ONE_RECEIVER = 8
_MOST_IN_A_ROW = 200
_MOST_ANSWER_BYTES = 64_000
_CLAIM_TIMEOUTS = 3


class DeliveryStore(TaskStore, PushStore, Protocol):
    """A store of tasks that keeps their configs too."""


class Deliverer:
    """`look` finds what is due and sends it, one sender for each config: a receiver that is slow holds up its own entries only.

    `refuses` says of a URL why it may not be notified now; `now` is the store's clock, `random` gives numbers from 0 to 1,
    `start` runs a sender beside the others.
    """

    def __init__(
        self,
        store: DeliveryStore,
        *,
        http: HttpClient,
        refuses: Callable[[str], str | None],
        signer: Signer | None,
        attempts: Attempts,
        timeout_seconds: float,
        now: Callable[[], float],
        random: Callable[[], float],
        log: Log,
        start: Callable[[Callable[[], None]], object],
    ) -> None:
        self._store = store
        self._http = http
        self._refuses = refuses
        self._signer = signer
        self._attempts = attempts
        self._timeout_seconds = timeout_seconds
        self._now = now
        self._random = random
        self._log = log
        self._start = start
        self._lock = threading.Lock()
        self._sending: set[tuple[str | None, str | None]] = set()
        self._at_receiver: Counter[str] = Counter()

    def look(self) -> int:
        """Starts to send what is due; to how many configs."""
        started, limit = 0, _MOST_AT_ONCE
        while True:
            due = self._store.due_deliveries(limit=limit)
            for delivery in due:
                if self._begin(delivery.push):
                    self._start(self._sender(delivery))
                    started += 1
            # Those that are due first may all be of receivers that have all the senders they get.
            if len(due) < limit or limit >= _MOST_LOOKED_AT or len(self._sending) >= _MOST_AT_ONCE:
                return started
            limit *= 4

    def _begin(self, push: PushConfig) -> bool:
        key, receiver = (push.config.task_id, push.config.id), urlsplit(push.config.url).netloc
        with self._lock:
            if (
                key in self._sending
                or len(self._sending) >= _MOST_AT_ONCE
                or self._at_receiver[receiver] >= _MOST_AT_ONE_RECEIVER
            ):
                return False
            self._sending.add(key)
            self._at_receiver[receiver] += 1
            return True

    def _end(self, push: PushConfig) -> None:
        receiver = urlsplit(push.config.url).netloc
        with self._lock:
            self._sending.discard((push.config.task_id, push.config.id))
            self._at_receiver[receiver] -= 1
            if not self._at_receiver[receiver]:
                del self._at_receiver[receiver]

    def _sender(self, delivery: Delivery) -> Callable[[], None]:
        def send() -> None:
            try:
                self._send_all(delivery)
            except Unavailable:
                self._log.line("WARNING", "The store could not be reached; a notification will be sent again")
            except Exception:
                self._log.exception("A notification failed; it will be tried again", {})
            finally:
                self._end(delivery.push)

        return send

    def _send_all(self, delivery: Delivery) -> None:
        """Sends entry by entry, each under a claim of its own, until one fails or nothing is left."""
        entries = told(self._store, delivery.push, after=delivery.delivered)
        for each in itertools.islice(entries, _MOST_IN_A_ROW):
            if not self._store.claim_delivery(delivery, seconds=self._timeout_seconds * _CLAIM_TIMEOUTS):
                return
            failure = self._send(delivery.push, each) if each.body is not None else None
            if failure is not None:
                self._save_failure(delivery, failure)
                return
            delivery = Delivery(push=delivery.push, delivered=each.sequence)
            self._store.save_delivery(delivery)

    def _send(self, push: PushConfig, each: Told) -> Failure | None:
        reason = self._refuses(push.config.url)
        if reason is not None:
            return Failure(reason=f"the URL {reason}", prospect=Prospect.POOR)
        budget = Budget(
            deadline=self._http.clock() + self._timeout_seconds,
            connect_seconds=self._timeout_seconds / 2,
            idle_seconds=self._timeout_seconds,
            max_bytes=_MOST_ANSWER_BYTES,
        )
        said = headers(push, each, signer=self._signer)
        try:
            answer = self._http.request("POST", push.config.url, headers=said, body=each.body, budget=budget)
        except HttpFailure as failure:
            return of_fault(failure)
        # The status decides. What else the receiver says is read only so that the connection can be used again.
        failed = of_answer(answer.status, answer.headers.get("retry-after"), now=self._now())
        answer.finish(within_seconds=self._timeout_seconds / 10)
        return failed

    def _save_failure(self, delivery: Delivery, failure: Failure) -> None:
        failed = after_failure(
            delivery, failure, attempts=self._attempts, now=self._now(), random=self._random
        )
        self._store.save_delivery(failed)
        config = failed.push.config
        about = {"taskId": config.task_id, "configId": config.id, "failures": failed.failures}
        if failed.dead:
            self._log.line("ERROR", "A push notification config was given up", **about, cause=failed.dead)
        else:
            pause = round(failed.next_attempt_at - self._now(), 1)
            self._log.line(
                "INFO", "A push notification failed", **about, cause=failure.reason, againInSeconds=pause
            )
