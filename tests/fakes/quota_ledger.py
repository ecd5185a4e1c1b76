"""The part of a store that quotas need, in memory, with a clock and outages that a test sets."""

from collections.abc import Callable
from functools import partial
from typing import Any, cast

from a2a_hub.quota.quotas import Counters
from a2a_hub.telemetry.log import Log


class Clock:
    """Stands still until it is told to go on."""

    def __init__(self, seconds: float = 6000.0) -> None:
        self.seconds = seconds

    def __call__(self) -> float:
        return self.seconds


class Ledger:
    """Claims by counter and holder. `calls` counts them all."""

    def __init__(self, clock: Clock) -> None:
        self.is_away = False
        self.calls = 0
        self.claims: dict[str, dict[str, tuple[int, float]]] = {}
        self._clock = clock

    def claim_quota(self, counter: str, holder: str, *, amount: int, limit: int, expires_at: float) -> int:
        self.calls += 1
        if self.is_away:
            raise ConnectionError("the store is away")
        holders = self.claims.setdefault(counter, {})
        others = sum(each for other, (each, until) in holders.items() if other != holder and until > self._clock())
        granted = max(0, min(amount, limit - others))
        holders[holder] = (granted, expires_at)
        return granted

    def total(self, counter: str) -> int:
        """All unexpired claims on a counter."""
        return sum(amount for amount, until in self.claims.get(counter, {}).values() if until > self._clock())


def counters(ledger: Ledger | None, clock: Clock, *, log: Log | None = None, max_counters: int = 10_000) -> Counters:
    """An instance whose claims are answered at once; a test calls `renew` itself."""

    def run(work: Callable[[], object]) -> None:
        if isinstance(work, partial):
            work()

    return Counters(cast("Any", ledger), log=log, now=clock, run=run, max_counters=max_counters)
