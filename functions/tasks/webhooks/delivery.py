"""Delivers push notifications (A2A 1.0.1 §4.3): each config from its task's log, in order, each entry at least once."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from a2a_hub.task_store.factory import Store
from a2a_hub.task_store.push import Delivery
from a2a_hub.task_store.store import Unavailable
from a2a_hub.telemetry.log import Log
from functions.tasks.webhooks.attempts import Attempts, Failure, after_failure
from functions.tasks.webhooks.notification import told
from functions.tasks.webhooks.posting import Posting
from functions.tasks.webhooks.senders import MOST_AT_ONCE, Senders

_MOST_LOOKED_AT = 64 * MOST_AT_ONCE
_MOST_IN_A_ROW = 200
_CLAIM_TIMEOUTS = 3


class Deliverer:
    """`look` finds what is due and sends it, one sender for each config: a receiver that is slow holds up its own entries only.

    `now` is the store's clock, `random` gives numbers from 0 to 1, `start` runs a sender beside the others.
    """

    def __init__(
        self,
        store: Store,
        posting: Posting,
        attempts: Attempts,
        *,
        now: Callable[[], float],
        random: Callable[[], float],
        log: Log,
        start: Callable[[Callable[[], None]], object],
    ) -> None:
        self._store = store
        self._posting = posting
        self._attempts = attempts
        self._now = now
        self._random = random
        self._log = log
        self._start = start
        self._senders = Senders()

    def look(self) -> int:
        """Starts sending what is due. Returns to how many configs."""
        started, limit = 0, MOST_AT_ONCE
        while True:
            due = self._store.due_deliveries(limit=limit)
            for delivery in due:
                if self._senders.begin(delivery.push):
                    self._start(self._sender(delivery))
                    started += 1
            # Those that are due first may all be of receivers that have all the senders they get.
            if len(due) < limit or limit >= _MOST_LOOKED_AT or self._senders.full:
                return started
            limit *= 4

    def _sender(self, delivery: Delivery) -> Callable[[], None]:
        def send() -> None:
            try:
                self._send_all(delivery)
            except Unavailable:
                self._log.line("WARNING", "The store could not be reached; a notification will be sent again")
            except Exception:
                self._log.exception("A notification failed; it will be tried again", {})
            finally:
                self._senders.end(delivery.push)

        return send

    def _send_all(self, delivery: Delivery) -> None:
        """Sends entry by entry, each under a claim of its own, until one fails or nothing is left."""
        claimed_seconds = self._posting.timeout_seconds * _CLAIM_TIMEOUTS
        entries = told(self._store, delivery.push, after=delivery.delivered)
        for each in itertools.islice(entries, _MOST_IN_A_ROW):
            if not self._store.claim_delivery(delivery, seconds=claimed_seconds):
                return
            failure = self._posting.post(delivery.push, each) if each.body is not None else None
            if failure is not None:
                self._save_failure(delivery, failure)
                return
            delivery = Delivery(push=delivery.push, delivered=each.sequence)
            self._store.save_delivery(delivery)

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
