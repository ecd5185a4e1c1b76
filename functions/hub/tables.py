"""What the hub makes of its route table, and makes anew when the table changes; a turn keeps what it began with."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct, structs

from a2a_hub.a2a.card import AgentCard
from a2a_hub.routing.router import Router
from a2a_hub.routing.routes import Route, RouteTable
from a2a_hub.settings.hub import HubSettings, public_card
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


class Tables:
    """`now` is the table in use. `agent` makes a route's agent; that of a route that stayed the same is kept."""

    def __init__(self, settings: HubSettings, *, agent: Callable[[Route], Downstream]) -> None:
        self._agent = agent
        self.now = self._served(settings, {}, {})

    def use(self, table: RouteTable, unset: tuple[str, ...]) -> None:
        """Turns that begin from now on take this table."""
        settings = structs.replace(self.now.settings, table=table, unset=unset)
        self.now = self._served(settings, self.now.routes, self.now.downstreams)

    def _served(
        self, settings: HubSettings, before: Mapping[str, Route], agents: Mapping[str, Downstream]
    ) -> Served:
        routes = settings.table.routes
        return Served(
            settings=settings,
            router=Router(settings.table),
            downstreams={
                route.id: agents[route.id] if before.get(route.id) == route else self._agent(route)
                for route in routes
            },
            card=public_card(settings),
        )
