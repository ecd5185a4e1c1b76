"""Push notifications are delivered from each store alike."""

import pytest

from a2a_hub.a2a.model import Version
from tests.contract.task_store.stores import Clock, Store
from tests.fakes.webhook_receiver import Receiver
from tests.integration.push_deliverer import DelivererBench


@pytest.mark.parametrize("version", list(Version))
def test_a_receiver_that_fails_in_between_gets_everything_in_order(
    store: Store, other: Store, clock: Clock, version: Version
) -> None:
    bench, another = DelivererBench(store, clock), DelivererBench(other, clock)
    with Receiver(200, 503, 200) as receiver:
        task_id = bench.task("a", "b")
        bench.register(task_id, receiver.url, version=version)
        assert bench.deliverer().deliver_due() == 1
        assert another.delivery(task_id).failures == 1
        assert another.deliverer().deliver_due() == 0
        clock.pass_by(3)
        assert another.deliverer().deliver_due() == 1
        assert receiver.sequences == [1, 2, 2, 3, 4, 5]
        assert bench.deliverer().deliver_due() == 0
        assert bench.delivery(task_id).delivered == 5


def test_a_config_that_was_given_up_is_not_looked_at_again(store: Store, clock: Clock) -> None:
    bench = DelivererBench(store, clock)
    with Receiver(410) as receiver:
        task_id = bench.task()
        bench.register(task_id, receiver.url)
        bench.deliverer().deliver_due()
        clock.pass_by(100_000)
        assert bench.deliverer().deliver_due() == 0
        assert len(receiver.received) == 1
    assert bench.delivery(task_id).dead
