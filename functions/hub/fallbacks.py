"""Fallbacks: the agents of a turn in the order in which they are called, and how declining is detected."""

from collections.abc import Iterator, Mapping, Sequence

from a2a_hub.a2a.declining import Reason, is_undecided, reason_of
from a2a_hub.a2a.model import Event, Part
from a2a_hub.identity.principal import Principal
from a2a_hub.routing.router import Choice, Rule
from a2a_hub.routing.routes import Route, may_use
from functions.hub.failure import Failure

# The caller chose the agent, or the message means nothing to another one.
_CHOSEN = frozenset({Rule.SKILL, Rule.NAMED, Rule.WAITING})


class Declined(Exception):
    """The agent declined. `events` are its whole answer, none of which has reached the caller.

    If all agents of a turn decline, the caller gets the text of the first one with the lowest `rank`.
    """

    def __init__(self, reason: Reason, events: Sequence[Event]) -> None:
        super().__init__(reason.value)
        self.reason = reason
        self.events = events
        self.rank = list(Reason).index(reason)


class AgentSkipped(Exception):
    """A fallback or default agent failed before any of its answer reached the caller; the next one is called instead."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.cause)
        self.failure = failure


def candidates(
    choice: Choice, routes: Mapping[str, Route], principal: Principal | None, *, answered_by: str | None = ""
) -> tuple[Route, ...]:
    """Return the routes to call in order: the chosen one, and its fallbacks that the caller may use.

    A default that the caller may not use is replaced by its fallbacks. If the agent of a follow-up declines, the agent by which
    the conversation was last `answered_by` is called next, then the fallbacks without the default: that finds something near
    for nearly every text. `answered_by` is None for a text about the last answer, which means nothing to others.
    """
    if choice.rule in _CHOSEN or (choice.rule is Rule.FOLLOW_UP and answered_by is None):
        return (choice.route,)
    fallbacks = [routes[each] for each in choice.route.fallbacks if each in routes]
    if choice.rule is Rule.FOLLOW_UP:
        before = routes.get(answered_by or "")
        others = (each for each in fallbacks if not each.default and each is not before)
        fallbacks = [*filter(None, (before,)), *others]
    permitted = [route for route in fallbacks if route is not choice.route and may_use(route, principal)]
    if permitted and choice.rule is Rule.DEFAULT and not may_use(choice.route, principal):
        return tuple(permitted)
    return choice.route, *permitted


def takes_files(choice: Choice, files: Sequence[Part]) -> bool:
    """Return True if files without text go to this agent: the caller chose it, or it accepts their types."""
    types = {file.media_type for file in files}
    return choice.rule in (*_CHOSEN, Rule.FOLLOW_UP) or types <= {*choice.route.input_modes}


def unless_declined(events: Iterator[Event], *, by_default: bool) -> Iterator[Event]:
    """Yield the events, holding back the first ones until the agent answers or declines. Raises Declined.

    Failing to read its sources counts as an answer, unless the agent was called `by_default`.
    """
    held: list[Event] = []
    for event in events:
        held.append(event)
        reason = reason_of(event)
        if reason and (by_default or reason is not Reason.FAILED):
            raise Declined(reason, (*held, *events))
        if not is_undecided(event):
            break
    yield from held
    yield from events


def steps(declined: Sequence[Mapping[str, str]], answering: Route) -> str:
    """Return the suffix of a reason that names the agents that declined and the one that answers; "" if none declined."""
    if not declined:
        return ""
    names = ", ".join(f'"{each["route"]}" declined ({each["reason"]})' for each in declined)
    return f'; {names}, so "{answering.id}" answers'
