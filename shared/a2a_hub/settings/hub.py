"""The settings that `hub`, `agent_card` and `tasks` share, and what is made of them alike: the route table that is read again,
and the card.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct

from a2a_hub.a2a.card import AgentCard
from a2a_hub.a2a.card_endpoint import CardEndpoint
from a2a_hub.a2a.versions import Version
from a2a_hub.routing.hub_card import SecurityKind, hub_card
from a2a_hub.routing.parser import load
from a2a_hub.routing.routes import Route, RouteTable, RouteTableError, restricted
from a2a_hub.routing.table_file import NOT_SET, RouteFile, RouteSource
from a2a_hub.runtime.local_address import own_address
from a2a_hub.runtime.threads import Threads
from a2a_hub.settings.reader import Settings
from a2a_hub.telemetry.log import Log

if TYPE_CHECKING:
    from a2a_hub.task_store.factory import StoreSettings
    from a2a_hub.tasks.webhook_keys import PublicKey

# A bundle has the table beside the package, the source tree one folder further up.
_BUNDLE, _SOURCE_TREE = Path(__file__).resolve().parents[2:4]
_ROUTES = next(
    (folder / "routes.toml" for folder in (_BUNDLE, _SOURCE_TREE) if (folder / "routes.toml").is_file()),
    _BUNDLE / "routes.toml",
)
_NO_TABLE = """
[[routes]]
id = "none"
name = "None"
description = "None"
url = "https://none.invalid"
boundary = "public"
default = true
"""


class HubSettings(Struct, frozen=True, kw_only=True):
    """`unset` names the variables of the route table that have no value: their routes answer that they cannot be reached."""

    table: RouteTable
    unset: tuple[str, ...]
    routes_file: RouteFile
    routes_seconds: float
    """How often the file is read again."""
    public_url: str
    security: tuple[SecurityKind, ...]
    card_protocol_version: str
    card_unnamed_version: Version | None
    """Whose card a request gets that names no version; None is both in one."""
    card_max_age_seconds: int
    google_cloud_project: str | None
    log_text: bool
    store: StoreSettings | None
    """Where tasks are kept; None keeps none."""
    webhook_keys: tuple[PublicKey, ...]
    """With which receivers check notifications; where there are none, nothing is published."""


def read(settings: Settings, environ: Mapping[str, str], *, needs_urls: bool) -> HubSettings:
    """Reads the shared settings. On Google Cloud a missing address of an agent that is called is an error."""
    on_google_cloud = "K_SERVICE" in environ
    table, unset, file = _table(settings, environ)
    if needs_urls and on_google_cloud:
        for name in unset:
            settings.problem(name, "must be the address of an agent: routes.toml uses it")
    return HubSettings(
        table=table,
        unset=unset,
        routes_file=file,
        routes_seconds=settings.number("ROUTES_SECONDS", 300, least=0.01, most=86_400),
        public_url=settings.url("HUB_PUBLIC_URL", None if on_google_cloud else own_address(settings)),
        security=_security(settings),
        card_protocol_version=settings.text("CARD_PROTOCOL_VERSION", "0.3.0"),
        card_unnamed_version=_unnamed_version(settings),
        card_max_age_seconds=int(settings.number("CARD_MAX_AGE_SECONDS", 300, least=0, most=86400)),
        google_cloud_project=settings.optional("GOOGLE_CLOUD_PROJECT"),
        log_text=settings.flag("LOG_TEXT"),
        store=_store(settings),
        webhook_keys=_webhook_keys(settings),
    )


def missing_variable(route: Route) -> str | None:
    """The variable that this route's address needs and that has no value; None where the route has its address."""
    name, _, domain = (urlsplit(route.url).hostname or "").partition(".")
    return name.upper().replace("-", "_") if domain == NOT_SET else None


def public_card(settings: HubSettings) -> AgentCard:
    """The card for everybody: without the routes that only some may use."""
    return card_for(settings, tuple(route for route in settings.table.routes if not restricted(route)))


def card_for(settings: HubSettings, routes: tuple[Route, ...]) -> AgentCard:
    """The hub's card with these routes' skills. Whoever has to say who they are can ask for a card of their own."""
    return hub_card(
        settings.table,
        public_url=settings.public_url,
        security=settings.security,
        routes=routes,
        extended=bool(settings.security),
        keeps_tasks=settings.store is not None,
    )


def card_endpoint(settings: HubSettings, card: Callable[[], AgentCard]) -> CardEndpoint:
    """Serves what `card` gives, as the settings say."""
    return CardEndpoint(
        card,
        protocol_version_v0_3=settings.card_protocol_version,
        max_age_seconds=settings.card_max_age_seconds,
        now=time.time,
        unnamed=settings.card_unnamed_version,
    )


def route_source(
    settings: HubSettings, changed: Callable[[RouteTable, tuple[str, ...]], object], *, log: Log
) -> RouteSource:
    """Calls `changed` with each further table, and the names of its variables that have no value."""
    return RouteSource(
        settings.routes_file,
        seconds=settings.routes_seconds,
        changed=changed,
        log=log,
        clock=time.monotonic,
        run=Threads("route table").run,
    )


def _table(settings: Settings, environ: Mapping[str, str]) -> tuple[RouteTable, tuple[str, ...], RouteFile]:
    """The route table, its variables that have no value, and its file. Where there is no table, the problem is noted."""
    file = RouteFile(settings.file("ROUTES_FILE", _ROUTES), environ)
    try:
        read = file.read()
        if read is not None:
            return *read, file
        settings.problem("ROUTES_FILE", "names an empty file")
    except RouteTableError as error:
        settings.problem("ROUTES_FILE", f"has a table with errors:\n{error}")
    except UnicodeDecodeError:
        settings.problem("ROUTES_FILE", "names a file that is not UTF-8")
    except OSError:
        pass  # `file` has noted it.
    # What comes after this is read all the same, so that everything that is wrong is said at once.
    return load(_NO_TABLE, variables={}), (), file


def _store(settings: Settings) -> StoreSettings | None:
    if settings.optional("TASK_STORE") is None:
        return None
    from a2a_hub.task_store import factory as store_settings

    return store_settings.read(settings)


def _webhook_keys(settings: Settings) -> tuple[PublicKey, ...]:
    if settings.optional("WEBHOOK_PUBLIC_KEYS") is None:
        return ()
    from a2a_hub.tasks import webhook_keys

    return webhook_keys.read(settings)


def _unnamed_version(settings: Settings) -> Version | None:
    value = settings.choice("CARD_UNNAMED_VERSION", "both", ("both", *Version))
    return None if value == "both" else Version(value)


def _security(settings: Settings) -> tuple[SecurityKind, ...]:
    """What the card declares: Google's OAuth where Google tokens are accepted, else a bearer token; nothing for the anonymous."""
    if settings.flag("ALLOW_ANONYMOUS"):
        return ()
    default = "google" if settings.listed("GOOGLE_TOKEN_AUDIENCES") else "bearer"
    kinds = settings.listed("CARD_SECURITY") or (default,)
    if not set(kinds) <= set(SecurityKind):
        settings.problem("CARD_SECURITY", f"must be a list of {', '.join(SecurityKind)}")
        return ()
    return tuple(SecurityKind(kind) for kind in kinds)
