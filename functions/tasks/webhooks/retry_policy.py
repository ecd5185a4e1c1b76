"""The retry policy of push notifications: when a failed delivery is attempted again, and when it is given up."""

from collections.abc import Callable
from enum import Enum, auto

import msgspec
from msgspec import Struct

from a2a_hub.http.client import HttpFailure
from a2a_hub.http.messages import delay_of, seconds_of
from a2a_hub.task_store.store import Delivery
from a2a_hub.tasks.webhook_address import AddressRefused

_LONGEST_PAUSE_SECONDS = 3600.0
_MOST_DOUBLINGS = 12
_GONE = 410
# Client errors that may pass until the next attempt: Request Timeout, Too Early, Too Many Requests.
_PASSING = frozenset({408, 425, 429})


class Prospect(Enum):
    """The prospect of another attempt."""

    GOOD = auto()
    POOR = auto()
    NONE = auto()


class Failure(Struct, frozen=True, kw_only=True):
    """A failed attempt; `reason` is a sentence for the operator. `not_before_seconds` is the receiver's Retry-After."""

    reason: str
    prospect: Prospect = Prospect.GOOD
    not_before_seconds: float = 0.0


class RetryLimits(Struct, frozen=True, kw_only=True):
    """The consecutive failures that are tolerated: `most`, or `most_refusals` if the receiver rejects the content.

    At an average pause of half an hour, 150 take about three days; 10 take a quarter of an hour.
    """

    most: int = 150
    most_refusals: int = 10


def failure_of_status(status: int, retry_after: str | None, *, now: float) -> Failure | None:
    """Return the failure that an HTTP status means; None if the receiver accepted."""
    if 200 <= status < 300:
        return None
    reason = f"the receiver answered with status {status}"
    if status == _GONE:
        return Failure(reason=reason, prospect=Prospect.NONE)
    if status >= 500 or status in _PASSING:
        return Failure(reason=reason, not_before_seconds=_seconds(retry_after or "", now))
    return Failure(reason=reason, prospect=Prospect.POOR)


def failure_of_fault(failure: HttpFailure) -> Failure:
    """Return the failure of an attempt without an answer."""
    poor = isinstance(failure, AddressRefused)
    return Failure(reason=failure.detail, prospect=Prospect.POOR if poor else Prospect.GOOD)


def after_failure(
    delivery: Delivery, failure: Failure, *, limits: RetryLimits, now: float, random: Callable[[], float]
) -> Delivery:
    """Return the delivery with its next attempt, after a pause that doubles up to an hour with full jitter; or dead.

    `random` returns numbers from 0 to 1.
    """
    failures = delivery.failures + 1
    refusals = min(limits.most, limits.most_refusals)
    most = {Prospect.GOOD: limits.most, Prospect.POOR: refusals, Prospect.NONE: 1}
    if failures >= most[failure.prospect]:
        dead = f"{failure.reason} ({failures} failed in a row)" if failures > 1 else failure.reason
        return msgspec.structs.replace(delivery, failures=failures, dead=dead)
    pause = random() * min(_LONGEST_PAUSE_SECONDS, 2.0 ** min(failures, _MOST_DOUBLINGS))
    pause = max(pause, failure.not_before_seconds)
    return msgspec.structs.replace(delivery, failures=failures, next_attempt_at=now + pause)


def _seconds(retry_after: str, now: float) -> float:
    """Return the seconds of a Retry-After header (RFC 9110 §10.2.3), at most the longest pause; 0 if there is none."""
    delay = delay_of(retry_after)
    if delay is None:
        delay = (seconds_of(retry_after) or now) - now
    return min(max(delay, 0.0), _LONGEST_PAUSE_SECONDS)
