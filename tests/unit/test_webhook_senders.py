"""Who sends notifications at once."""

from a2a_hub.a2a.model import TaskPushNotificationConfig
from a2a_hub.a2a.versions import Version
from a2a_hub.task_store.store import PushConfig
from functions.tasks.webhooks.delivery import MOST_AT_ONCE, Senders


def _push(number: int, *, receiver: str = "receiver.example") -> PushConfig:
    config = TaskPushNotificationConfig(url=f"https://{receiver}/{number}", id="p", task_id=f"task-{number}")
    return PushConfig(config=config, version=Version.V1_0)


def test_a_config_has_one_sender_at_a_time() -> None:
    senders = Senders()
    assert senders.begin(_push(1))
    assert not senders.begin(_push(1))
    senders.end(_push(1))
    assert senders.begin(_push(1))


def test_a_receiver_has_eight_and_another_one_as_soon_as_one_of_them_ends() -> None:
    senders = Senders()
    assert [senders.begin(_push(number)) for number in range(9)] == [True] * 8 + [False]
    assert senders.begin(_push(9, receiver="another.example"))
    senders.end(_push(0))
    assert senders.begin(_push(8))
    assert not senders.begin(_push(10))


def test_who_has_ended_counts_no_more() -> None:
    senders = Senders()
    for number in range(2 * MOST_AT_ONCE):
        assert senders.begin(_push(number))
        senders.end(_push(number))


def test_there_are_so_many_senders_altogether() -> None:
    senders = Senders()
    for number in range(MOST_AT_ONCE):
        assert not senders.full
        assert senders.begin(_push(number, receiver=f"{number}.example"))
    assert senders.full
    assert not senders.begin(_push(MOST_AT_ONCE, receiver="another.example"))
