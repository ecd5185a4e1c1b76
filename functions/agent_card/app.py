"""Wires the agent card function: what is open to everybody at well-known paths, the hub's card and its public keys."""

from __future__ import annotations

from msgspec import structs

from a2a_hub.http.messages import Handler, Request, Response
from a2a_hub.routing.routes import RouteTable
from a2a_hub.runtime.function import health, not_found, stdout_log
from a2a_hub.settings.hub import HubSettings, card_endpoint, public_card, route_source
from a2a_hub.tasks.webhook_keys import KeySetPage
from a2a_hub.telemetry.log import Log, Record


def build(config: HubSettings, *, log: Log | None = None) -> Handler:
    """The function's handler."""
    log = log or stdout_log("agent_card", project=config.google_cloud_project)
    card = public_card(config)

    def use(table: RouteTable, unset: tuple[str, ...]) -> None:
        nonlocal card
        card = public_card(structs.replace(config, table=table, unset=unset))

    source = route_source(config, use, log=log)
    cards = card_endpoint(config, lambda: card)

    key_set = KeySetPage(config.webhook_keys)

    def handle(request: Request, _: Record) -> Response:
        source.look()
        return (
            cards.handle(request)
            or key_set.handle(request)
            or health(request, card.name)
            or not_found(request)
        )

    return log.requests(handle)
