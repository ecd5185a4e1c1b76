"""A deployment without CPU between requests: runs, notifications and sweeps happen in those of Pub/Sub, Tasks and Scheduler."""

import queue
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from a2a_hub.a2a.model import TaskPushNotificationConfig, TaskState, Version
from a2a_hub.queue.pubsub import PubsubWakeups
from a2a_hub.queue.wakeups import SWEEPS_TOPIC, WEBHOOKS_TOPIC, Wakeup, push_body
from a2a_hub.runtime.ids import random_hex
from a2a_hub.task_store.store import HUB, PushConfig
from tests.contract.task_store.stores import created, status
from tests.fakes.cloud_tasks import QUEUE, CloudTasks
from tests.fakes.emulators import PROJECT
from tests.fakes.http_server import Exchange, HttpServer
from tests.fakes.id_tokens import Signer, certificates
from tests.fakes.service_tokens import SignedTokens
from tests.fakes.tasks_function import Tasks
from tests.fakes.webhook_receiver import Receiver

SECONDS = 30.0
ACCOUNT = "wakeups@project.iam.gserviceaccount.com"
EVERY_MINUTE = push_body(Wakeup(SWEEPS_TOPIC, "all"), message_id="1")


class Hub(HttpServer):
    """A hub that does with a task what the test says: the first thing with the first request, and so on."""

    def __init__(self) -> None:
        super().__init__(self._run)
        self.steps: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.asked: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.tasks: Tasks | None = None

    def _run(self, exchange: Exchange) -> None:
        assert self.tasks is not None
        task_id, step = exchange.received.json["taskId"], self.steps.get(timeout=SECONDS)
        lease = self.tasks.store.lease("hub", seconds=1 if step == "die" else 60, roles=[HUB], task_id=task_id)
        if step == "refuse":
            assert lease
            self.tasks.store.release(task_id, lease.token)
            exchange.answer(503)
        elif step == "die":
            exchange.reset()
        elif lease is not None:
            self.tasks.store.append(task_id, [status(task_id, TaskState.COMPLETED)], lease=lease.token)
            exchange.json({"state": "TASK_STATE_COMPLETED"})
        self.asked.put(task_id)


class Deployment:
    """The tasks function and everything that calls it, or that it calls."""

    def __init__(self, tasks: Tasks, hub: Hub, cloud_tasks: CloudTasks, wakeups: PubsubWakeups, token: str) -> None:
        self.tasks, self.hub, self.cloud_tasks, self.wakeups = tasks, hub, cloud_tasks, wakeups
        self._token = token

    def post(self, body: bytes) -> int:
        """The status of a request of Google's to /wakeups."""
        return self.tasks.request("/wakeups", body, token=self._token).status

    def add(self) -> str:
        return created(self.tasks.store).task.id

    def state(self, task_id: str) -> TaskState:
        stored = self.tasks.store.get(task_id, owner=None)
        assert stored is not None
        return stored.task.status.state


@pytest.fixture
def deployment(tmp_path: Path, pubsub_emulator: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    from google.cloud.pubsub_v1 import PublisherClient, SubscriberClient

    signer, prefix = Signer(), f"t{random_hex()}-"
    monkeypatch.setenv("PUBSUB_EMULATOR_HOST", pubsub_emulator)
    tasks: Tasks

    def front(exchange: Exchange) -> None:
        # The emulator sends no ID token.
        received = exchange.received
        bearer = received.headers.get("authorization", f"Bearer {token}").removeprefix("Bearer ")
        exchange.answer(tasks.request(received.path, received.body, token=bearer).status)

    with (
        HttpServer(front) as server,
        certificates(signer) as google,
        CloudTasks(id_token=lambda account, audience: signer.token(aud=audience, email=account)) as cloud_tasks,
        Hub() as hub,
        PublisherClient() as publisher,
        SubscriberClient() as subscriber,
    ):
        token = signer.token(aud=server.url, email=ACCOUNT)
        subscriptions = []
        for topic in ("tasks", "webhooks"):
            path = publisher.create_topic(name=publisher.topic_path(PROJECT, prefix + topic)).name
            subscriptions.append(subscriber.subscription_path(PROJECT, prefix + topic))
            push = {"push_endpoint": f"{server.url}/wakeups"}
            subscriber.create_subscription(
                name=subscriptions[-1], topic=path, push_config=push, ack_deadline_seconds=600
            )
        tasks = Tasks(
            tmp_path,
            SignedTokens(),
            HUB_URL=hub.url,
            WAKEUPS=f"pubsub:{prefix}",
            GOOGLE_CLOUD_PROJECT=PROJECT,
            WAKEUP_QUEUE=QUEUE,
            WAKEUP_ACCOUNTS=ACCOUNT,
            TASKS_URL=server.url,
            CLOUD_TASKS_ENDPOINT=cloud_tasks.url,
            ID_TOKEN_AUDIENCES=server.url,
            GOOGLE_CERTS_URL=google.url,
            WEBHOOK_ALLOWED_HOSTS="127.0.0.1",
        )
        hub.tasks = tasks
        wakeups = PubsubWakeups(project=PROJECT, prefix=prefix, failed=pytest.fail)
        yield Deployment(tasks, hub, cloud_tasks, wakeups, token)
        wakeups.close()
        for path in subscriptions:
            subscriber.delete_subscription(subscription=path)
        tasks.close()


def test_a_task_that_is_pushed_runs_inside_the_push(deployment: Deployment) -> None:
    task_id = deployment.add()
    deployment.hub.steps.put("complete")
    assert deployment.post(push_body(Wakeup("tasks", task_id), message_id="1")) == 204
    assert deployment.state(task_id) is TaskState.COMPLETED
    assert deployment.post(push_body(Wakeup("tasks", task_id), message_id="2")) == 204
    assert len(deployment.hub.received) == 1


def test_a_push_that_no_hub_took_comes_again(deployment: Deployment) -> None:
    task_id = deployment.add()
    for step in ("refuse", "refuse", "complete"):
        deployment.hub.steps.put(step)
    deployment.wakeups.publish("tasks", task_id)
    assert [deployment.hub.asked.get(timeout=SECONDS) for _ in range(3)] == [task_id] * 3
    assert deployment.state(task_id) is TaskState.COMPLETED


def test_the_task_of_a_hub_that_was_killed_goes_on_when_its_lease_has_run_out(deployment: Deployment) -> None:
    task_id = deployment.add()
    deployment.hub.steps.put("die")
    deployment.hub.steps.put("complete")
    deployment.wakeups.publish("tasks", task_id)
    assert [deployment.hub.asked.get(timeout=SECONDS) for _ in range(2)] == [task_id] * 2
    assert deployment.state(task_id) is TaskState.COMPLETED
    assert [one.early_seconds <= 0 for one in deployment.cloud_tasks.dispatched] in ([], [True])


def test_the_sweep_of_every_minute_finds_what_nobody_was_woken_for(deployment: Deployment) -> None:
    ids = {deployment.add() for _ in range(3)}
    for _ in ids:
        deployment.hub.steps.put("complete")
    assert deployment.post(EVERY_MINUTE) == 204
    assert {deployment.hub.asked.get(timeout=SECONDS) for _ in ids} == ids


def test_the_sweep_comes_again_when_a_lease_runs_out_before_the_next_minute(deployment: Deployment) -> None:
    task_id = deployment.add()
    assert deployment.tasks.store.lease("a hub that died", seconds=1, roles=[HUB], task_id=task_id)
    deployment.hub.steps.put("complete")
    assert deployment.post(EVERY_MINUTE) == 204
    assert deployment.hub.asked.get(timeout=SECONDS) == task_id
    assert deployment.state(task_id) is TaskState.COMPLETED


def test_notifications_are_sent_inside_the_push_that_tells_of_them(deployment: Deployment) -> None:
    store = deployment.tasks.store
    with Receiver() as receiver:
        task_id = deployment.add()
        config = TaskPushNotificationConfig(url=receiver.url, id="p", task_id=task_id)
        store.put_config(PushConfig(config=config, version=Version.V1_0), delivered=0)
        store.append(task_id, [status(task_id, TaskState.COMPLETED)])
        assert deployment.post(push_body(Wakeup(WEBHOOKS_TOPIC, task_id), message_id="1")) == 204
        assert receiver.sequences == [1, 2]


def test_what_a_worker_writes_is_told_to_receivers_without_a_sweep(deployment: Deployment) -> None:
    tasks = deployment.tasks
    with Receiver() as receiver:
        task_id = tasks.add().task.id
        config = TaskPushNotificationConfig(url=receiver.url, id="p", task_id=task_id)
        tasks.store.put_config(PushConfig(config=config, version=Version.V1_0), delivered=1)
        tasks.write(tasks.lease(), "complete", text="Done")
        receiver.await_sequences([2, 3])


def test_a_notification_that_failed_is_tried_again_at_its_time(deployment: Deployment) -> None:
    answers = iter((503, 200))
    with Receiver(behave=lambda exchange: exchange.answer(next(answers))) as receiver:
        task_id = deployment.add()
        config = TaskPushNotificationConfig(url=receiver.url, id="p", task_id=task_id)
        deployment.tasks.store.put_config(PushConfig(config=config, version=Version.V1_0), delivered=0)
        assert deployment.post(push_body(Wakeup(WEBHOOKS_TOPIC, task_id), message_id="1")) == 204
        receiver.await_sequences([1, 1])


def test_two_pushes_of_one_task_at_once_run_it_once(deployment: Deployment) -> None:
    task_id = deployment.add()
    for _ in range(2):
        deployment.hub.steps.put("complete")
    bodies = [push_body(Wakeup("tasks", task_id), message_id=str(number)) for number in range(2)]
    threads = [threading.Thread(target=deployment.post, args=(body,)) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert deployment.hub.asked.get(timeout=SECONDS) == task_id
    entries = deployment.tasks.store.entries(task_id, after=0)
    assert [entry.sequence for entry in entries] == [1, 2]
