"""A contained failure: one sentence for the user; the cause and the remedy for the operator."""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from a2a_hub.a2a.client_errors import ClientFault
from a2a_hub.boundaries.sources import NoCredential
from a2a_hub.routing.routes import Route
from a2a_hub.telemetry.outcome import Outcome


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
# Until an administrator has done something, no wait helps.
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
        """True if it is not the agent's, and another agent is not asked instead."""
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


def not_permitted(route: Route) -> Failure:
    """Return the failure of a caller who may not use the route."""
    return Failure(
        kind=FailureKind.NOT_PERMITTED,
        fault="not_permitted",
        cause=f"{route.id}: neither the route's allow_… lists nor the caller's credential let this caller use it",
        remedy=f"add the caller's domain, email or client to route {route.id} in routes.toml",
    )


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


def limited(route: Route, quota: str, seconds: float) -> Failure:
    """Return the failure of a turn beyond a quota of the route, or the caller's of model calls."""
    return Failure(
        kind=FailureKind.LIMITED,
        fault="quota",
        cause=f"{route.id}: the quota of {quota} is used up for {seconds:.0f} s",
        remedy="raise the quota, if it is too small: docs/quotas.md says where each is set",
        transient=True,
        seconds_to_wait=seconds,
    )


def unaddressed(route: Route, variable: str) -> Failure:
    """Return the failure of a route whose address is a variable that is not set."""
    return Failure(
        kind=FailureKind.DOWN,
        fault="url_not_set",
        cause=f"{route.id}: the hub does not know the agent's address",
        remedy=f"set {variable} to the address of the agent",
    )


def without_credential(missing: NoCredential) -> Failure:
    """Return the failure of a request that cannot get its credential."""
    return Failure(kind=FailureKind.NOT_ALLOWED, fault=missing.fault, cause=missing.cause, remedy=missing.remedy)


def without_tool(route: Route) -> Failure:
    """Return the failure of a route to an MCP server where nothing says which tool is called."""
    return Failure(
        kind=FailureKind.DOWN,
        fault="no_tool",
        cause=f"{route.id}: nothing says which tool of the MCP server is called",
        remedy=f"set tool and text_argument of route {route.id} in routes.toml, or MCP_MODEL of the hub",
    )


def without_tasks(route: Route) -> Failure:
    """Return the failure of a turn for pull workers that cannot be stored for them."""
    return Failure(
        kind=FailureKind.UNTASKED,
        fault="no_stored_task",
        cause=f"{route.id}: its workers fetch stored tasks; this caller, or this path, has none",
        remedy="set TASK_STORE, and send the request as A2A message/send or message/stream with a credential",
    )


def unsafe(route: Route, direction: str, filters: Sequence[str]) -> Failure:
    """Return the failure of a turn whose request or answer, the `direction`, the safety check does not let pass."""
    return Failure(
        kind=FailureKind(f"unsafe_{direction}"),
        fault=f"unsafe_{direction}",
        cause=f"{route.id}: filters of Model Armor matched the {direction}: {', '.join(filters)}",
        remedy=f"look at the filters of the template; safety of route {route.id} says what becomes of a match",
    )


def without_armor(route: Route) -> Failure:
    """Return the failure of a route that is screened, at a hub that does not know with which template."""
    return unscreened(route, "request", "no template is set", "set MODEL_ARMOR_TEMPLATE of the hub")


def unscreened(route: Route, direction: str, cause: str, remedy: str | None) -> Failure:
    """Return the failure of a turn whose request or answer could not be screened."""
    return Failure(
        kind=FailureKind.UNSCREENED,
        fault="unscreened",
        cause=f"{route.id}: the {direction} was not screened: {cause}",
        remedy=remedy,
        # The agent has done its work when its answer cannot be screened.
        transient=direction == "request" and remedy is None,
    )


def unscreenable(route: Route, direction: str) -> Failure:
    """Return the failure of a turn with a file that the safety check cannot read."""
    return Failure(
        kind=FailureKind.UNSCREENABLE,
        fault="unscreenable_file",
        cause=f"{route.id}: the {direction} has a file that is neither text nor a document which Model Armor can read",
    )


def failed_task(route: Route, state: str) -> Failure:
    """Return the failure of a task that the agent itself ended without an answer."""
    return Failure(
        kind=FailureKind.FAILED, fault=f"task_{state}", cause=f"{route.id}: the agent ended its task as {state}"
    )


def internal(route: Route) -> Failure:
    """Return the failure of a defect of the hub's during a call; its stack is in the log."""
    return Failure(kind=FailureKind.INTERNAL, fault="internal", cause=f"{route.id}: an exception inside the hub")


def unrouted() -> Failure:
    """Return the failure of a defect of the hub's before a route was chosen; its stack is in the log."""
    return Failure(
        kind=FailureKind.UNROUTED,
        fault="internal",
        cause="an exception inside the hub while the route was chosen",
        remedy="see the stack in the hub's log, and `hubctl check`",
    )
