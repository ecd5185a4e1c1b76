"""What a subscriber is pushed."""

import threading

from a2a_hub.http.client import HttpClient
from a2a_hub.queue.local import LocalWakeups
from a2a_hub.queue.pubsub import PubsubWakeups
from a2a_hub.queue.wakeups import Wakeup, Wakeups, read_push
from local.ports import LOOPBACK, free_ports
from tests.contract.queue.conftest import Subscriber
from tests.fakes.emulators import PROJECT
from tests.fakes.http_server import Exchange, HttpServer, Received

SECONDS = 30.0


def _pushed(subscriber: Subscriber, count: int) -> list[Received]:
    return [subscriber.pushed.get(timeout=SECONDS) for _ in range(count)]


def test_a_subscriber_is_told_of_every_topic(wakeups: Wakeups, subscriber: Subscriber) -> None:
    sent = {Wakeup("tasks", "1"), Wakeup("tasks-writer", "2"), Wakeup("tasks", "タスク/3")}
    for wakeup in sent:
        wakeups.publish(wakeup.topic, wakeup.task_id)
    assert {read_push(received.body) for received in _pushed(subscriber, 3)} == sent


def test_publishing_from_many_threads_tells_of_all(wakeups: Wakeups, subscriber: Subscriber) -> None:
    threads = [threading.Thread(target=wakeups.publish, args=("tasks", str(at))) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = {read_push(received.body).task_id for received in _pushed(subscriber, 8)}
    assert found == {str(at) for at in range(8)}


def test_a_subscriber_that_refuses_is_no_failure_of_the_publisher(wakeups: Wakeups, subscriber: Subscriber) -> None:
    subscriber.status = 503
    wakeups.publish("tasks", "refused")
    assert read_push(_pushed(subscriber, 1)[0].body).task_id == "refused"
    subscriber.status = 204
    wakeups.publish("tasks", "taken")
    found = ""
    # Pub/Sub brings the refused one again; locally it is lost.
    while found != "taken":
        found = read_push(_pushed(subscriber, 1)[0].body).task_id


def test_a_local_push_proves_who_calls(address: str, subscriber: Subscriber, failures: list[str]) -> None:
    headers = {"Authorization": "Bearer of-the-hub"}
    wakeups = LocalWakeups([address], http=HttpClient(), headers=lambda _: headers, failed=failures.append)
    wakeups.publish("tasks", "1")
    wakeups.close()
    received = subscriber.pushed.get(timeout=SECONDS)
    assert (received.method, received.path) == ("POST", "/wakeups")
    assert received.headers["authorization"] == "Bearer of-the-hub"
    assert received.headers["content-type"] == "application/json"
    assert failures == []


def test_a_local_subscriber_that_is_not_there_costs_nobody_else_a_wakeup(
    address: str, subscriber: Subscriber, failures: list[str]
) -> None:
    nobody = f"http://{LOOPBACK}:{free_ports(1)[0]}/"
    wakeups = LocalWakeups([nobody, address], http=HttpClient(), headers=lambda _: {}, failed=failures.append)
    wakeups.publish("tasks", "1")
    wakeups.close()
    assert read_push(subscriber.pushed.get(timeout=SECONDS).body) == Wakeup("tasks", "1")
    assert len(failures) == 1
    assert nobody not in failures[0]


def test_a_local_refusal_is_said(failures: list[str]) -> None:
    def refuse(exchange: Exchange) -> None:
        exchange.answer(401)

    with HttpServer(refuse) as server:
        wakeups = LocalWakeups([server.url], http=HttpClient(), headers=lambda _: {}, failed=failures.append)
        wakeups.publish("tasks", "1")
        wakeups.close()
    assert failures == ["a wake-up was refused with status 401"]


def test_a_local_publisher_does_not_wait_for_a_subscriber(failures: list[str]) -> None:
    asked, answer = threading.Event(), threading.Event()

    def wait(exchange: Exchange) -> None:
        asked.set()
        answer.wait(SECONDS)
        exchange.answer(204)

    with HttpServer(wait) as server:
        wakeups = LocalWakeups([server.url], http=HttpClient(), headers=lambda _: {}, failed=failures.append)
        wakeups.publish("tasks", "1")
        assert asked.wait(SECONDS)
        wakeups.publish("tasks", "2")
        answer.set()
        wakeups.close()
        assert [read_push(received.body).task_id for received in server.received] == ["1", "2"]


def test_a_topic_that_does_not_exist_is_a_failure_for_the_log(topic_prefix: str, failures: list[str]) -> None:
    wakeups = PubsubWakeups(project=PROJECT, prefix=topic_prefix, failed=failures.append)
    wakeups.publish("tasks-nobodys", "1")
    wakeups.close()
    assert failures == ["a wake-up for topic tasks-nobodys was not published: NotFound"]
