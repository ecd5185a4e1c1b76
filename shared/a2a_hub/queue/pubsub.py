"""Wake-ups through Google Cloud Pub/Sub: a topic for each role, pushed to functions; workers may subscribe to their own.

Pub/Sub delivers at once; a wake-up with a time goes through Cloud Tasks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from a2a_hub.queue.cloud_tasks import CloudTasksQueue
from a2a_hub.queue.wakeups import Wakeup, Wakeups, message_attributes, message_data

if TYPE_CHECKING:
    from google.cloud.pubsub_v1 import PublisherClient

_PUBLISH_SECONDS = 5.0


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
            again = retry.Retry(timeout=_PUBLISH_SECONDS)
            Api.publish(client, topic=path, messages=[message], retry=again, timeout=_PUBLISH_SECONDS)
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
