"""Which route a turn takes: the task that waits in this conversation, else the router; only among what the caller may use."""

from __future__ import annotations

from collections.abc import Mapping

from a2a_hub.a2a.errors import INVALID_PARAMS, A2AError
from a2a_hub.routing.router import Choice, Router, Rule, UnknownSkill
from a2a_hub.routing.routes import Route, may_use
from functions.hub.conversations import Conversation
from functions.hub.turn import IncomingTurn

# What a text is about stands at its beginning; the rest is pasted material, and reading it all would hold a thread for seconds.
_MOST_CHARACTERS = 20_000


def choose(
    text: str,
    incoming: IncomingTurn,
    conversation: Conversation | None,
    *,
    router: Router,
    routes: Mapping[str, Route],
) -> Choice:
    """The choice for this turn; whether the caller may use the route that the text leads to is not looked at here.

    Raises A2AError (INVALID_PARAMS) for a skill that no route has, or none that the caller may use: both look the same.
    """
    skill = incoming.skill
    if skill is not None and skill in routes and not may_use(routes[skill], incoming.principal):
        raise _unknown(routes, incoming)
    if skill is None and conversation is not None and conversation.waiting_task_id is not None:
        route = routes.get(conversation.route_id)
        if route is not None:
            reason = f'waiting: the task of "{route.id}" in this conversation waits for an answer'
            return Choice(route=route, rule=Rule.WAITING, words=(), reason=reason)
    try:
        choice = router.choose(
            text[:_MOST_CHARACTERS], skill=skill, last_route=conversation.route_id if conversation else None
        )
    except UnknownSkill:
        raise _unknown(routes, incoming) from None
    if (
        choice.rule is Rule.DEFAULT
        and conversation is not None
        and conversation.route_id in conversation.open_tasks
    ):
        route = routes.get(conversation.route_id)
        if route is not None:
            reason = f'open: no rule matched, and the task of "{route.id}" in this conversation can be gone on with'
            return Choice(route=route, rule=Rule.STICKY, words=(), reason=reason)
    return choice


def _unknown(routes: Mapping[str, Route], incoming: IncomingTurn) -> A2AError:
    known = ", ".join(route.id for route in routes.values() if may_use(route, incoming.principal))
    return A2AError(
        INVALID_PARAMS,
        f"Invalid parameters: {incoming.skill_field} is unknown; known are {known}",
        fields=((incoming.skill_field, f"must be one of {known}"),),
    )
