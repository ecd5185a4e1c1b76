"""The hub's memory of conversations: in the store, each owner's own, and written only when something of it changed."""

import itertools
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest
from msgspec import structs

from a2a_hub.a2a.extensions.tool_updates import PendingTools
from a2a_hub.task_store.store import Unavailable
from a2a_hub.telemetry.log import Log
from a2a_hub.text.language import Language
from functions.hub.conversations import ContextIds, Conversation, Conversations, ProcessMemory, ids_of

ALPHA, BETA = Conversation(route_id="alpha"), Conversation(route_id="beta", waiting_task_id="t-1")
ONE = ContextIds("one", "one")
_DAY = 86_400.0


class Store(ProcessMemory):
    """A store that counts, and can be away."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__(clock=clock)
        self.reads = self.writes = 0
        self.away = False

    def conversation(self, owner: str, context_id: str) -> bytes | None:
        self.reads += 1
        if self.away:
            raise Unavailable("out of reach")
        return super().conversation(owner, context_id)

    def put_conversation(self, owner: str, context_id: str, data: bytes, *, expires_at: float) -> None:
        self.writes += 1
        if self.away:
            raise Unavailable("out of reach")
        super().put_conversation(owner, context_id, data, expires_at=expires_at)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def instances(number: int = 1) -> tuple[Store, Clock, list[Conversations]]:
    """Several hubs on one store."""
    clock = Clock()
    store = Store(clock)
    ticks = itertools.count()
    log = Log(lambda _: None, clock=lambda: float(next(ticks)), new_id=lambda: "id", function="hub")
    return store, clock, [Conversations(store, log=log, ttl_seconds=10 * _DAY, clock=clock) for _ in range(number)]


def same(found: Conversation | None, expected: Conversation) -> bool:
    return found is not None and structs.replace(found, stored_at=0.0) == expected


def test_the_process_forgets_the_conversation_that_was_stored_least_recently() -> None:
    memory = ProcessMemory(clock=lambda: 0.0, max_entries=2)
    for context in ("one", "two", "one", "three"):
        memory.put_conversation("hanako", context, context.encode(), expires_at=1.0)
    assert [memory.conversation("hanako", context) for context in ("one", "two", "three")] == [b"one", None, b"three"]


def test_the_process_has_room_for_so_many_bytes() -> None:
    memory = ProcessMemory(clock=lambda: 0.0, max_bytes=10)
    for context, size in (("one", 4), ("two", 4), ("two", 6), ("three", 3), ("four", 1), ("five", 11), ("six", 10)):
        memory.put_conversation("hanako", context, bytes(size), expires_at=1.0)
        if context == "four":
            kept = [len(memory.conversation("hanako", each) or b"") for each in ("one", "two", "three", "four")]
            assert kept == [0, 6, 3, 1]
    assert [len(memory.conversation("hanako", each) or b"") for each in ("four", "five", "six")] == [0, 0, 10]


def test_threads_that_store_one_conversation_use_up_no_room() -> None:
    memory = ProcessMemory(clock=lambda: 0.0, max_bytes=100)

    def store() -> None:
        for _ in range(2_000):
            memory.put_conversation("hanako", "one", bytes(10), expires_at=1.0)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            for each in [threads.submit(store) for _ in range(4)]:
                each.result()
    finally:
        sys.setswitchinterval(before)
    memory.put_conversation("hanako", "two", bytes(90), expires_at=1.0)
    assert memory.conversation("hanako", "one") == bytes(10)


def test_the_same_id_of_two_owners_is_two_conversations() -> None:
    _, _, (hub,) = instances()
    for owner, conversation in (("hanako", ALPHA), ("taro", BETA)):
        hub.open(owner, ONE).save(conversation)
    hub.forget_waiting("hanako", ONE)
    assert same(hub.open("hanako", ONE).conversation, ALPHA)
    assert same(hub.open("taro", ONE).conversation, BETA)


def test_what_one_instance_stores_the_next_turn_finds_on_another() -> None:
    pending = PendingTools(language=Language.JA, questions=())
    whole = Conversation(
        route_id="alpha",
        context_ids={"alpha": "its-own"},
        waiting_task_id="t-1",
        pending_tools=pending,
        open_tasks={"beta": "t-2"},
        delivered_artifacts={"a": "hash"},
    )
    _, _, (first, second) = instances(2)
    first.open("hanako", ONE).save(whole)
    assert same(second.open("hanako", ONE).conversation, whole)
    second.forget_waiting("hanako", ONE)
    assert same(
        first.open("hanako", ONE).conversation,
        Conversation(route_id="alpha", context_ids={"alpha": "its-own"}, open_tasks={"beta": "t-2"}),
    )


def test_a_turn_reads_once_and_writes_only_what_has_changed() -> None:
    store, _, (hub,) = instances()
    for conversation in (Conversation(), ALPHA, ALPHA, BETA, BETA):
        turn = hub.open("hanako", ONE)
        turn.save(conversation)
        turn.save(conversation)
    assert (store.reads, store.writes) == (5, 2)


def test_a_turn_in_a_context_of_the_hubs_own_making_reads_nothing_at_its_beginning() -> None:
    store, _, (hub,) = instances()
    ids = hub.ids_of("hanako", None)
    hub.open("hanako", ids).save(ALPHA)
    assert (store.reads, store.writes) == (0, 1)
    assert same(hub.open("hanako", hub.ids_of("hanako", ids.context_id)).conversation, ALPHA)
    assert store.reads == 1


def test_a_conversation_that_goes_on_does_not_expire() -> None:
    store, clock, (hub,) = instances()
    for _ in range(20):
        hub.open("hanako", ONE).save(ALPHA)
        clock.now += 2 * _DAY
        assert same(hub.open("hanako", ONE).conversation, ALPHA)
    assert store.writes == 20
    clock.now += 9 * _DAY
    assert hub.open("hanako", ONE).conversation is None


def test_while_the_store_is_away_the_process_remembers_and_what_the_store_has_is_not_replaced() -> None:
    store, clock, (hub, other) = instances(2)
    hub.open("hanako", ONE).save(BETA)
    store.away = True
    turn = hub.open("hanako", ONE)
    assert turn.conversation is None
    store.away = False
    turn.save(ALPHA)
    assert same(other.open("hanako", ONE).conversation, BETA)
    assert same(hub.open("hanako", ONE).conversation, ALPHA)
    clock.now += 5
    assert same(hub.open("hanako", ONE).conversation, BETA)
    store.away = True
    assert hub.open("hanako", ONE).conversation is None


def test_a_store_that_does_not_answer_is_not_waited_for_in_every_turn() -> None:
    store, clock, (hub,) = instances()
    store.away = True
    for _ in range(10):
        hub.open("hanako", ONE).save(ALPHA)
    assert (store.reads, store.writes) == (1, 0)
    clock.now += 5
    hub.open("hanako", hub.ids_of("hanako", None)).save(ALPHA)
    assert same(hub.open("hanako", ONE).conversation, ALPHA)
    assert (store.reads, store.writes) == (1, 1)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"route": 1}'])
def test_what_cannot_be_read_is_a_new_conversation(data: bytes) -> None:
    store, _, (hub,) = instances()
    store.put_conversation("hanako", "one", data, expires_at=2000.0)
    assert hub.open("hanako", ONE).conversation is None


def test_notes_and_data_of_other_revisions_of_the_hub_are_read() -> None:
    old = {
        "route": "alpha",
        "contexts": {"alpha": "its-own"},
        "waitingTask": None,
        "openTasks": {},
        "pendingTools": None,
        "told": {},
    }
    expected = Conversation(route_id="alpha", context_ids={"alpha": "its-own"})
    assert Conversation.from_note(old) == Conversation.from_note(old | {"later": 1}) == expected
    assert msgspec.to_builtins(expected).items() >= (old | {"surfaces": {}, "feedback": {}, "storedAt": 0.0}).items()


def test_a_tasks_own_conversation_goes_before_that_of_later_turns_which_know_other_agents() -> None:
    tasks = Conversation(
        route_id="alpha", context_ids={"alpha": "a"}, open_tasks={"alpha": "t-1", "beta": "ended", "gamma": "g"}
    )
    later = Conversation(route_id="beta", context_ids={"beta": "b"}, waiting_task_id="w", open_tasks={"gamma": "t-3"})
    merged = tasks.merged_with(later)
    assert (merged.route_id, merged.waiting_task_id) == ("alpha", None)
    assert merged.context_ids == {"alpha": "a", "beta": "b"}
    assert merged.open_tasks == {"alpha": "t-1", "gamma": "t-3"}
    assert tasks.merged_with(None) == tasks


def test_an_anonymous_caller_has_the_memory_of_ids_that_the_hub_minted_and_of_no_others() -> None:
    store, _, (hub,) = instances()
    minted = hub.ids_of("", None)
    again = ids_of("", minted.context_id)
    assert (again.downstream, again.has_memory) == (minted.downstream, True)
    assert minted.downstream != minted.context_id
    # An agent that knows its own id for the conversation cannot enter it with that.
    assert ids_of("", minted.downstream).downstream != minted.downstream
    own = [ids_of("", "my-own") for _ in range(2)]
    assert [each.context_id for each in own] == ["my-own"] * 2
    assert own[0].downstream != own[1].downstream
    assert [each.has_memory for each in own] == [False, False]
    hub.open("", own[0]).save(BETA)
    assert hub.open("", own[0]).conversation is None
    assert (store.reads, store.writes) == (0, 0)
