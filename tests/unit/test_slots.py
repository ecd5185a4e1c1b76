"""The slots for work that runs at once: one for each piece, and a share for each kind."""

from functions.tasks.slots import Slots


def test_a_piece_of_work_has_one_slot_at_a_time() -> None:
    slots = Slots(4, 4)
    slot = slots.acquire("config", "receiver")
    assert slot
    assert slots.acquire("config", "receiver") is None
    slots.release(slot)
    assert slots.acquire("config", "receiver")


def test_a_kind_has_its_share_and_another_slot_as_soon_as_one_of_them_is_free() -> None:
    slots = Slots(16, 8)
    taken = [slots.acquire(number, "receiver") for number in range(9)]
    assert [slot is not None for slot in taken] == [True] * 8 + [False]
    assert slots.acquire(9, "another")
    assert taken[0]
    slots.release(taken[0])
    assert slots.acquire(8, "receiver")
    assert slots.acquire(10, "receiver") is None


def test_what_has_ended_counts_no_more() -> None:
    slots = Slots(2, 1)
    for number in range(9):
        slot = slots.acquire(number, "receiver")
        assert slot
        slots.release(slot)


def test_there_are_so_many_slots_altogether() -> None:
    slots = Slots(3, 2)
    for number in range(3):
        assert not slots.full
        assert slots.acquire(number, f"receiver {number}")
    assert slots.full
    assert slots.acquire(3, "another") is None
