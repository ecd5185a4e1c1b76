"""The only place where the parts that deliver push notifications are wired."""

from __future__ import annotations

import random
import time

from a2a_hub.http.client import HttpClient
from a2a_hub.runtime.threads import Threads
from a2a_hub.task_store.factory import Store
from a2a_hub.tasks.webhook_address import public_addresses, webhook_refusal
from a2a_hub.telemetry.log import Log
from functions.tasks.config import Config
from functions.tasks.webhooks.delivery import Deliverer
from functions.tasks.webhooks.posting import Posting
from functions.tasks.webhooks.signing import Signer


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
