"""The route table in use and everything made of it. A turn keeps the table that it began with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct, structs

from a2a_hub.a2a.card import AgentCard
from a2a_hub.identity.principal import Principal
from a2a_hub.routing.router import Router
from a2a_hub.routing.routes import Route, RouteTable, may_use
from a2a_hub.settings.hub import HubSettings, card_for, public_card
from functions.hub.downstream.interface import Downstream


class Served(Struct, frozen=True, kw_only=True):
    """One table in use. `downstreams` are the agents by route id."""

    settings: HubSettings
    router: Router
    downstreams: Mapping[str, Downstream]
    card: AgentCard

    @property
    def routes(self) -> Mapping[str, Route]:
        """The routes by id."""
        return self.settings.table.by_id


class DownstreamFactory(Protocol):
    """Makes the agents of routes."""

    def downstream(self, route: Route) -> Downstream:
        """Return the route's agent."""
        ...


class FixedDownstreams:
    """Agents by route id that are there already."""

    def __init__(self, downstreams: Mapping[str, Downstream]) -> None:
        self._downstreams = downstreams

    def downstream(self, route: Route) -> Downstream:
        """Return the route's agent."""
        return self._downstreams[route.id]


class Tables:
    """`now` is the table in use. The agent of a route that did not change is kept."""

    def __init__(self, settings: HubSettings, factory: DownstreamFactory) -> None:
        self._factory = factory
        self.now = self._served(settings, {}, {})

    def use(self, table: RouteTable, unset: tuple[str, ...]) -> None:
        """Put a table in use for turns that begin from now on."""
        settings = structs.replace(self.now.settings, table=table, unset=unset)
        self.now = self._served(settings, self.now.routes, self.now.downstreams)

    def routes(self) -> tuple[Route, ...]:
        """Return the routes of the table in use."""
        return self.now.settings.table.routes

    def card(self) -> AgentCard:
        """Return the card for everybody."""
        return self.now.card

    def card_for(self, principal: Principal | None) -> AgentCard:
        """Return the card with the routes that this caller may use."""
        routes = tuple(route for route in self.routes() if may_use(route, principal))
        return card_for(self.now.settings, routes)

    def _served(
        self, settings: HubSettings, before: Mapping[str, Route], downstreams: Mapping[str, Downstream]
    ) -> Served:
        return Served(
            settings=settings,
            router=Router(settings.table),
            downstreams={
                route.id: downstreams[route.id]
                if before.get(route.id) == route
                else self._factory.downstream(route)
                for route in settings.table.routes
            },
            card=public_card(settings),
        )
