"""Every test here that takes `wakeups` runs with each implementation, towards a real HTTP server that is pushed to."""

import queue
from collections.abc import Iterator

import pytest

from a2a_hub.http.client import HttpClient
from a2a_hub.queue.local import LocalWakeups
from a2a_hub.queue.pubsub import PubsubWakeups
from a2a_hub.queue.wakeups import Wakeups
from a2a_hub.runtime.ids import random_hex
from tests.fakes.emulators import PROJECT
from tests.fakes.http_server import Exchange, HttpServer, Received

TOPICS = ("tasks", "tasks-writer")


class Subscriber:
    """Takes pushes; `status` is what it answers."""

    def __init__(self) -> None:
        self.status = 204
        self.pushed: queue.SimpleQueue[Received] = queue.SimpleQueue()

    def behave(self, exchange: Exchange) -> None:
        status = self.status
        exchange.answer(status)
        self.pushed.put(exchange.received)


@pytest.fixture
def failures() -> list[str]:
    return []


@pytest.fixture
def subscriber() -> Subscriber:
    return Subscriber()


@pytest.fixture
def address(subscriber: Subscriber) -> Iterator[str]:
    with HttpServer(subscriber.behave) as server:
        yield f"{server.url}/wakeups"


@pytest.fixture(params=["local", "pubsub"])
def wakeups(request: pytest.FixtureRequest, address: str, failures: list[str]) -> Iterator[Wakeups]:
    opened: Wakeups
    if request.param == "local":
        headers = {"Authorization": "Bearer of-the-hub"}
        opened = LocalWakeups([address], http=HttpClient(), headers=lambda _: headers, failed=failures.append)
    else:
        prefix = request.getfixturevalue("topic_prefix")
        request.getfixturevalue("push_subscriptions")
        opened = PubsubWakeups(project=PROJECT, prefix=prefix, failed=failures.append)
    yield opened
    opened.close()


@pytest.fixture
def topic_prefix(pubsub_emulator: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Topics of this test only, which exist."""
    from google.cloud.pubsub_v1 import PublisherClient

    monkeypatch.setenv("PUBSUB_EMULATOR_HOST", pubsub_emulator)
    prefix = f"t{random_hex()}-"
    publisher = PublisherClient()
    for topic in TOPICS:
        publisher.create_topic(name=publisher.topic_path(PROJECT, prefix + topic))
    publisher.stop()
    publisher.transport.close()
    return prefix


@pytest.fixture
def push_subscriptions(topic_prefix: str, address: str) -> Iterator[None]:
    """Each topic is pushed to the subscriber."""
    from google.cloud.pubsub_v1 import SubscriberClient

    with SubscriberClient() as client:
        paths = [client.subscription_path(PROJECT, f"{topic_prefix}{topic}-push") for topic in TOPICS]
        for path, topic in zip(paths, TOPICS, strict=True):
            client.create_subscription(
                name=path,
                topic=f"projects/{PROJECT}/topics/{topic_prefix}{topic}",
                push_config={"push_endpoint": address},
            )
        yield
        for path in paths:
            client.delete_subscription(subscription=path)
