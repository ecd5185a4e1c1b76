"""The hub's settings, read once at start: a wrong one stops the start, so that a bad deployment gets no traffic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from a2a_hub.a2a.event_stream import KEEP_ALIVE_SECONDS
from a2a_hub.boundaries import secret_store
from a2a_hub.http.admission import Limits
from a2a_hub.identity import settings as identity_settings
from a2a_hub.identity.principal import GATE, Contract
from a2a_hub.identity.settings import IdentitySettings
from a2a_hub.queue import factory as wakeup_settings
from a2a_hub.queue.factory import WakeupSettings
from a2a_hub.quota import limits as quota_limits
from a2a_hub.quota.limits import CallerLimits
from a2a_hub.runtime.function import read_limits
from a2a_hub.settings import hub as hub_settings
from a2a_hub.settings.hub import HubSettings
from a2a_hub.settings.reader import Settings
from a2a_hub.tasks import settings as task_settings
from a2a_hub.tasks.settings import TaskSettings

if TYPE_CHECKING:
    from a2a_hub.language_models.settings import ModelSettings
    from functions.hub.downstream.model_armor import ModelArmorSettings

_MODEL_SECONDS = 60.0


class Config(Struct, frozen=True, kw_only=True):
    """The hub's settings. `contract` is that of all callers, if one is set.

    Without `uses_google_credentials`, the hub calls loopback agents only; if it `spares_loopback`, these get no credential.
    `service` is the hub's own name on Cloud Run (`SERVICE_NAME` over the local cloud), None elsewhere; `operators` are the
    verified addresses that may call `GET /doctor`. `link_hosts`: see `Pipeline`.
    `max_instances` is what the deployment allows of the hub. `mcp_model` chooses the tools of MCP servers; None for none.
    """

    hub: HubSettings
    identity: IdentitySettings
    uses_google_credentials: bool
    spares_loopback: bool
    secret_manager_endpoint: str
    limits: Limits
    on_flask: bool
    keep_alive_seconds: float
    commit: str
    tasks: TaskSettings | None
    wakeups: WakeupSettings | None
    quotas: CallerLimits
    contract: Contract | None = None
    service: str | None = None
    operators: frozenset[str] = frozenset()
    tenants: frozenset[str] = frozenset()
    link_hosts: tuple[str, ...] = ()
    conversation_ttl_seconds: float
    max_instances: int
    mcp_model: ModelSettings | None = None
    model_armor: ModelArmorSettings | None = None


def read(environ: Mapping[str, str]) -> Config:
    """Return the settings in `environ`. Raises SettingsError with every error at once."""
    settings = Settings(environ)
    hub = hub_settings.read(settings, environ, needs_urls=True)
    credentials = settings.choice("IAM_CREDENTIALS", "adc", ("adc", "none", "remote"))
    config = Config(
        hub=hub,
        identity=identity_settings.read(settings, function="hub", trusts=(GATE, "tasks")),
        uses_google_credentials=credentials != "none",
        spares_loopback=credentials == "remote",
        secret_manager_endpoint=settings.url("SECRET_MANAGER_ENDPOINT", secret_store.ENDPOINT),
        limits=read_limits(settings),
        on_flask=settings.choice("HTTP_SERVER", "asgi", ("asgi", "flask")) == "flask",
        keep_alive_seconds=settings.number("KEEP_ALIVE_SECONDS", KEEP_ALIVE_SECONDS, minimum=0.01, maximum=60),
        commit=settings.text("COMMIT_SHA", "unknown"),
        tasks=task_settings.read(settings) if hub.store else None,
        wakeups=wakeup_settings.read(settings) if hub.store else None,
        quotas=quota_limits.read(settings),
        contract=_contract_of_all(settings),
        service=settings.optional("SERVICE_NAME") or settings.optional("K_SERVICE"),
        operators=frozenset(settings.listed("OPERATORS")),
        tenants=frozenset(settings.listed("TENANTS")),
        link_hosts=tuple(host.lower() for host in settings.listed("UI_LINK_HOSTS")),
        conversation_ttl_seconds=settings.number("CONVERSATION_TTL_DAYS", 30, minimum=0.01, maximum=3650) * 86_400,
        max_instances=int(settings.number("MAX_INSTANCES", 1, minimum=1, maximum=100_000)),
        mcp_model=_mcp_model(settings),
        model_armor=_model_armor(settings),
    )
    settings.check()
    return config


def _mcp_model(settings: Settings) -> ModelSettings | None:
    if settings.optional("MCP_MODEL") is None:
        return None
    # A hub without a model starts without its modules.
    from a2a_hub.language_models.settings import read_model

    return read_model(settings, "MCP_MODEL", default_timeout_seconds=_MODEL_SECONDS)


def _model_armor(settings: Settings) -> ModelArmorSettings | None:
    if settings.optional("MODEL_ARMOR_TEMPLATE") is None:
        return None
    # A hub without screened routes starts without this module.
    from functions.hub.downstream import model_armor

    return model_armor.read(settings)


def _contract_of_all(settings: Settings) -> Contract | None:
    """Return the program's contract for `UI_CONTRACT=off`, which is read for one more version."""
    if settings.choice("UI_CONTRACT", "on", ("on", "off")) == "on":
        return None
    settings.warn("UI_CONTRACT=off works until the next version: name the programs in CALLER_CONTRACTS")
    return Contract.PROGRAM
