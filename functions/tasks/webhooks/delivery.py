"""Deliver push notifications (A2A 1.0.1 §4.3): each config from its task's log, in order, each entry at least once."""

import functools
import random
import threading
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from msgspec import Struct, field

from a2a_hub.http.client import HttpClient
from a2a_hub.http.messages import CancellationGroup
from a2a_hub.queue.wakeups import WEBHOOKS_TOPIC, Wakeups
from a2a_hub.runtime.threads import Threads
from a2a_hub.task_store.store import Delivery, Store, Unavailable
from a2a_hub.telemetry import tracing
from a2a_hub.telemetry.log import Log
from functions.tasks.config import Config
from functions.tasks.slots import Slot, Slots
from functions.tasks.webhooks.notification import (
    Failure,
    NotificationSender,
    RetryLimits,
    Signer,
    after_failure,
    notifications,
)

_MAX_AT_ONCE = 64
_MAX_AT_ONE_RECEIVER = 8
_MAX_READ = 64 * _MAX_AT_ONCE
_MAX_IN_A_ROW = 200
# A sender ends before the request in which it works has to.
_LONGEST_SECONDS = 300.0
_CLAIM_TIMEOUTS = 3
_LOOK_SECONDS = 0.02


class Deliverer(Struct, frozen=True):
    """The delivery of push notifications, with one sender per config: a slow receiver delays only its own entries.

    `now` is the store's clock; `random` returns numbers from 0 to 1; `threads` run the senders. `wakeups` say when to call
    `deliver_due` again.
    """

    store: Store
    sender: NotificationSender
    limits: RetryLimits
    now: Callable[[], float]
    random: Callable[[], float]
    log: Log
    threads: Threads
    wakeups: Wakeups
    _slots: Slots = field(default_factory=lambda: Slots(_MAX_AT_ONCE, _MAX_AT_ONE_RECEIVER))
    _attempts: CancellationGroup = field(default_factory=CancellationGroup)

    @property
    def stopped(self) -> bool:
        """True once the process ends: what is due is another instance's."""
        return self._attempts.cancelled

    def stop(self, *, seconds: float = 3.0) -> None:
        """Break the attempts off, and end their claims within `seconds`: another instance makes them again."""
        self._attempts.cancel()
        deadline = time.monotonic() + seconds
        while self._slots.used and time.monotonic() < deadline:
            time.sleep(_LOOK_SECONDS)

    def deliver_due(self, *, waits: bool = False) -> int:
        """Start a sender for each due config; return how many were started, or if it `waits`, how many have ended."""
        ends, limit = list[threading.Event](), _MAX_AT_ONCE
        while not self.stopped:
            due = self.store.due_deliveries(limit=limit)
            for delivery in due:
                config = delivery.push.config
                slot = self._slots.acquire((config.task_id, config.id), urlsplit(config.url).netloc)
                if slot is not None:
                    ends.append(threading.Event())
                    self.threads.run(functools.partial(self._send, delivery, slot, ends[-1]))
            # The first ones may all belong to receivers that have all the senders they get.
            if len(due) < limit or limit >= _MAX_READ or self._slots.full:
                break
            limit *= 4
        if waits:
            for end in ends:
                end.wait()
        return len(ends)

    def _send(self, delivery: Delivery, slot: Slot, end: threading.Event) -> None:
        try:
            self._send_all(delivery)
        except Unavailable:
            self.log.line("WARNING", "The store could not be reached; a notification will be sent again")
        except Exception:
            self.log.exception("A notification failed; it will be tried again", {})
        finally:
            self._slots.release(slot)
            # An entry may have come after the sender had looked, or a receiver may have a sender free now.
            if self._slots.has_refused() and not self.stopped:
                self.wakeups.publish(WEBHOOKS_TOPIC, delivery.push.config.task_id or "")
            end.set()

    def _send_all(self, delivery: Delivery) -> None:
        """Send entry by entry, each under a claim of its own, until one fails or none is left."""
        claimed_seconds = self.sender.timeout_seconds * _CLAIM_TIMEOUTS
        began = self.now()
        due = notifications(self.store, delivery.push, after=delivery.delivered)
        for number, notification in enumerate(due, 1):
            if not self.store.claim_delivery(delivery, seconds=claimed_seconds):
                return
            with self._attempts.call() as attempt:
                failure = None if notification.body is None else self.sender.send(delivery.push, notification, attempt)
                if failure is not None and attempt.cancelled:
                    self.store.save_delivery(delivery)
                    return
            if failure is not None:
                self._save_failure(delivery, failure)
                return
            delivery = Delivery(push=delivery.push, delivered=notification.sequence)
            self.store.save_delivery(delivery)
            if number >= _MAX_IN_A_ROW or self.now() - began > _LONGEST_SECONDS:
                self.wakeups.publish(WEBHOOKS_TOPIC, delivery.push.config.task_id or "")
                return

    def _save_failure(self, delivery: Delivery, failure: Failure) -> None:
        failed = after_failure(delivery, failure, limits=self.limits, now=self.now(), random=self.random)
        self.store.save_delivery(failed)
        config = failed.push.config
        about = {"taskId": config.task_id, "configId": config.id, "failures": failed.failures}
        if failed.dead:
            tracing.add("a2a_hub.work.abandoned", 1, kind="notification")
            self.log.line("ERROR", "A push notification config was given up", **about, cause=failed.dead)
        else:
            self.wakeups.publish(WEBHOOKS_TOPIC, config.task_id or "", due_at=failed.next_attempt_at)
            pause = round(failed.next_attempt_at - self.now(), 1)
            self.log.line("INFO", "A push notification failed", **about, cause=failure.reason, againInSeconds=pause)


def deliverer(config: Config, store: Store, log: Log, wakeups: Wakeups) -> Deliverer:
    """Wire the deliverer; its connections lead to public addresses only."""
    webhooks = config.webhooks
    key = webhooks.signing_key
    sender = NotificationSender(
        http=HttpClient(addresses=webhooks.addresses.resolve),
        addresses=webhooks.addresses,
        signer=Signer(key, issuer=config.hub.public_url, now=time.time) if key else None,
        timeout_seconds=webhooks.timeout_seconds,
        now=time.time,
    )
    return Deliverer(
        store,
        sender,
        webhooks.retry_limits,
        now=time.time,
        random=random.random,
        log=log,
        threads=Threads("webhook"),
        wakeups=wakeups,
    )
