"""The settings that `hub`, `agent_card` and `tasks` share, with the card and the reloaded route table that they make of them."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from a2a_hub.a2a.card import AgentCard
from a2a_hub.a2a.card_endpoint import CardEndpoint
from a2a_hub.a2a.card_signature import CardSigner, signer_of
from a2a_hub.a2a.model import Version
from a2a_hub.identity import private_key
from a2a_hub.identity.public_keys import EXPECTED, JWKS_PATH, PublicKey, public_keys
from a2a_hub.routing.hub_card import SecurityKind, hub_card
from a2a_hub.routing.parser import load
from a2a_hub.routing.routes import Route, RouteTable, RouteTableError, restricted
from a2a_hub.routing.table_file import NOT_SET, RouteFile, RouteSource
from a2a_hub.runtime.threads import Threads
from a2a_hub.settings.reader import Settings
from a2a_hub.task_store import settings as store_settings
from a2a_hub.task_store.settings import StoreSettings
from a2a_hub.telemetry.log import Log

# A bundle has the table beside the package, the source tree one folder further up.
_BUNDLE, _SOURCE_TREE = Path(__file__).resolve().parents[2:4]
_KMS = "https://cloudkms.googleapis.com"
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
    """The shared settings. `unset` names the variables of the route table without a value: their routes are unavailable."""

    table: RouteTable
    unset: tuple[str, ...]
    routes_file: RouteFile
    routes_seconds: float
    """Reload interval of the file."""
    public_url: str
    grpc_url: str | None
    """The address of `services/grpc` in front of this hub, for the card."""
    security: tuple[SecurityKind, ...]
    card_protocol_version: str
    card_unnamed_version: Version | None
    """The version of the card for requests that name none; None is both in one."""
    card_max_age_seconds: int
    google_cloud_project: str | None
    log_text: bool
    store: StoreSettings | None
    """The task store; None stores no tasks."""
    webhook_keys: tuple[PublicKey, ...]
    """The keys with which receivers check notifications; empty publishes none."""
    card_signer: CardSigner | None = None
    """The key that signs the card for 1.0; None signs none."""
    card_keys: tuple[PublicKey, ...] = ()
    """Further keys of cards that are published, such as the one before a rotation."""

    @property
    def published_keys(self) -> tuple[PublicKey, ...]:
        """The keys of the key set."""
        signing = (self.card_signer.key,) if self.card_signer else ()
        return tuple(dict.fromkeys((*self.webhook_keys, *signing, *self.card_keys)))


def read(settings: Settings, environ: Mapping[str, str], *, needs_urls: bool) -> HubSettings:
    """Read the shared settings. With `needs_urls`, a missing address of an agent is an error on Google Cloud."""
    on_google_cloud = "K_SERVICE" in environ
    table, unset, file = _table(settings, environ)
    unnamed = settings.choice("CARD_UNNAMED_VERSION", "both", ("both", *Version))
    public_url = settings.url("HUB_PUBLIC_URL", None if on_google_cloud else settings.own_address())
    if needs_urls and on_google_cloud:
        for name in unset:
            settings.problem(name, "must be the address of an agent: routes.toml uses it")
    card_keys = settings.parsed("CARD_PUBLIC_KEYS", public_keys, expected=EXPECTED) or ()
    return HubSettings(
        table=table,
        unset=unset,
        routes_file=file,
        routes_seconds=settings.number("ROUTES_SECONDS", 300, minimum=0.01, maximum=86_400),
        public_url=public_url,
        grpc_url=settings.optional("GRPC_URL"),
        security=_security(settings),
        card_protocol_version=settings.text("CARD_PROTOCOL_VERSION", "0.3.0"),
        card_unnamed_version=None if unnamed == "both" else Version(unnamed),
        card_max_age_seconds=int(settings.number("CARD_MAX_AGE_SECONDS", 300, minimum=0, maximum=86400)),
        google_cloud_project=settings.optional("GOOGLE_CLOUD_PROJECT"),
        log_text=settings.flag("LOG_TEXT"),
        store=store_settings.read(settings),
        webhook_keys=settings.parsed("WEBHOOK_PUBLIC_KEYS", public_keys, expected=EXPECTED) or (),
        card_signer=_card_signer(settings, public_url, card_keys),
        card_keys=card_keys,
    )


def missing_variable(route: Route) -> str | None:
    """Return the unset variable that this route's address needs; None if the address is complete."""
    name, _, domain = (urlsplit(route.url).hostname or "").partition(".")
    return name.upper().replace("-", "_") if domain == NOT_SET else None


def public_card(settings: HubSettings) -> AgentCard:
    """Return the public card, without restricted routes."""
    routes = tuple(route for route in settings.table.routes if not restricted(route))
    return card_for(settings, routes, is_extended=False)


def card_for(settings: HubSettings, routes: tuple[Route, ...], *, is_extended: bool = True) -> AgentCard:
    """Return the hub's card with these routes' skills. With authentication, callers can get an extended card."""
    return hub_card(
        settings.table,
        public_url=settings.public_url,
        grpc_url=settings.grpc_url,
        security=settings.security,
        routes=routes,
        extended=bool(settings.security),
        keeps_tasks=settings.store is not None,
        tells_routes=is_extended,
    )


def card_endpoint(settings: HubSettings, card: Callable[[], AgentCard]) -> CardEndpoint:
    """Return an endpoint that serves `card` according to the settings."""
    return CardEndpoint(
        card,
        protocol_version_v0_3=settings.card_protocol_version,
        max_age_seconds=settings.card_max_age_seconds,
        now=time.time,
        unnamed=settings.card_unnamed_version,
        signer=settings.card_signer,
    )


def route_source(
    settings: HubSettings, changed: Callable[[RouteTable, tuple[str, ...]], object], *, log: Log
) -> RouteSource:
    """Return a source that calls `changed` with each new table and the names of its unset variables."""
    return RouteSource(
        settings.routes_file,
        seconds=settings.routes_seconds,
        changed=changed,
        log=log,
        clock=time.monotonic,
        run=Threads("route table").run,
    )


def _table(settings: Settings, environ: Mapping[str, str]) -> tuple[RouteTable, tuple[str, ...], RouteFile]:
    """Return the route table, its unset variables, and its file. Errors are recorded, with an empty table returned."""
    file = _route_file(settings, environ)
    try:
        read = file.start()
        if read is not None:
            return *read, file
        settings.problem("ROUTES_FILE", "names an empty file")
    except RouteTableError as error:
        settings.problem("ROUTES_FILE", f"has a table with errors:\n{error}")
    except UnicodeDecodeError:
        settings.problem("ROUTES_FILE", "names a file that is not UTF-8")
    except OSError:
        pass  # `Settings.file` has recorded it.
    # Reading continues, so that all errors are reported together.
    return load(_NO_TABLE, variables={}), (), file


def _route_file(settings: Settings, environ: Mapping[str, str]) -> RouteFile:
    uri = settings.optional("ROUTES_FILE") or ""
    if not uri.startswith("gs://"):
        return RouteFile(settings.file("ROUTES_FILE", _ROUTES), environ)
    # Deployments without a bucket do not pay for these at their start.
    from a2a_hub.http.client import HttpClient
    from a2a_hub.identity.default_credentials import DefaultCredentials
    from a2a_hub.routing.bucket_file import BucketFile

    endpoint, tokens = settings.endpoint("STORAGE_EMULATOR_HOST"), DefaultCredentials()
    try:
        bucket = BucketFile(uri, http=HttpClient(), access_token=tokens.access_token, endpoint=endpoint)
    except ValueError as problem:
        settings.problem("ROUTES_FILE", f"names no object of a bucket: {problem}")
        return RouteFile(_ROUTES, environ)
    return RouteFile(_ROUTES, environ, fetch=bucket.changed)


def _card_signer(settings: Settings, public_url: str, keys: tuple[PublicKey, ...]) -> CardSigner | None:
    """Return the signer: a key in PEM or in a file, or one of Cloud KMS, whose public half is the first of `keys`."""
    key_set_url = public_url.rstrip("/") + JWKS_PATH
    name, endpoint = settings.text("CARD_SIGNING_KEY", ""), settings.url("KMS_ENDPOINT", _KMS)
    if not name.startswith("projects/"):
        pem = private_key.read(settings, "CARD_SIGNING_KEY")
        return signer_of(pem, key_set_url=key_set_url) if pem else None
    # Functions without such a key do not pay for this at their start.
    from a2a_hub.a2a import kms_signing

    if not kms_signing.KEY_VERSION.fullmatch(name):
        settings.problem(
            "CARD_SIGNING_KEY", "must name a version of a key of Cloud KMS: projects/…/cryptoKeyVersions/1"
        )
    if not keys:
        settings.problem(
            "CARD_PUBLIC_KEYS", "must begin with the public key of the version of Cloud KMS that signs cards"
        )
        return None
    host = settings.text("GCE_METADATA_HOST", "metadata.google.internal")
    ecdsa = kms_signing.signing_with(name, endpoint=endpoint, metadata_host=host)
    return CardSigner(ecdsa=ecdsa, key=keys[0], key_set_url=key_set_url)


def _security(settings: Settings) -> tuple[SecurityKind, ...]:
    """Return the card's security schemes: by default Google's OAuth if Google tokens are accepted, else a bearer token."""
    if settings.flag("ALLOW_ANONYMOUS"):
        return ()
    default = "google" if settings.listed("GOOGLE_TOKEN_AUDIENCES") else "bearer"
    kinds = settings.listed("CARD_SECURITY") or (default,)
    if not set(kinds) <= set(SecurityKind):
        settings.problem("CARD_SECURITY", f"must be a list of {', '.join(SecurityKind)}")
        return ()
    return tuple(SecurityKind(kind) for kind in kinds)
