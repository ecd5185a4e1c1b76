"""Wires the agent card function: the hub's card and its public keys, open to everybody at well-known paths."""

from msgspec import structs

from a2a_hub.a2a.card import AgentCard
from a2a_hub.http.dispatch import Dispatcher, Public
from a2a_hub.http.messages import Handler, Request, Response
from a2a_hub.identity.key_set import key_set_endpoints
from a2a_hub.routing.routes import RouteTable
from a2a_hub.runtime.function import anonymous, front_page, health, serve, stdout_log
from a2a_hub.settings.hub import HubSettings, card_endpoint, public_card, route_source
from a2a_hub.telemetry.log import Log


class _PublicCard:
    """The public card of the route table in use."""

    def __init__(self, config: HubSettings) -> None:
        self._config = config
        self._card = public_card(config)

    def use(self, table: RouteTable, unset: tuple[str, ...]) -> None:
        self._card = public_card(structs.replace(self._config, table=table, unset=unset))

    def now(self) -> AgentCard:
        return self._card

    def front_page(self, _: Request) -> Response:
        return front_page(self._card.name)


def build(config: HubSettings, *, log: Log | None = None) -> Handler:
    """Return the function's handler."""
    log = log or stdout_log("agent_card", project=config.google_cloud_project)
    card = _PublicCard(config)
    source = route_source(config, card.use, log=log)
    dispatcher = Dispatcher(
        (
            Public("/", card.front_page),
            Public("/health", health),
            *card_endpoint(config, card.now).endpoints,
            *key_set_endpoints(config.published_keys),
        ),
        identify=anonymous,
    )
    return serve(dispatcher.handle, log=log, before=source.reload_if_due)
