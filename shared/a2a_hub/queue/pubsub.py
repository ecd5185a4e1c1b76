"""Wake-ups through Google Cloud Pub/Sub: a topic for each role, pushed to functions; workers may subscribe to their own.

Pub/Sub delivers at once; a wake-up with a time goes through Cloud Tasks.
"""

from __future__ import annotations

import base64
import hashlib
import math
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from a2a_hub.http.client import Http, HttpFailure, fetch
from a2a_hub.http.messages import JSON
from a2a_hub.identity.service_tokens import ServiceTokens, TokenUnavailable
from a2a_hub.queue.wakeups import WAKEUPS_PATH, Wakeup, Wakeups, message_attributes, message_data, push_body

if TYPE_CHECKING:
    from google.cloud.pubsub_v1 import PublisherClient

_SECONDS = 5.0
CLOUD_TASKS_ENDPOINT = "https://cloudtasks.googleapis.com"
# Pub/Sub's longest acknowledgement deadline too: the receiver has the same time for either.
_DISPATCH_DEADLINE = "600s"
_EXISTS = 409


class QueueSettings(Struct, frozen=True, kw_only=True):
    """The queue `projects/…/locations/…/queues/…`, which posts to the function at `url` with an ID token of `account`."""

    name: str
    url: str
    account: str
    endpoint: str = CLOUD_TASKS_ENDPOINT


class CloudTasksQueue(Struct, frozen=True):
    """A queue that delivers wake-ups at a time. Its name is the same for the same wake-up and second, so that it comes once."""

    settings: QueueSettings
    http: Http
    tokens: ServiceTokens
    failed: Callable[[str], object]
    """Gets a sentence for the log."""

    def add(self, wakeup: Wakeup, *, due_at: float) -> None:
        """Add the wake-up, delivered not before `due_at`, in seconds since the epoch. Raise nothing."""
        url = f"{self.settings.endpoint}/v2/{self.settings.name}/tasks"
        body = msgspec.json.encode({"task": self._task(wakeup, math.ceil(due_at))})
        try:
            headers = {"authorization": f"Bearer {self.tokens.access_token()}", "content-type": JSON}
            answer, _ = fetch(self.http, "POST", url, headers=headers, body=body, seconds=_SECONDS)
        except (HttpFailure, TokenUnavailable) as failure:
            self.failed(f"a wake-up with a time was not queued: {type(failure).__name__}")
            return
        if answer.status >= 300 and answer.status != _EXISTS:
            self.failed(f"a wake-up with a time was refused by Cloud Tasks with status {answer.status}")

    def _task(self, wakeup: Wakeup, second: int) -> dict[str, object]:
        # Hashed: Cloud Tasks slows down for names that follow one another.
        name = hashlib.sha256(f"{wakeup.topic} {wakeup.task_id} {second}".encode()).hexdigest()[:32]
        url = self.settings.url
        return {
            "name": f"{self.settings.name}/tasks/{name}",
            "scheduleTime": datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "dispatchDeadline": _DISPATCH_DEADLINE,
            "httpRequest": {
                "url": url + WAKEUPS_PATH,
                "httpMethod": "POST",
                "headers": {"Content-Type": JSON},
                "body": base64.b64encode(push_body(wakeup, message_id=name)).decode(),
                "oidcToken": {"serviceAccountEmail": self.settings.account, "audience": url},
            },
        }


class PubsubWakeups(Wakeups):
    """An implementation of Wakeups. The client is imported and created on first use; the topics must exist."""

    def __init__(
        self, *, project: str, prefix: str, failed: Callable[[str], object], queue: CloudTasksQueue | None = None
    ) -> None:
        """`prefix` precedes every topic's name; `failed` gets a sentence for the log. Without a `queue`, wake-ups with a time
        are left to the sweep.
        """
        self._project = project
        self._prefix = prefix
        self._failed = failed
        self._queue = queue
        self._lock = threading.Lock()
        self._client: PublisherClient | None = None

    def publish(self, topic: str, task_id: str, *, due_at: float | None = None) -> None:
        """Publish and wait until Pub/Sub has the message: deferred work may never run on an instance without requests."""
        wakeup = Wakeup(topic, task_id)
        if due_at is not None:
            if self._queue is not None:
                self._queue.add(wakeup, due_at=due_at)
            return
        from google.api_core import exceptions, retry
        from google.auth.exceptions import GoogleAuthError
        from google.pubsub_v1 import PublisherClient as Api
        from google.pubsub_v1 import PubsubMessage

        message = PubsubMessage(data=message_data(wakeup), attributes=message_attributes(wakeup))
        try:
            client = self._publisher()
            path = client.topic_path(self._project, self._prefix + topic)
            # Not in the client's batches: filling one costs the time that a wake-up saves, and a failed batch fails the next.
            again = retry.Retry(timeout=_SECONDS)
            Api.publish(client, topic=path, messages=[message], retry=again, timeout=_SECONDS)
        except (exceptions.GoogleAPIError, GoogleAuthError) as error:
            self._failed(f"a wake-up for topic {topic} was not published: {type(error).__name__}")

    def close(self) -> None:
        """Close the connection; the next use opens another."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.stop()
            client.transport.close()

    def _publisher(self) -> PublisherClient:
        with self._lock:
            if self._client is None:
                from google.cloud.pubsub_v1 import PublisherClient

                # Of the package's two clients of this name, this one finds the emulator.
                self._client = PublisherClient()
            return self._client
