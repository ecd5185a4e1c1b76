"""Wires the agent card function: the hub's card and public keys, public at well-known paths."""

from msgspec import structs

from a2a_hub.http.dispatch import Dispatcher, Public
from a2a_hub.http.messages import Handler
from a2a_hub.identity.public_keys import key_set_endpoints
from a2a_hub.routing.routes import RouteTable
from a2a_hub.runtime.function import anonymous, front_page, health, serve, stdout_log
from a2a_hub.settings.hub import HubSettings, card_endpoint, public_card, route_source
from a2a_hub.telemetry.log import Log


def build(config: HubSettings, *, log: Log | None = None) -> Handler:
    """Return the function's handler."""
    log = log or stdout_log("agent_card", project=config.google_cloud_project)
    card = public_card(config)

    def use(table: RouteTable, unset: tuple[str, ...]) -> None:
        nonlocal card
        card = public_card(structs.replace(config, table=table, unset=unset))

    source = route_source(config, use, log=log)
    dispatcher = Dispatcher(
        (
            Public("/", lambda _: front_page(card.name)),
            Public("/health", health),
            *card_endpoint(config, lambda: card).endpoints,
            *key_set_endpoints(config.published_keys),
        ),
        identify=anonymous,
    )
    return serve(dispatcher.handle, log=log, before=source.reload_if_due)
