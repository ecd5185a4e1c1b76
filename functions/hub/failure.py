"""A contained failure: one sentence for the user; the cause and the remedy for the operator."""

from enum import StrEnum
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from a2a_hub.a2a.client_errors import ClientFault
from a2a_hub.boundaries.sources import NoCredential
from a2a_hub.routing.routes import Route
from a2a_hub.telemetry.outcome import Outcome
from a2a_hub.text.rows import Rows


class FailureKind(StrEnum):
    """The kinds of failure that users can tell apart; the operator's record has details."""

    DOWN = "down"
    SLOW = "slow"
    NOT_ALLOWED = "not_allowed"
    NOT_PERMITTED = "not_permitted"
    UNTASKED = "untasked"
    NOT_FOUND = "not_found"
    BUSY = "busy"
    BROKEN = "broken"
    CUT = "cut"
    TOO_LARGE = "too_large"
    RESTING = "resting"
    LIMITED = "limited"
    FAILED = "failed"
    NOT_ACCEPTED = "not_accepted"
    UNSAFE_REQUEST = "unsafe_request"
    UNSAFE_ANSWER = "unsafe_answer"
    UNSCREENED = "unscreened"
    UNSCREENABLE = "unscreenable"
    INTERNAL = "internal"
    UNROUTED = "unrouted"


_UNSAFE = frozenset({FailureKind.UNSAFE_REQUEST, FailureKind.UNSAFE_ANSWER, FailureKind.UNSCREENABLE})
_REFUSALS = _UNSAFE | {FailureKind.NOT_PERMITTED, FailureKind.LIMITED, FailureKind.NOT_ACCEPTED}
# Waiting does not help: an administrator has to act.
_PERMANENT = frozenset({FailureKind.NOT_ALLOWED, FailureKind.NOT_FOUND})
# Not known to be over soon, but a person is told to try again, too.
_MAY_PASS = frozenset(
    {
        FailureKind.SLOW,
        FailureKind.BROKEN,
        FailureKind.CUT,
        FailureKind.UNSCREENED,
        FailureKind.INTERNAL,
        FailureKind.UNROUTED,
    }
)


class Failure(Struct, frozen=True, kw_only=True):
    """`fault` is the technical name, `cause` a sentence for the operator, `remedy` a command or a change, if one is known.

    `transient`: the agent is away, and may soon be back. `seconds_to_wait` is set where it is known: by a quota, by the agent's
    Retry-After, or by an open circuit if a wait helps; `opened_by` is the kind of the failure that opened it. `fields` are the
    parts of the request that the agent did not accept.
    """

    kind: FailureKind
    fault: str
    cause: str
    remedy: str | None = None
    http_status: int | None = None
    transient: bool = False
    seconds_to_wait: float | None = None
    opened_by: FailureKind | None = None
    fields: tuple[str, ...] = ()

    @property
    def retryable(self) -> bool:
        """True if the same request may succeed later."""
        return self.transient or self.kind in _MAY_PASS

    @property
    def concerns_turn(self) -> bool:
        """True if the failure concerns the turn and not the agent, so that no fallback is tried."""
        return self.fault == ClientFault.CANCELLED or self.kind in _UNSAFE

    @property
    def outcome(self) -> Outcome:
        """The outcome of a request that ends with it."""
        if self.fault == ClientFault.CANCELLED:
            return Outcome.CANCELLED
        return Outcome.REFUSED if self.kind in _REFUSALS else Outcome.FAILED

    @property
    def log_fields(self) -> dict[str, str]:
        """The cause, and the remedy if one is known, as fields of the log."""
        return {"cause": self.cause, **({"remedy": self.remedy} if self.remedy else {})}


class DownstreamFailed(Exception):
    """An agent gave no usable answer."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.cause)
        self.failure = failure


FAILURES = Rows(Path(__file__).with_name("failures.toml"), Failure, key="fault")


def failure_of(fault: str, route: Route | None, **values: object) -> Failure:
    """Return the failure of this name in failures.toml."""
    return FAILURES.filled(fault, route=route.id if route else "", **values)


def resting(opened_by: Failure, seconds: float) -> Failure:
    """Return the failure of a request while the circuit is open, which keeps the cause of the failure that opened it."""
    waiting_helps = opened_by.kind not in _PERMANENT
    return replace(
        opened_by,
        kind=FailureKind.RESTING,
        fault="circuit_open",
        cause=f"{opened_by.cause}; it failed repeatedly, and is tried again in {seconds:.0f} s",
        transient=waiting_helps,
        seconds_to_wait=seconds if waiting_helps else None,
        opened_by=opened_by.kind,
    )


def without_credential(missing: NoCredential) -> Failure:
    """Return the failure of a request that cannot get its credential."""
    return Failure(kind=FailureKind.NOT_ALLOWED, fault=missing.fault, cause=missing.cause, remedy=missing.remedy)


def without_armor(route: Route) -> Failure:
    """Return the failure of a route that is screened, at a hub that does not know with which template."""
    return unscreened(route, "request", "no template is set", "set MODEL_ARMOR_TEMPLATE of the hub")


def unscreened(route: Route, direction: str, cause: str, remedy: str | None) -> Failure:
    """Return the failure of a turn whose request or answer could not be screened."""
    failure = failure_of("unscreened", route, direction=direction, cause=cause)
    # The agent has done its work when its answer cannot be screened.
    return replace(failure, remedy=remedy, transient=direction == "request" and remedy is None)
