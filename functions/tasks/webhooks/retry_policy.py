"""What becomes of a delivery after an attempt that failed: when the next one comes, and when there is none."""

from __future__ import annotations

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
# Client errors that may be gone at the next attempt: Request Timeout, Too Early, Too Many Requests.
_PASSING = frozenset({408, 425, 429})


class Prospect(Enum):
    """What another attempt promises."""

    GOOD = auto()
    POOR = auto()
    NONE = auto()


class Failure(Struct, frozen=True, kw_only=True):
    """Why an attempt failed, as a sentence for the operator. The receiver asks not to be tried before `not_before_seconds`."""

    reason: str
    prospect: Prospect = Prospect.GOOD
    not_before_seconds: float = 0.0


class Attempts(Struct, frozen=True, kw_only=True):
    """How many failures in a row there may be: `most`, or `most_refusals` where the receiver refuses what it gets.

    With pauses of half an hour on average, 150 are about three days, and 10 a quarter of an hour.
    """

    most: int = 150
    most_refusals: int = 10


def of_answer(status: int, retry_after: str | None, *, now: float) -> Failure | None:
    """Why an answer with this status is a failure; None where the receiver has accepted."""
    if 200 <= status < 300:
        return None
    reason = f"the receiver answered with status {status}"
    if status == _GONE:
        return Failure(reason=reason, prospect=Prospect.NONE)
    if status >= 500 or status in _PASSING:
        return Failure(reason=reason, not_before_seconds=_seconds(retry_after or "", now))
    return Failure(reason=reason, prospect=Prospect.POOR)


def of_fault(failure: HttpFailure) -> Failure:
    """The failure of an attempt that had no answer."""
    poor = isinstance(failure, AddressRefused)
    return Failure(reason=failure.detail, prospect=Prospect.POOR if poor else Prospect.GOOD)


def after_failure(
    delivery: Delivery, failure: Failure, *, attempts: Attempts, now: float, random: Callable[[], float]
) -> Delivery:
    """The delivery with its next attempt, after a pause that doubles up to an hour, with full jitter; or dead, with the reason.

    `random` gives numbers from 0 to 1.
    """
    failures = delivery.failures + 1
    if failures >= _most(failure, attempts):
        dead = f"{failure.reason} ({failures} failed in a row)" if failures > 1 else failure.reason
        return msgspec.structs.replace(delivery, failures=failures, dead=dead)
    pause = random() * min(_LONGEST_PAUSE_SECONDS, 2.0 ** min(failures, _MOST_DOUBLINGS))
    pause = max(pause, failure.not_before_seconds)
    return msgspec.structs.replace(delivery, failures=failures, next_attempt_at=now + pause)


def _most(failure: Failure, attempts: Attempts) -> int:
    match failure.prospect:
        case Prospect.GOOD:
            return attempts.most
        case Prospect.POOR:
            return min(attempts.most, attempts.most_refusals)
        case Prospect.NONE:
            return 1


def _seconds(retry_after: str, now: float) -> float:
    """What Retry-After asks for (RFC 9110 §10.2.3), at most the longest pause; 0 where it says nothing."""
    delay = delay_of(retry_after)
    if delay is None:
        delay = (seconds_of(retry_after) or now) - now
    return min(max(delay, 0.0), _LONGEST_PAUSE_SECONDS)
