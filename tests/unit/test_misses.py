"""The misses of the last days, counted by several instances in one store."""

from typing import Any

import pytest

from a2a_hub.a2a.model import Message, Part, Role
from a2a_hub.routing.router import Choice, Rule
from a2a_hub.telemetry.log import Log
from a2a_hub.telemetry.outcome import Outcome
from a2a_hub.text.language import Language
from functions.hub.conversations import ContextIds, ProcessMemory
from functions.hub.misses import DAYS, Miss, Misses, MissKind
from functions.hub.turn import IncomingTurn, TurnRecord
from tests.fakes.hub import person, route

DOCS = route("docs", "http://127.0.0.1:9")


class Clock:
    """Seconds since the epoch."""

    def __init__(self) -> None:
        self.now = 1_000_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def _misses(store: ProcessMemory | None, clock: Clock, *, with_text: bool = True) -> Misses:
    log = Log(lambda _: None, clock=clock, new_id=lambda: "id", function="hub", with_text=with_text)
    return Misses(store, log=log, clock=clock)


def _turn(text: str, rule: Rule, metadata: dict[str, Any] | None = None, **fields: Any) -> TurnRecord:
    choice = Choice(route=DOCS, rule=rule, words=(), reason="because")
    incoming = IncomingTurn(
        call=person(),
        message=Message(message_id="m", role=Role.USER, parts=(Part(text=text),), metadata=metadata),
        context=ContextIds("c", "c"),
    )
    return TurnRecord(incoming=incoming, text=text, language=Language.EN, choice=choice, route=DOCS, **fields)


DECLINED = [{"route": "docs", "agent": "Docs", "reason": "nothing_known"}]


@pytest.mark.parametrize(
    ("turn", "outcome", "kind"),
    [
        (_turn("Why?", Rule.KEYWORD), None, None),
        (_turn("Why?", Rule.DEFAULT), None, MissKind.UNROUTED),
        (_turn("Why?", Rule.DEFAULT), Outcome.FAILED, MissKind.UNROUTED),
        (_turn("Why?", Rule.DEFAULT, declined=DECLINED), Outcome.UNANSWERED, MissKind.UNANSWERED),
        (_turn("Why?", Rule.KEYWORD, declined=DECLINED), None, MissKind.DECLINED),
        (_turn("Why?", Rule.KEYWORD), Outcome.UNANSWERED, MissKind.UNANSWERED),
        (_turn("Show this.", Rule.SKILL, {"document": {"uri": "a"}}), Outcome.UNANSWERED, None),
    ],
)
def test_a_turn_that_a_rule_took_and_an_agent_answered_is_no_miss(
    turn: TurnRecord, outcome: str | None, kind: MissKind | None, clock: Clock
) -> None:
    misses = _misses(None, clock)
    misses.note(turn, outcome)
    assert [miss for miss, _ in misses.counts()] == ([Miss(kind, "docs", "Why?")] if kind else [])


def test_texts_are_redacted_and_only_kept_where_the_log_has_them(clock: Clock) -> None:
    for with_text, text in ((True, "Who is [mail]?"), (False, "")):
        misses = _misses(None, clock, with_text=with_text)
        misses.note(_turn("Who is ada@example.com?", Rule.DEFAULT), None)
        assert [miss.text for miss, _ in misses.counts()] == [text]


def test_instances_count_together_the_most_frequent_first(clock: Clock) -> None:
    store = ProcessMemory(clock=clock)
    one, other = _misses(store, clock), _misses(store, clock)
    one.note(_turn("A?", Rule.DEFAULT), None)
    other.note(_turn("B?", Rule.DEFAULT), None)
    other.flush()
    clock.now += 86_400
    other.note(_turn("B?", Rule.DEFAULT), None)
    assert [(miss.text, count) for miss, count in one.counts()] == [("B?", 2), ("A?", 1)]


def test_an_instance_writes_once_a_minute(clock: Clock) -> None:
    store = ProcessMemory(clock=clock)
    misses, other = _misses(store, clock), _misses(store, clock)
    misses.note(_turn("A?", Rule.DEFAULT), None)
    assert list(other.counts()) == []
    clock.now += 61
    misses.note(_turn("A?", Rule.DEFAULT), None)
    assert [count for _, count in other.counts()] == [2]


def test_a_miss_is_forgotten_after_the_last_days(clock: Clock) -> None:
    misses = _misses(None, clock)
    misses.note(_turn("A?", Rule.DEFAULT), None)
    misses.flush()
    clock.now += (DAYS - 1) * 86_400
    assert list(misses.counts())
    clock.now += 86_400
    assert list(misses.counts()) == []


def test_counts_that_another_revision_wrote_break_nothing(clock: Clock) -> None:
    store = ProcessMemory(clock=clock)
    for part in range(4):
        key = f"{int(clock() // 86_400)} {part}"
        store.put_conversation("misses of the hub", key, b'[[["new", "docs", ""], 1]]', expires_at=clock() + 60)
    misses = _misses(store, clock)
    misses.note(_turn("A?", Rule.DEFAULT), None)
    assert [count for _, count in misses.counts()] == [1]
