"""A contained failure: one sentence for the user, and for the operator the cause and what mends it."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class FailureKind(StrEnum):
    """What the user is told apart; the operator's record says more."""

    DOWN = "down"
    SLOW = "slow"
    NOT_ALLOWED = "not_allowed"
    NOT_PERMITTED = "not_permitted"
    NOT_FOUND = "not_found"
    BUSY = "busy"
    BROKEN = "broken"
    CUT = "cut"
    TOO_LARGE = "too_large"
    RESTING = "resting"
    FAILED = "failed"
    INTERNAL = "internal"


class Failure(Struct, frozen=True, kw_only=True):
    """`fault` is the technical name, `cause` a sentence for the operator, `remedy` what to run or change, where that is known.

    `seconds_to_wait` is set while the circuit is open: the hub tries again after it.
    """

    kind: FailureKind
    fault: str
    cause: str
    remedy: str | None = None
    http_status: int | None = None
    seconds_to_wait: float | None = None


class DownstreamFailed(Exception):
    """A downstream agent gave no usable answer."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.cause)
        self.failure = failure
