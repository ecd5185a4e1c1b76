"""Wake-ups with a time: through Cloud Tasks, or a timer on one machine."""

import math
import queue
import time
from collections.abc import Iterator

import pytest

from a2a_hub.http.client import HttpClient
from a2a_hub.queue.local import LocalWakeups
from a2a_hub.queue.pubsub import CloudTasksQueue, PubsubWakeups, QueueSettings
from a2a_hub.queue.wakeups import Wakeup, Wakeups, read_push
from tests.contract.queue.conftest import Subscriber
from tests.fakes.cloud_tasks import QUEUE, CloudTasks
from tests.fakes.http_server import Exchange, HttpServer
from tests.fakes.service_tokens import NoTokens, SignedTokens

SECONDS = 30.0
ACCOUNT = "wakeups@project.iam.gserviceaccount.com"


@pytest.fixture
def cloud_tasks() -> Iterator[CloudTasks]:
    with CloudTasks(id_token=lambda account, audience: f"{account} for {audience}") as server:
        yield server


def _queue(cloud: CloudTasks, url: str, failures: list[str], *, name: str = QUEUE) -> CloudTasksQueue:
    settings = QueueSettings(name=name, url=url, account=ACCOUNT, endpoint=cloud.url)
    return CloudTasksQueue(settings, http=HttpClient(), tokens=SignedTokens(), failed=failures.append)


@pytest.fixture(params=["local", "pubsub"])
def timed(
    request: pytest.FixtureRequest, address: str, cloud_tasks: CloudTasks, failures: list[str]
) -> Iterator[Wakeups]:
    opened: Wakeups
    if request.param == "local":
        opened = LocalWakeups([address], http=HttpClient(), headers=lambda _: {}, failed=failures.append)
    else:
        cloud = _queue(cloud_tasks, address.removesuffix("/wakeups"), failures)
        opened = PubsubWakeups(project="p", prefix="", failed=failures.append, queue=cloud)
    yield opened
    opened.close()
    assert failures == []


def test_a_wakeup_with_a_time_comes_then_and_not_before(timed: Wakeups, subscriber: Subscriber) -> None:
    due_at = time.time() + 0.3
    timed.publish("tasks", "later", due_at=due_at)
    received = subscriber.pushed.get(timeout=SECONDS)
    assert read_push(received.body) == Wakeup("tasks", "later")
    assert time.time() >= due_at


def test_a_wakeup_whose_time_has_passed_comes_at_once(timed: Wakeups, subscriber: Subscriber) -> None:
    timed.publish("tasks", "late", due_at=time.time() - 60)
    assert read_push(subscriber.pushed.get(timeout=SECONDS).body).task_id == "late"


def test_a_later_wakeup_does_not_hold_up_an_earlier_one(address: str, subscriber: Subscriber) -> None:
    wakeups = LocalWakeups([address], http=HttpClient(), headers=lambda _: {}, failed=print)
    wakeups.publish("tasks", "in an hour", due_at=time.time() + 3600)
    wakeups.publish("tasks", "soon", due_at=time.time() + 0.05)
    wakeups.publish("tasks", "now")
    found = [read_push(subscriber.pushed.get(timeout=SECONDS).body).task_id for _ in range(2)]
    wakeups.close()
    assert sorted(found) == ["now", "soon"]


def test_cloud_tasks_proves_who_calls_and_brings_the_same_wakeup_of_a_second_once(
    cloud_tasks: CloudTasks, address: str, subscriber: Subscriber, failures: list[str]
) -> None:
    url = address.removesuffix("/wakeups")
    cloud = _queue(cloud_tasks, url, failures)
    second = math.ceil(time.time())
    for due_at in (second - 0.5, second, second):
        cloud.add(Wakeup("tasks", "t"), due_at=due_at)
    cloud.add(Wakeup("tasks", "other"), due_at=second)
    received = [subscriber.pushed.get(timeout=SECONDS) for _ in range(2)]
    assert {read_push(one.body).task_id for one in received} == {"t", "other"}
    assert {one.headers["authorization"] for one in received} == {f"Bearer {ACCOUNT} for {url}"}
    assert {one.path for one in received} == {"/wakeups"}
    assert subscriber.pushed.empty()
    assert failures == []


def test_cloud_tasks_brings_a_refused_wakeup_again(cloud_tasks: CloudTasks, failures: list[str]) -> None:
    answers = iter((503, 429, 204))
    came: queue.SimpleQueue[str] = queue.SimpleQueue()

    def behave(exchange: Exchange) -> None:
        exchange.answer(next(answers))
        came.put(exchange.received.headers["x-cloudtasks-taskretrycount"])

    with HttpServer(behave) as server:
        _queue(cloud_tasks, server.url, failures).add(Wakeup("tasks", "t"), due_at=time.time())
        assert [came.get(timeout=SECONDS) for _ in range(3)] == ["0", "1", "2"]


def test_a_queue_that_cannot_be_had_costs_the_wakeup_and_is_told_without_its_address(
    cloud_tasks: CloudTasks, failures: list[str]
) -> None:
    _queue(cloud_tasks, "http://x", failures, name=f"{QUEUE}-2").add(Wakeup("tasks", "t"), due_at=0)
    settings = QueueSettings(name=QUEUE, url="http://x", account=ACCOUNT, endpoint=cloud_tasks.url)
    CloudTasksQueue(settings, http=HttpClient(), tokens=NoTokens(), failed=failures.append).add(
        Wakeup("tasks", "t"), due_at=0
    )
    with HttpServer(lambda exchange: exchange.reset()) as broken:
        settings = QueueSettings(name=QUEUE, url="http://x", account=ACCOUNT, endpoint=broken.url)
        CloudTasksQueue(settings, http=HttpClient(), tokens=SignedTokens(), failed=failures.append).add(
            Wakeup("tasks", "t"), due_at=0
        )
    assert failures == [
        "a wake-up with a time was refused by Cloud Tasks with status 404",
        "a wake-up with a time was not queued: TokenUnavailable",
        "a wake-up with a time was not queued: HttpFailure",
    ]


def test_without_a_queue_a_wakeup_with_a_time_is_left_to_the_sweep(failures: list[str]) -> None:
    PubsubWakeups(project="p", prefix="", failed=failures.append).publish("tasks", "t", due_at=0.0)
    assert failures == []
