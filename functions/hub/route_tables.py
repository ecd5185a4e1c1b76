"""The active route table with the router and agents built from it. A turn keeps the table that it started with."""

from collections.abc import Callable, Collection, Mapping

from msgspec import Struct, structs

from a2a_hub.a2a.card import AgentCard
from a2a_hub.a2a.errors import INVALID_PARAMS, A2AError
from a2a_hub.identity.principal import Principal
from a2a_hub.routing.router import Choice, Router, Rule
from a2a_hub.routing.routes import Route, RouteTable, may_use
from a2a_hub.settings.hub import HubSettings, card_for, public_card
from functions.hub.conversations import Conversation
from functions.hub.downstream.interface import Downstream
from functions.hub.turn import IncomingTurn

# A long text begins with its question; the rest is pasted material, which would take seconds to match.
_MAX_CHARACTERS = 20_000


class ActiveTable(Struct, frozen=True, kw_only=True):
    """An active route table with its router, agents (`downstreams`, by route id) and card."""

    settings: HubSettings
    router: Router
    downstreams: Mapping[str, Downstream]
    card: AgentCard

    @property
    def routes(self) -> Mapping[str, Route]:
        """The routes by id."""
        return self.settings.table.by_id

    def choose(self, incoming: IncomingTurn, text: str, conversation: Conversation | None) -> Choice:
        """Choose the route of a turn: the one whose task waits in this conversation, else the router's choice for the text.

        An action on a surface goes to the agent that made it.

        The result does not imply that the caller may use the route. Raises A2AError (INVALID_PARAMS) for an unknown skill and
        for a forbidden one alike.
        """
        routes, skill, principal = self.routes, incoming.skill, incoming.call.principal
        text = text[:_MAX_CHARACTERS]
        if skill is not None:
            if skill not in routes or not may_use(routes[skill], principal):
                field = incoming.skill_field
                known = ", ".join(each.id for each in routes.values() if may_use(each, principal))
                message = f"Invalid parameters: {field} is unknown; known are {known}"
                raise A2AError(INVALID_PARAMS, message, fields=((field, f"must be one of {known}"),))
            return self.router.choose(text, skill=skill)
        last = routes.get(conversation.route_id) if conversation else None
        if conversation is not None and incoming.acts_on is not None:
            owner = routes.get(conversation.surfaces.get(incoming.acts_on, ("", ""))[0])
            if owner is not None and may_use(owner, principal):
                reason = f'waiting: the action is on a surface of "{owner.id}"'
                return Choice(route=owner, rule=Rule.WAITING, words=(), reason=reason)
        if conversation is not None and conversation.waiting_task_id is not None and last:
            reason = f'waiting: the task of "{last.id}" in this conversation waits for an answer'
            return Choice(route=last, rule=Rule.WAITING, words=(), reason=reason)
        choice = self.router.choose(
            text,
            last_route=conversation.route_id if conversation else None,
            extension_route=self._route_of_extension(incoming.extensions, principal) if incoming.extensions else None,
        )
        if choice.rule is Rule.DEFAULT and conversation is not None and last and last.id in conversation.open_tasks:
            reason = f'open: no rule matched, and the task of "{last.id}" in this conversation can be continued'
            return Choice(route=last, rule=Rule.STICKY, words=(), reason=reason)
        return choice

    def _route_of_extension(self, extensions: Collection[str], principal: Principal | None) -> str | None:
        """Return the route of the highest priority that has one of these extensions and that the caller may use."""
        offering = [
            route
            for route in self.routes.values()
            if route.passes_tasks and not {*route.extensions}.isdisjoint(extensions) and may_use(route, principal)
        ]
        return max(offering, key=lambda route: route.priority).id if offering else None


class RouteTables:
    """The holder of the `current` table. Agents of unchanged routes are kept; `new_agent` makes the others."""

    def __init__(self, settings: HubSettings, new_agent: Callable[[Route], Downstream]) -> None:
        self._new_agent = new_agent
        self.current = self._activated(settings, {}, {})

    def activate(self, table: RouteTable, unset: tuple[str, ...]) -> None:
        """Activate a table for all turns that start from now on."""
        settings = structs.replace(self.current.settings, table=table, unset=unset)
        self.current = self._activated(settings, self.current.routes, self.current.downstreams)

    def routes(self) -> tuple[Route, ...]:
        """Return the routes of the current table."""
        return self.current.settings.table.routes

    def downstreams(self) -> Mapping[str, Downstream]:
        """Return the agents of the current table, by route id."""
        return self.current.downstreams

    def card(self) -> AgentCard:
        """Return the public card."""
        return self.current.card

    def card_for(self, principal: Principal | None) -> AgentCard:
        """Return the card with the routes that this caller may use."""
        routes = tuple(route for route in self.routes() if may_use(route, principal))
        return card_for(self.current.settings, routes)

    def _activated(
        self, settings: HubSettings, before: Mapping[str, Route], downstreams: Mapping[str, Downstream]
    ) -> ActiveTable:
        return ActiveTable(
            settings=settings,
            router=Router(settings.table),
            downstreams={
                route.id: downstreams[route.id] if before.get(route.id) == route else self._new_agent(route)
                for route in settings.table.routes
            },
            card=public_card(settings),
        )
