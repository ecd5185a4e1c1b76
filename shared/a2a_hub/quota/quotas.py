"""The quotas of callers and routes (docs/quotas.md tells which function enforces which), and their counters.

Instances share the counters: each leases a block of a limit ahead of need, so that no request waits for the store. A rate is
counted in windows and, within an instance, by a token bucket; a concurrency limit counts what is held
(docs/decisions/quotas.md).
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache, partial

from msgspec import Struct

from a2a_hub.a2a.errors import ServiceUnavailable
from a2a_hub.http.messages import Request
from a2a_hub.identity.authentication import Caller, Identify
from a2a_hub.identity.principal import Principal
from a2a_hub.quota.limits import CallerLimits, Quota, QuotaExceeded
from a2a_hub.runtime.ids import new_id
from a2a_hub.runtime.threads import Threads
from a2a_hub.task_store.store import SharedState, TaskStore, Usage
from a2a_hub.telemetry.log import Log, Record

GAUGE_SECONDS = 60.0
"""The lifetime of a claim on a concurrency limit; it is renewed three times within it. What a killed instance held is free
after it.
"""
_MAX_COUNTERS = 10_000
# A concurrency limit may be released at any time; a rate window gives nothing back before its end.
_REFUSED_GAUGE_SECONDS = 1.0
_REFUSED_RATE_SECONDS = 60.0
_MAX_WAIT_SECONDS = 1.0
_AWAY_SECONDS = 30.0
_FRESH_SECONDS = 5.0
_MAX_OWNERS = 10_000
_MEGABYTE = 1_000_000
_FULL_SECONDS = {Quota.RUNNING_TASKS: 10.0, Quota.STORED_TASKS: 3600.0, Quota.STORED_BYTES: 3600.0}


class _Counter(Struct):
    """A counter in this instance. `level` is that of its token bucket.

    `name` is that of its claim, which holds until `expires_at`; `claimed` is None before the store has answered. After a
    refusal, no larger claim is made before `refused_until`.
    """

    name: str
    limit: int
    is_gauge: bool = False
    used: int = 0
    claimed: int | None = None
    expires_at: float = 0.0
    refused_until: float = 0.0
    is_claiming: bool = False
    level: float = 0.0
    counted_at: float = 0.0

    @property
    def first_block(self) -> int:
        """The number that an instance may use before the store has answered, and so the maximum overshoot."""
        return max(1, self.limit // 40)

    @property
    def next_block(self) -> int:
        """Half of what was used, at most a tenth of the limit, so that little of it lies idle in one instance."""
        return max(self.first_block, min(self.used // 2, self.limit // 10))

    @property
    def left(self) -> int:
        """The number that may still be used without a further claim."""
        return (self.first_block if self.claimed is None else self.claimed) - self.used

    def begin(self, name: str, expires_at: float) -> None:
        """Begin a window, or a claim after one that has expired."""
        self.name, self.expires_at, self.claimed, self.refused_until = name, expires_at, None, 0.0

    def needs_claim(self, now: float) -> bool:
        """Return True if less than half a block is left, and the store may have more."""
        is_open = not self.is_claiming and now >= self.refused_until and (self.claimed or 0) < self.limit
        return is_open and 2 * self.left <= self.next_block


class Counters:
    """The counters of one instance, bounded: the least recently used rate goes first. Thread-safe.

    Without a `store`, and while it is away, the limits hold in this instance. `now` returns seconds since the epoch; `run`
    starts work in a thread of its own. No request waits longer than `max_wait_seconds` for the store.
    """

    def __init__(
        self,
        store: SharedState | None = None,
        *,
        log: Log | None = None,
        now: Callable[[], float] = time.time,
        run: Callable[[Callable[[], object]], object] | None = None,
        max_counters: int = _MAX_COUNTERS,
        max_wait_seconds: float = _MAX_WAIT_SECONDS,
    ) -> None:
        self._store = store
        self._log = log
        self._now = now
        self._run = run or Threads("quotas").run
        self._max_counters = max_counters
        self._max_wait_seconds = max_wait_seconds
        self._changed = threading.Condition()
        self._rates: OrderedDict[str, _Counter] = OrderedDict()
        self._gauges: dict[str, _Counter] = {}
        self._holder = ""
        self._away_until = 0.0

    def take(self, name: str, limit: int, *, seconds: int) -> float:
        """Take one of `limit` in `seconds`, and return 0; if there is none, return the seconds until there may be one."""
        with self._changed:
            now = self._now()
            counter = self._rates.get(name)
            if counter is None:
                counter = self._rates[name] = _Counter(name, limit, counted_at=now)
            counter.limit = limit
            self._rates.move_to_end(name)
            if len(self._rates) > self._max_counters:
                self._rates.popitem(last=False)
            if now >= counter.expires_at:
                window = now // seconds
                counter.used = 0
                counter.begin(f"{name}/{window:.0f}", (window + 1) * seconds)
            counter.level = max(0.0, counter.level - (now - counter.counted_at) * limit / seconds)
            counter.counted_at = now
            wait = max(0.0, (counter.level + 1 - limit) * seconds / limit)
            if not self._has_left(counter):
                wait = max(wait, counter.expires_at - now, 1.0)
            if wait:
                return wait
            counter.used += 1
            counter.level += 1
        return 0.0

    def hold(self, name: str, limit: int) -> Callable[[], None] | None:
        """Hold one of `limit` until the returned function is called, once; None if there is none."""
        with self._changed:
            starts_renewal = not self._gauges
            counter = self._gauges.setdefault(name, _Counter(name, limit, is_gauge=True))
            counter.limit = limit
            if self._now() >= counter.expires_at:
                counter.begin(name, self._now() + GAUGE_SECONDS)
            held = self._has_left(counter)
            counter.used += held
        if starts_renewal:
            self._run(self._renew_repeatedly)
        return partial(self._give_back, counter) if held else None

    def renew(self) -> bool:
        """Renew the claims of what is held, and give back what is not; return False if nothing is held."""
        with self._changed:
            for counter in [each for each in self._gauges.values() if not each.is_claiming]:
                counter.expires_at = self._now() + GAUGE_SECONDS
                if not counter.used:
                    del self._gauges[counter.name]
                self._claim(counter, counter.used and counter.used + counter.next_block)
            return bool(self._gauges)

    def _renew_repeatedly(self) -> None:
        pause = threading.Event()
        while not pause.wait(GAUGE_SECONDS / 3) and self.renew():
            pass

    def _give_back(self, counter: _Counter) -> None:
        with self._changed:
            counter.used -= 1

    def _has_left(self, counter: _Counter) -> bool:
        """Return True if this instance may use one more. Waits for the store if its block is used up."""
        while self._store is not None and self._now() >= self._away_until:
            if counter.needs_claim(self._now()):
                self._claim(counter, counter.used + counter.next_block)
            elif counter.left > 0 or not counter.is_claiming:
                return counter.left > 0
            elif not self._changed.wait(self._max_wait_seconds):
                self._away_until = self._now() + _AWAY_SECONDS
        return not counter.is_gauge or counter.used < counter.limit

    def _claim(self, counter: _Counter, amount: int) -> None:
        """Have the counter's claim set to `amount` in another thread."""
        if self._store is not None and self._now() >= self._away_until:
            counter.is_claiming = True
            self._run(partial(self._claim_now, self._store, counter, counter.name, min(amount, counter.limit)))

    def _claim_now(self, store: SharedState, counter: _Counter, name: str, amount: int) -> None:
        # Made here, since a function may be forked before its first request.
        self._holder = self._holder or new_id()
        granted = None
        try:
            granted = store.claim_quota(
                name, self._holder, amount=amount, limit=counter.limit, expires_at=counter.expires_at
            )
        except Exception:
            if self._log is not None:
                self._log.exception("The store does not share the quotas: each instance has its own for now", {})
        with self._changed:
            counter.is_claiming = False
            # A late answer ends what looked like an outage, such as the first connection of an instance.
            self._away_until = self._now() + _AWAY_SECONDS if granted is None else 0.0
            if granted is not None and counter.name == name:
                counter.claimed = granted
                if granted < amount:
                    refused_seconds = _REFUSED_GAUGE_SECONDS if counter.is_gauge else _REFUSED_RATE_SECONDS
                    counter.refused_until = min(counter.expires_at, self._now() + refused_seconds)
            self._changed.notify_all()


DAY_SECONDS = 86_400
_ANONYMOUS = "anonymous:"
_RETRY_SECONDS = 5.0


class Quotas:
    """The quotas that are counted. Thread-safe. The methods raise QuotaExceeded."""

    def __init__(self, limits: CallerLimits, counters: Counters) -> None:
        self._limits = limits
        self._counters = counters

    def with_request_quota(self, identify: Identify, *, behind_gate: bool = False) -> Identify:
        """Return `identify` with a count of each caller's requests. A gate in front has counted its own, and anonymous ones."""

        def identify_and_count(request: Request, record: Record) -> Caller:
            caller = identify(request, record)
            if not (caller.through_gate or (behind_gate and caller.principal is None)):
                self.count_request(caller.principal)
            return caller

        return identify_and_count

    def count_request(self, principal: Principal | None) -> None:
        """Count a request of a caller."""
        subject = _subject(principal)
        is_anonymous = subject.startswith(_ANONYMOUS)
        limit = self._limits.anonymous_per_minute if is_anonymous else self._limits.requests_per_minute
        self.count(Quota.REQUESTS, subject, limit)

    def count_model_call(self, principal: Principal | None) -> None:
        """Count a model's call for a caller."""
        self.count(Quota.MODEL_CALLS, _subject(principal), self._limits.model_calls_per_day, seconds=DAY_SECONDS)

    def open_stream(self, principal: Principal | None) -> Callable[[], None]:
        """Count an open stream of a caller until the returned function is called."""
        return self.hold(Quota.STREAMS, _subject(principal), self._limits.streams)

    def count(self, quota: Quota, subject: str, limit: int, *, seconds: int = 60) -> None:
        """Count one of `limit` in `seconds`; 0 is no limit."""
        wait = self._counters.take(f"{quota}/{subject}", limit, seconds=seconds) if limit else 0.0
        if wait:
            raise QuotaExceeded(quota, wait)

    def hold(self, quota: Quota, subject: str, limit: int) -> Callable[[], None]:
        """Count one of `limit` until the returned function is called; 0 is no limit."""
        give_back = self._counters.hold(f"{quota}/{subject}", limit) if limit else _nothing
        if give_back is None:
            raise QuotaExceeded(quota, _RETRY_SECONDS)
        return give_back


def _nothing() -> None:
    """Do nothing: no limit, nothing to release."""


def _subject(principal: Principal | None) -> str:
    return principal.subject if principal else _ANONYMOUS


class _Known(Struct):
    """The usage of an owner as it was read last, and the number of tasks that this instance has admitted since."""

    usage: Usage = Usage(tasks=0, size_bytes=0, active=0)
    read_at: float = 0.0
    admitted: int = 0


class TaskQuota:
    """The admission of new tasks. It waits for the store only if the owner seems to have reached a limit. Thread-safe."""

    def __init__(
        self,
        limits: CallerLimits,
        store: TaskStore,
        *,
        now: Callable[[], float] = time.time,
        run: Callable[[Callable[[], object]], object] | None = None,
    ) -> None:
        self._limits = limits
        self._store = store
        self._now = now
        self._run = run or Threads("quotas").run
        self._known = lru_cache(_MAX_OWNERS)(lambda _: _Known())

    def check_new_task(self, owner: str) -> None:
        """Raise QuotaExceeded if the owner has as many tasks as it may have. An outage of the store refuses nobody."""
        if not (self._limits.running_tasks or self._limits.stored_tasks or self._limits.stored_megabytes):
            return
        known = self._known(owner)
        if self._exceeded(known) is not None:
            if self._read(owner, known, known.admitted) and (quota := self._exceeded(known)) is not None:
                raise QuotaExceeded(quota, _FULL_SECONDS[quota])
        elif self._now() >= known.read_at + _FRESH_SECONDS:
            known.read_at = self._now()
            self._run(partial(self._read, owner, known, known.admitted))
        known.admitted += 1

    def _read(self, owner: str, known: _Known, admitted: int) -> bool:
        """Return True if the usage could be read; `admitted` of the tasks that were admitted here are then part of it."""
        try:
            known.usage = self._store.usage(owner)
        except ServiceUnavailable:
            return False
        known.admitted -= admitted
        return True

    def _exceeded(self, known: _Known) -> Quota | None:
        """Return the quota that leaves no room for one more task."""
        limits, usage = self._limits, known.usage
        counted = (
            (Quota.RUNNING_TASKS, usage.active + known.admitted, limits.running_tasks),
            (Quota.STORED_TASKS, usage.tasks + known.admitted, limits.stored_tasks),
            (Quota.STORED_BYTES, usage.size_bytes, limits.stored_megabytes * _MEGABYTE),
        )
        return next((quota for quota, number, limit in counted if limit and number >= limit), None)
