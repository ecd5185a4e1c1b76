"""The misses of the last days, counted for operators: texts that matched no rule, or that agents declined.

They are in the task store where one is configured, else in the process. An instance writes them once a minute to one of several
shards, so that no turn waits and instances rarely conflict.
"""

import secrets
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import StrEnum

import msgspec
from msgspec import Struct

from a2a_hub.routing.router import Rule
from a2a_hub.task_store.store import SharedState, Unavailable
from a2a_hub.telemetry.log import Log
from a2a_hub.telemetry.outcome import Outcome
from a2a_hub.telemetry.redaction import redacted
from functions.hub.conversations import ProcessMemory
from functions.hub.turn import TurnRecord

DAYS = 7
_DAY_SECONDS = 86_400
_EVERY_SECONDS = 60.0
_PARTS = 4
_MAX_ENTRIES = 300
_MAX_CHARACTERS = 200
# No subject of a caller has a blank.
_OWNER = "misses of the hub"


class MissKind(StrEnum):
    """The kind of a miss."""

    UNANSWERED = "unanswered"
    """No agent had an answer."""
    UNROUTED = "unrouted"
    """No rule matched."""
    DECLINED = "declined"
    """The agent of the chosen route declined, and another one answered."""


class Miss(Struct, frozen=True, array_like=True):
    """A key of the counts: `route` is the chosen one, `text` is "" unless the log has texts."""

    kind: MissKind
    route: str
    text: str


_COUNTS = msgspec.json.Decoder(list[tuple[Miss, int]])


class Misses:
    """The misses in `store`, or without one in the process. `clock` gives seconds since the epoch. Thread-safe."""

    def __init__(
        self, store: SharedState | ProcessMemory | None, *, log: Log, clock: Callable[[], float] = time.time
    ) -> None:
        self._store = store or ProcessMemory(clock=clock)
        self._log = log
        self._clock = clock
        self._lock = threading.Lock()
        self._part = secrets.randbelow(_PARTS)
        self._noted: defaultdict[int, Counter[Miss]] = defaultdict(Counter)
        self._flushed_at = clock()

    def note(self, turn: TurnRecord, outcome: str | None) -> None:
        """Count a turn that has ended, if it is a miss."""
        choice = turn.choice
        # A document that is not shown is no question without an answer.
        if choice is None or turn.kind == "document":
            return
        if outcome == Outcome.UNANSWERED:
            kind = MissKind.UNANSWERED
        elif choice.rule is Rule.DEFAULT:
            kind = MissKind.UNROUTED
        elif turn.declined:
            kind = MissKind.DECLINED
        else:
            return
        text = redacted(turn.text)[:_MAX_CHARACTERS] if self._log.with_text else ""
        with self._lock:
            noted = self._noted[self._today()]
            noted[Miss(kind, choice.route.id, text)] += 1
            is_due = len(noted) >= _MAX_ENTRIES or self._clock() >= self._flushed_at + _EVERY_SECONDS
        if is_due:
            self.flush()

    def flush(self) -> None:
        """Write the counts since the last flush. During an outage of the store, they are lost."""
        with self._lock:
            noted, self._noted = self._noted, defaultdict(Counter)
            self._flushed_at = now = self._clock()
        with suppress(Unavailable):
            for day, counts in noted.items():
                kept = (counts + self._read(day, self._part)).most_common(_MAX_ENTRIES)
                data, expires_at = msgspec.json.encode(kept), now + DAYS * _DAY_SECONDS
                self._store.put_conversation(_OWNER, _key(day, self._part), data, expires_at=expires_at)

    def counts(self) -> Iterator[tuple[Miss, int]]:
        """Yield the misses of the last days with their counts, the most frequent first. Raises Unavailable."""
        self.flush()
        total = Counter[Miss]()
        for day in range(self._today() - DAYS + 1, self._today() + 1):
            for part in range(_PARTS):
                total += self._read(day, part)
        yield from total.most_common(_MAX_ENTRIES)

    def _read(self, day: int, part: int) -> Counter[Miss]:
        data = self._store.conversation(_OWNER, _key(day, part))
        # Another revision of the hub may have written it.
        with suppress(msgspec.MsgspecError):
            return Counter(dict(_COUNTS.decode(data or b"[]")))
        return Counter()

    def _today(self) -> int:
        return int(self._clock() // _DAY_SECONDS)


def _key(day: int, part: int) -> str:
    return f"{day} {part}"
