"""What a worker pulls from Pub/Sub itself."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.queue.pubsub import PubsubSubscription, PubsubWakeups, Unreachable
from shared.queue.wakeups import Wakeup
from tests.fakes.emulators import PROJECT

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def subscription(topic_prefix: str) -> Iterator[PubsubSubscription]:
    from google.cloud.pubsub_v1 import SubscriberClient

    name = f"{topic_prefix}worker"
    with SubscriberClient() as client:
        path = client.subscription_path(PROJECT, name)
        client.create_subscription(
            name=path, topic=f"projects/{PROJECT}/topics/{topic_prefix}tasks-writer", ack_deadline_seconds=10
        )
    opened = PubsubSubscription(project=PROJECT, subscription=name)
    yield opened
    opened.close()


@pytest.fixture
def pubsub(topic_prefix: str, failures: list[str]) -> Iterator[PubsubWakeups]:
    wakeups = PubsubWakeups(project=PROJECT, prefix=topic_prefix, failed=failures.append)
    yield wakeups
    wakeups.close()
    assert failures == []


def _pulled(subscription: PubsubSubscription, count: int) -> list[Wakeup]:
    found: list[Wakeup] = []
    for _ in range(20):
        found += subscription.pull(most=10, timeout_seconds=5)
        if len(found) >= count:
            break
    return found


def test_a_worker_hears_of_the_tasks_of_its_role_only(
    pubsub: PubsubWakeups, subscription: PubsubSubscription
) -> None:
    pubsub.publish("tasks", "of-the-hub")
    for at in range(3):
        pubsub.publish("tasks-writer", str(at))
    assert sorted(_pulled(subscription, 3), key=lambda one: one.task_id) == [
        Wakeup("tasks-writer", str(at)) for at in range(3)
    ]


def test_what_was_pulled_does_not_come_again(pubsub: PubsubWakeups, subscription: PubsubSubscription) -> None:
    pubsub.publish("tasks-writer", "1")
    assert _pulled(subscription, 1) == [Wakeup("tasks-writer", "1")]
    assert subscription.pull(most=10, timeout_seconds=0.3) == []


def test_a_message_that_is_no_wakeup_is_passed_over(
    pubsub: PubsubWakeups, subscription: PubsubSubscription, topic_prefix: str
) -> None:
    from google.cloud.pubsub_v1 import PublisherClient

    publisher = PublisherClient()
    publisher.publish(publisher.topic_path(PROJECT, f"{topic_prefix}tasks-writer"), b"noise").result(30)
    publisher.stop()
    publisher.transport.close()
    pubsub.publish("tasks-writer", "1")
    assert _pulled(subscription, 1) == [Wakeup("tasks-writer", "1")]


def test_a_subscription_that_does_not_exist_cannot_be_pulled(topic_prefix: str) -> None:
    nobodys = PubsubSubscription(project=PROJECT, subscription=f"{topic_prefix}nobodys")
    with pytest.raises(Unreachable, match="NotFound"):
        nobodys.pull(most=1, timeout_seconds=5)
    nobodys.close()


def test_google_is_imported_on_the_first_use_only() -> None:
    program = (
        "import sys\n"
        "from shared.queue.pubsub import PubsubSubscription, PubsubWakeups\n"
        "PubsubWakeups(project='p', prefix='', failed=print)\n"
        "PubsubSubscription(project='p', subscription='s')\n"
        "heavy = ('google.api', 'google.auth', 'google.cloud.', 'grpc')\n"
        "sys.stderr.write(','.join(name for name in sys.modules if name.startswith(heavy)))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert (ran.returncode, ran.stderr) == (0, "")
