"""Wake-ups through Google Cloud Pub/Sub: a topic for each role, pushed to functions or pulled by workers."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from shared.queue.envelope import BadEnvelope, message_attributes, message_data, read_message
from shared.queue.wakeups import Wakeup

if TYPE_CHECKING:
    from google.cloud.pubsub_v1 import PublisherClient, SubscriberClient

_PUBLISH_SECONDS = 5.0


class Unreachable(Exception):
    """Pub/Sub cannot be asked, or the subscription does not exist: the text is for the log."""


class PubsubWakeups:
    """Implements Wakeups. The client is imported and made on the first use; the topics must exist."""

    def __init__(self, *, project: str, prefix: str, failed: Callable[[str], object]) -> None:
        """`prefix` comes before every topic's name; `failed` gets a sentence for the log."""
        self._project = project
        self._prefix = prefix
        self._failed = failed
        self._lock = threading.Lock()
        self._client: PublisherClient | None = None

    def publish(self, topic: str, task_id: str) -> None:
        """Returns when Pub/Sub has the message: what is left for afterwards, an instance without requests may never do."""
        from google.api_core.exceptions import GoogleAPIError
        from google.auth.exceptions import GoogleAuthError

        wakeup = Wakeup(topic, task_id)
        try:
            client = self._publisher()
            path = client.topic_path(self._project, self._prefix + topic)
            sent = client.publish(path, message_data(wakeup), **message_attributes(wakeup))
            sent.result(_PUBLISH_SECONDS)
        except (GoogleAPIError, GoogleAuthError, TimeoutError) as error:
            self._failed(f"a wake-up for topic {topic} was not published: {type(error).__name__}")

    def close(self) -> None:
        """Gives the connection back; the next use makes another one."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.stop()
            client.transport.close()

    def _publisher(self) -> PublisherClient:
        with self._lock:
            if self._client is None:
                from google.cloud.pubsub_v1 import PublisherClient
                from google.cloud.pubsub_v1.types import BatchSettings, PublisherOptions

                self._client = PublisherClient(
                    # Each message alone and at once: waiting for others saves calls, and costs what wake-ups are for.
                    batch_settings=BatchSettings(max_messages=1),
                    publisher_options=PublisherOptions(timeout=_PUBLISH_SECONDS),
                )
            return self._client


class PubsubSubscription:
    """The receiving side of a worker: one subscription, pulled."""

    def __init__(self, *, project: str, subscription: str) -> None:
        self._project = project
        self._subscription = subscription
        self._lock = threading.Lock()
        self._client: SubscriberClient | None = None

    def pull(self, *, most: int, timeout_seconds: float) -> list[Wakeup]:
        """What has come, as soon as something has; empty when nothing came in time. Raises Unreachable.

        It is acknowledged at once: not the message but the lease makes sure that a task is done.
        """
        from google.api_core.exceptions import DeadlineExceeded, GoogleAPIError

        client = self._subscriber()
        path = client.subscription_path(self._project, self._subscription)
        try:
            pulled = client.pull(subscription=path, max_messages=most, retry=None, timeout=timeout_seconds)
        except DeadlineExceeded:
            return []
        except GoogleAPIError as error:
            raise Unreachable(type(error).__name__) from error
        ids = [received.ack_id for received in pulled.received_messages]
        if ids:
            # One that is not acknowledged comes again, which does no harm.
            with contextlib.suppress(GoogleAPIError):
                client.acknowledge(subscription=path, ack_ids=ids, timeout=_PUBLISH_SECONDS)
        found = []
        for received in pulled.received_messages:
            try:
                found.append(read_message(received.message.data, dict(received.message.attributes)))
            except BadEnvelope:
                continue
        return found

    def close(self) -> None:
        """Gives the connection back; the next use makes another one."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _subscriber(self) -> SubscriberClient:
        with self._lock:
            if self._client is None:
                from google.cloud.pubsub_v1 import SubscriberClient

                self._client = SubscriberClient()
            return self._client
