"""Wires the agent card function: what is open to everybody at well-known paths, the hub's card and its public keys."""

from __future__ import annotations

import time

from msgspec import structs

from shared.a2a.card_endpoint import CardEndpoint
from shared.function import health, not_found, stdout_log
from shared.http.messages import Handler, Request, Response
from shared.hub_settings import HubSettings, public_card
from shared.log import Log, Record
from shared.route_table.file import RouteSource
from shared.routes import RouteTable
from shared.tasks.webhook_keys import KeySetPage
from shared.threads import Threads


def build(config: HubSettings, *, log: Log | None = None) -> Handler:
    """The function's handler."""
    log = log or stdout_log("agent_card", project=config.google_cloud_project)
    card = public_card(config)

    def use(table: RouteTable, unset: tuple[str, ...]) -> None:
        nonlocal card
        card = public_card(structs.replace(config, table=table, unset=unset))

    source = RouteSource(
        config.routes_file,
        seconds=config.routes_seconds,
        changed=use,
        log=log,
        clock=time.monotonic,
        run=Threads("route table").run,
    )
    cards = CardEndpoint(
        lambda: card,
        protocol_version_v0_3=config.card_protocol_version,
        max_age_seconds=config.card_max_age_seconds,
        now=time.time,
        unnamed=config.card_unnamed_version,
    )

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
