"""The share of each receiver in the notifications that are sent at once."""

from a2a_hub.a2a.model import TaskPushNotificationConfig, Version
from a2a_hub.task_store.store import PushConfig
from functions.tasks.webhooks.delivery import MOST_AT_ONCE, SenderSlots


def _push(number: int, *, receiver: str = "receiver.example") -> PushConfig:
    config = TaskPushNotificationConfig(url=f"https://{receiver}/{number}", id="p", task_id=f"task-{number}")
    return PushConfig(config=config, version=Version.V1_0)


def test_a_config_has_one_sender_at_a_time() -> None:
    slots = SenderSlots()
    assert slots.acquire(_push(1))
    assert not slots.acquire(_push(1))
    slots.release(_push(1))
    assert slots.acquire(_push(1))


def test_a_receiver_has_eight_and_another_one_as_soon_as_one_of_them_ends() -> None:
    slots = SenderSlots()
    assert [slots.acquire(_push(number)) for number in range(9)] == [True] * 8 + [False]
    assert slots.acquire(_push(9, receiver="another.example"))
    slots.release(_push(0))
    assert slots.acquire(_push(8))
    assert not slots.acquire(_push(10))


def test_who_has_ended_counts_no_more() -> None:
    slots = SenderSlots()
    for number in range(2 * MOST_AT_ONCE):
        assert slots.acquire(_push(number))
        slots.release(_push(number))


def test_there_are_so_many_senders_altogether() -> None:
    slots = SenderSlots()
    for number in range(MOST_AT_ONCE):
        assert not slots.full
        assert slots.acquire(_push(number, receiver=f"{number}.example"))
    assert slots.full
    assert not slots.acquire(_push(MOST_AT_ONCE, receiver="another.example"))
