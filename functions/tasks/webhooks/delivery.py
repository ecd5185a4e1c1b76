"""How many send at once: one for each config, so many for one receiver, and so many altogether."""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from urllib.parse import urlsplit

from a2a_hub.http.client import HttpClient
from a2a_hub.runtime.threads import Threads
from a2a_hub.task_store.store import Delivery, PushConfig, Store, Unavailable
from a2a_hub.tasks.webhook_address import public_addresses, webhook_refusal
from a2a_hub.telemetry.log import Log
from functions.tasks.config import Config
from functions.tasks.webhooks.notification import Posting, Signer, told
from functions.tasks.webhooks.retry_policy import Attempts, Failure, after_failure

MOST_AT_ONCE = 64
_MOST_AT_ONE_RECEIVER = 8


class Senders:
    """Who sends in this process. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sending: set[tuple[str | None, str | None]] = set()
        self._at_receiver: Counter[str] = Counter()

    @property
    def full(self) -> bool:
        """Whether nobody more may begin."""
        return len(self._sending) >= MOST_AT_ONCE

    def begin(self, push: PushConfig) -> bool:
        """Whether somebody may send for `push`, and does from now on, until `end`."""
        key, receiver = _key(push), _receiver(push)
        with self._lock:
            if key in self._sending or self.full or self._at_receiver[receiver] >= _MOST_AT_ONE_RECEIVER:
                return False
            self._sending.add(key)
            self._at_receiver[receiver] += 1
            return True

    def end(self, push: PushConfig) -> None:
        """Nobody sends for `push` any more."""
        receiver = _receiver(push)
        with self._lock:
            self._sending.discard(_key(push))
            self._at_receiver[receiver] -= 1
            if not self._at_receiver[receiver]:
                del self._at_receiver[receiver]


def _key(push: PushConfig) -> tuple[str | None, str | None]:
    return push.config.task_id, push.config.id


def _receiver(push: PushConfig) -> str:
    return urlsplit(push.config.url).netloc


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


def deliverer(config: Config, store: Store, log: Log) -> Deliverer:
    """What delivers as the settings say, over connections of its own that lead to public addresses."""
    webhooks = config.webhooks
    key = webhooks.signing_key
    posting = Posting(
        http=HttpClient(addresses=public_addresses(webhooks.allowed_hosts)),
        refuses=webhook_refusal(webhooks.allowed_hosts),
        signer=Signer(key, issuer=config.hub.public_url, now=time.time) if key else None,
        timeout_seconds=webhooks.timeout_seconds,
        now=time.time,
    )
    return Deliverer(
        store,
        posting,
        webhooks.attempts,
        now=time.time,
        random=random.random,
        log=log,
        start=Threads("webhook").run,
    )
