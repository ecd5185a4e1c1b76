"""Push notifications (A2A 1.0.1 §4.3): in order, at least once, in the registered version's shape."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from a2a_hub.a2a.model import AuthenticationInfo, Message, Part, Role, TaskState, Version
from a2a_hub.runtime.ids import new_id
from a2a_hub.task_store.sqlite import SqliteTaskStore
from a2a_hub.task_store.store import Delivery
from a2a_hub.tasks.webhook_address import WebhookAddresses
from tests.contract.task_store.stores import Clock, created, status
from tests.fakes.counted import counted
from tests.fakes.http_server import Exchange
from tests.fakes.webhook_receiver import PATIENCE_SECONDS, Receiver
from tests.integration.push_deliverer import DelivererBench

HOUR = 3600.0


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[DelivererBench]:
    clock = Clock()
    store = SqliteTaskStore(tmp_path / "tasks.db", clock=clock, new_token=new_id)
    yield DelivererBench(store, clock)
    store.close()


def test_a_receiver_is_told_every_event_in_order_and_once(bench: DelivererBench) -> None:
    with Receiver() as receiver:
        bench.register(bench.task("a", "b"), receiver.url)
        deliverer = bench.deliverer()
        assert deliverer.deliver_due() == 1
        assert receiver.sequences == [1, 2, 3, 4, 5]
        kinds = [next(iter(event)) for event in receiver.events]
        assert kinds == ["task", "statusUpdate", "artifactUpdate", "artifactUpdate", "statusUpdate"]
        assert deliverer.deliver_due() == 0
    assert {received.method for received in receiver.received} == {"POST"}
    assert {received.path for received in receiver.received} == {"/hook?for=me"}


def test_whoever_registers_later_is_told_of_what_comes_then(bench: DelivererBench) -> None:
    with Receiver() as receiver:
        id_ = created(bench.store).task.id
        bench.register(id_, receiver.url, after=1)
        deliverer = bench.deliverer()
        assert deliverer.deliver_due() == 0
        bench.store.append(id_, [status(id_, TaskState.WORKING)])
        deliverer.deliver_due()
        assert receiver.sequences == [2]


def test_1_0_is_told_in_stream_responses_and_with_its_own_credentials(bench: DelivererBench) -> None:
    authentication = AuthenticationInfo(scheme="Bearer", credentials="receivers-own")
    with Receiver() as receiver:
        id_ = bench.task()
        bench.register(id_, receiver.url, token="receivers-token", authentication=authentication, after=2)
        bench.deliverer().deliver_due()
    (received,) = receiver.received
    assert received.headers["content-type"] == "application/a2a+json"
    assert received.headers["a2a-version"] == "1.0"
    assert received.headers["authorization"] == "Bearer receivers-own"
    assert received.headers["x-a2a-notification-token"] == "receivers-token"
    assert received.headers["x-a2a-notification-id"] == f"{id_}/p/3"
    update = received.json["statusUpdate"]
    assert (update["taskId"], update["status"]["state"]) == (id_, "TASK_STATE_COMPLETED")


def test_0_3_is_told_the_whole_task_as_it_was_at_each_event(bench: DelivererBench) -> None:
    with Receiver() as receiver:
        id_ = bench.task("a", "b")
        bench.register(id_, receiver.url, version=Version.V0_3, token="receivers-token", after=2)
        bench.deliverer().deliver_due()
    assert {event["kind"] for event in receiver.events} == {"task"}
    assert [event["status"]["state"] for event in receiver.events] == ["working", "working", "completed"]
    said = [
        "".join(part["text"] for artifact in event["artifacts"] for part in artifact["parts"])
        for event in receiver.events
    ]
    assert said == ["a", "ab", "ab"]
    headers = receiver.received[0].headers
    assert headers["x-a2a-notification-token"] == "receivers-token"
    assert headers["content-type"] == "application/json"
    assert "authorization" not in headers


@pytest.mark.parametrize("version", list(Version))
def test_what_the_user_said_is_not_sent_and_holds_nothing_up(bench: DelivererBench, version: Version) -> None:
    with Receiver() as receiver:
        id_ = created(bench.store).task.id
        said = Message(message_id="more", role=Role.USER, parts=(Part(text="more"),))
        bench.store.append(id_, [said, status(id_, TaskState.WORKING), said])
        bench.register(id_, receiver.url, version=version)
        deliverer = bench.deliverer()
        deliverer.deliver_due()
        assert receiver.sequences == [1, 3]
        assert bench.delivery(id_).delivered == 4
        assert deliverer.deliver_due() == 0


def test_a_receiver_that_was_down_gets_everything_in_order_when_it_is_back(bench: DelivererBench) -> None:
    with Receiver(200, 503, 503, 200) as receiver:
        id_ = bench.task("a", "b")
        bench.register(id_, receiver.url)
        deliverer = bench.deliverer()
        deliverer.deliver_due()
        assert (bench.delivery(id_).delivered, bench.delivery(id_).failures) == (1, 1)
        deliverer.deliver_due()
        assert len(receiver.received) == 2
        bench.clock.pass_by(2.0)
        deliverer.deliver_due()
        bench.clock.pass_by(4.0)
        deliverer.deliver_due()
        assert receiver.sequences == [1, 2, 2, 2, 3, 4, 5]
        assert bench.delivery(id_) == Delivery(push=bench.delivery(id_).push, delivered=5)


def test_a_receiver_that_nobody_can_reach_is_tried_again_and_its_name_is_not_in_the_log(
    bench: DelivererBench,
) -> None:
    with Receiver() as receiver:
        url = receiver.url
    id_ = bench.task()
    authentication = AuthenticationInfo(scheme="Bearer", credentials="receivers-own")
    bench.register(id_, url, token="receivers-token", authentication=authentication)
    deliverer = bench.deliverer(max_failures=2)
    deliverer.deliver_due()
    bench.clock.pass_by(HOUR)
    deliverer.deliver_due()
    first, second = bench.log
    assert (first["severity"], first["taskId"], first["againInSeconds"]) == ("INFO", id_, 2.0)
    assert second["severity"] == "ERROR"
    for secret in ("receivers-own", "receivers-token", "127.0.0.1", "hook"):
        assert secret.encode() not in b"".join(bench.log_lines)


def test_a_config_is_given_up_after_so_many_failures_in_a_row_and_says_why(bench: DelivererBench) -> None:
    with Receiver(500) as receiver:
        id_ = bench.task()
        bench.register(id_, receiver.url)
        deliverer = bench.deliverer(max_failures=3)
        with counted() as sums:
            for _ in range(5):
                deliverer.deliver_due()
                bench.clock.pass_by(HOUR)
    assert sums["a2a_hub.work.abandoned", "notification"] == 1
    assert len(receiver.received) == 3
    assert bench.delivery(id_).dead == "the receiver answered with status 500 (3 failed in a row)"
    assert bench.log[-1]["message"] == "A push notification config was given up"


def test_a_receiver_that_is_gone_is_not_asked_again(bench: DelivererBench) -> None:
    with Receiver(410) as receiver:
        id_ = bench.task()
        bench.register(id_, receiver.url)
        deliverer = bench.deliverer()
        deliverer.deliver_due()
        bench.clock.pass_by(HOUR)
        assert deliverer.deliver_due() == 0
    assert bench.delivery(id_).dead == "the receiver answered with status 410"


def test_a_config_that_is_registered_anew_lives_again(bench: DelivererBench) -> None:
    with Receiver(410, 200) as receiver:
        id_ = bench.task()
        bench.register(id_, receiver.url)
        deliverer = bench.deliverer()
        deliverer.deliver_due()
        bench.register(id_, receiver.url, after=1)
        deliverer.deliver_due()
        assert receiver.sequences == [1, 2, 3]


def test_a_receiver_is_not_asked_before_it_wants_to_be(bench: DelivererBench) -> None:
    bench.jitter = 0.0
    with Receiver(429, 200, retry_after="120") as receiver:
        id_ = bench.task()
        bench.register(id_, receiver.url)
        deliverer = bench.deliverer()
        deliverer.deliver_due()
        bench.clock.pass_by(110)
        assert deliverer.deliver_due() == 0
        bench.clock.pass_by(20)
        deliverer.deliver_due()
        assert receiver.sequences == [1, 1, 2, 3]


def test_deletion_stops_delivery_even_between_two_events(bench: DelivererBench) -> None:
    def behave(exchange: Exchange) -> None:
        bench.store.delete_config(id_, "p")
        exchange.answer(200)

    with Receiver(behave=behave) as receiver:
        id_ = bench.task("a", "b")
        bench.register(id_, receiver.url)
        bench.deliverer().deliver_due()
    assert receiver.sequences == [1]
    assert bench.store.configs(id_) == []


def test_a_redirect_is_not_followed_and_counts_as_a_refusal(bench: DelivererBench) -> None:
    with Receiver() as inside, Receiver(307, location=inside.url) as receiver:
        id_ = bench.task()
        bench.register(id_, receiver.url)
        bench.deliverer(max_refusals=1).deliver_due()
    assert inside.received == []
    assert bench.delivery(id_).dead == "the receiver answered with status 307"


def test_an_address_that_may_no_longer_be_notified_is_not(bench: DelivererBench) -> None:
    with Receiver() as receiver:
        id_ = bench.task()
        bench.register(id_, receiver.url)
        bench.deliverer(addresses=WebhookAddresses([]), max_refusals=1).deliver_due()
    assert receiver.received == []
    assert bench.delivery(id_).dead == "the URL must be an https URL"


def test_a_receiver_that_does_not_answer_holds_up_nobody_else(bench: DelivererBench) -> None:
    release = threading.Event()

    def behave(exchange: Exchange) -> None:
        release.wait(PATIENCE_SECONDS)
        exchange.answer(200)

    with Receiver(behave=behave) as slow, Receiver() as quick:
        for _ in range(100):
            bench.register(bench.task(), slow.url)
        bench.register(bench.task(), quick.url)
        deliverer = bench.deliverer(beside=True)
        deliverer.deliver_due()
        quick.await_sequences([1, 2, 3])
        deliverer.deliver_due()
        slow.await_sequences([1])
        assert len(slow.received) <= 8
        release.set()


def test_an_answer_that_never_ends_is_not_waited_for(bench: DelivererBench) -> None:
    def behave(exchange: Exchange) -> None:
        exchange.head(200, content_length="1000000000")
        exchange.wait_until_left()

    with Receiver(behave=behave) as receiver:
        id_ = bench.task()
        bench.register(id_, receiver.url)
        bench.deliverer(timeout_seconds=0.5).deliver_due()
        assert receiver.sequences == [1, 2, 3]
    assert bench.delivery(id_).delivered == 3


def test_two_deliverers_of_one_store_keep_the_order(bench: DelivererBench) -> None:
    with Receiver() as receiver:
        id_ = bench.task(*"abcdefghij")
        bench.register(id_, receiver.url)
        deliverers = [bench.deliverer(beside=True) for _ in range(3)]
        while bench.delivery(id_).delivered < 13:
            for deliverer in deliverers:
                deliverer.deliver_due()
        assert receiver.sequences == list(range(1, 14))
