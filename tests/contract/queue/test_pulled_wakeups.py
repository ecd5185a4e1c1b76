"""What a worker gets that subscribes to its role's topic by itself."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from a2a_hub.queue.pubsub import PubsubWakeups
from a2a_hub.queue.wakeups import Wakeup, read_message
from tests.fakes.emulators import PROJECT

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def pubsub(topic_prefix: str, failures: list[str]) -> Iterator[PubsubWakeups]:
    wakeups = PubsubWakeups(project=PROJECT, prefix=topic_prefix, failed=failures.append)
    yield wakeups
    wakeups.close()
    assert failures == []


def test_a_topic_that_is_missing_fails_each_wakeup_and_whoever_wakes_none(
    topic_prefix: str, failures: list[str]
) -> None:
    wakeups = PubsubWakeups(project=PROJECT, prefix=topic_prefix, failed=failures.append)
    with ThreadPoolExecutor(8) as threads:
        published = [threads.submit(wakeups.publish, "tasks-nobody", f"task-{at}") for at in range(80)]
    wakeups.close()
    assert [each.exception() for each in published] == [None] * 80
    assert failures == ["a wake-up for topic tasks-nobody was not published: NotFound"] * 80


def test_a_worker_hears_of_the_tasks_of_its_role_only(pubsub: PubsubWakeups, topic_prefix: str) -> None:
    from google.cloud.pubsub_v1 import SubscriberClient

    found: set[Wakeup] = set()
    with SubscriberClient() as client:
        path = client.subscription_path(PROJECT, f"{topic_prefix}worker")
        client.create_subscription(name=path, topic=f"projects/{PROJECT}/topics/{topic_prefix}tasks-writer")
        pubsub.publish("tasks", "of-the-hub")
        for at in range(3):
            pubsub.publish("tasks-writer", str(at))
        for _ in range(20):
            for received in client.pull(subscription=path, max_messages=10, timeout=30).received_messages:
                found.add(read_message(received.message.data, dict(received.message.attributes)))
            if len(found) >= 3:
                break
    assert found == {Wakeup("tasks-writer", str(at)) for at in range(3)}


def test_google_is_imported_on_the_first_use_only() -> None:
    program = (
        "import sys\n"
        "from a2a_hub.queue.pubsub import PubsubWakeups\n"
        "PubsubWakeups(project='p', prefix='', failed=print)\n"
        "heavy = ('google.api', 'google.auth', 'google.cloud.', 'grpc')\n"
        "sys.stderr.write(','.join(name for name in sys.modules if name.startswith(heavy)))\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")
