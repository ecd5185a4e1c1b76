"""A deliverer of push notifications over a store, with a clock and chance of the test's own."""

import json
from collections.abc import Callable
from typing import Any

from a2a_hub.a2a.model import TaskPushNotificationConfig, TaskState, Version
from a2a_hub.http.client import HttpClient
from a2a_hub.queue.wakeups import NoWakeups
from a2a_hub.runtime.ids import new_id
from a2a_hub.runtime.threads import Threads
from a2a_hub.task_store.store import Delivery, PushConfig
from a2a_hub.tasks.webhook_address import WebhookAddresses
from a2a_hub.telemetry.log import Log
from functions.tasks.webhooks.delivery import Deliverer
from functions.tasks.webhooks.notification import NotificationSender, RetryLimits, Signer
from tests.contract.task_store.stores import Clock, Store, chunk, created, status


class _Inline(Threads):
    """Runs each piece of work before `run` returns."""

    def run(self, work: Callable[[], object]) -> None:
        work()


class DelivererBench:
    """`jitter` is what chance says."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self.clock = clock
        self.store = store
        self.jitter = 1.0
        self.log_lines: list[bytes] = []
        self.threads = Threads("webhook")

    def deliverer(
        self,
        *,
        beside: bool = False,
        timeout_seconds: float = 10.0,
        signer: Signer | None = None,
        **options: Any,
    ) -> Deliverer:
        """Sends while it looks, or beside it as in production."""
        posting = NotificationSender(
            http=HttpClient(),
            addresses=options.pop("addresses", WebhookAddresses(["127.0.0.1"])),
            signer=signer,
            timeout_seconds=timeout_seconds,
            now=self.clock,
        )
        return Deliverer(
            self.store,
            posting,
            RetryLimits(**options),
            now=self.clock,
            random=lambda: self.jitter,
            log=Log(self.log_lines.append, clock=self.clock, new_id=new_id, function="tasks"),
            threads=self.threads if beside else _Inline("webhook"),
            wakeups=NoWakeups(),
        )

    def task(self, *chunks: str) -> str:
        """The id of a task that has worked, said these things and is complete: entries 1 to `len(chunks)` + 3."""
        id_ = created(self.store).task.id
        self.store.append(id_, [status(id_, TaskState.WORKING)])
        for text in chunks:
            self.store.append(id_, [chunk(id_, text)])
        self.store.append(id_, [status(id_, TaskState.COMPLETED, said="done")])
        return id_

    def register(
        self,
        task_id: str,
        url: str,
        *,
        id_: str = "p",
        version: Version = Version.V1_0,
        after: int = 0,
        **own: Any,
    ) -> None:
        config = TaskPushNotificationConfig(url=url, id=id_, task_id=task_id, **own)
        self.store.put_config(PushConfig(config=config, version=version), delivered=after)

    def delivery(self, task_id: str) -> Delivery:
        (delivery,) = self.store.configs(task_id)
        return delivery

    @property
    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log_lines]
