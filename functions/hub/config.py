"""The hub's settings, read once at start: a wrong one stops the start, so that a bad deployment gets no traffic."""

from collections.abc import Mapping

from msgspec import Struct

from a2a_hub.boundaries import secret_store
from a2a_hub.identity import settings as identity_settings
from a2a_hub.identity.settings import IdentitySettings
from a2a_hub.queue import factory as wakeup_settings
from a2a_hub.queue.factory import WakeupSettings
from a2a_hub.settings import hub as hub_settings
from a2a_hub.settings.hub import HubSettings
from a2a_hub.settings.reader import Settings
from a2a_hub.tasks import settings as task_settings
from a2a_hub.tasks.settings import TaskSettings


class Config(Struct, frozen=True, kw_only=True):
    """The hub's settings. Without `keeps_ui_contract`, no caller is taken for a user interface.

    Without `uses_google_credentials`, the hub calls loopback agents only; if it `spares_loopback`, these get no credential.
    `service` is the hub's own name on Cloud Run (`SERVICE_NAME` over the local cloud), None elsewhere; `operators` are the
    verified addresses that may call `GET /doctor`.
    """

    hub: HubSettings
    identity: IdentitySettings
    uses_google_credentials: bool
    spares_loopback: bool
    secret_manager_endpoint: str
    max_body_bytes: int
    keep_alive_seconds: float
    commit: str
    tasks: TaskSettings | None
    wakeups: WakeupSettings | None
    keeps_ui_contract: bool = True
    service: str | None = None
    operators: frozenset[str] = frozenset()


def read(environ: Mapping[str, str]) -> Config:
    """Return the settings in `environ`. Raises SettingsError with every error at once."""
    settings = Settings(environ)
    hub = hub_settings.read(settings, environ, needs_urls=True)
    credentials = settings.choice("IAM_CREDENTIALS", "adc", ("adc", "none", "remote"))
    config = Config(
        hub=hub,
        identity=identity_settings.read(settings, trusts_gate=True),
        uses_google_credentials=credentials != "none",
        spares_loopback=credentials == "remote",
        secret_manager_endpoint=settings.url("SECRET_MANAGER_ENDPOINT", secret_store.ENDPOINT),
        max_body_bytes=int(settings.number("MAX_BODY_BYTES", 10 * 1024 * 1024, least=1024, most=32 * 1024 * 1024)),
        keep_alive_seconds=settings.number("KEEP_ALIVE_SECONDS", 15, least=0.01, most=60),
        commit=settings.text("COMMIT_SHA", "unknown"),
        tasks=task_settings.read(settings) if hub.store else None,
        wakeups=wakeup_settings.read(settings) if hub.store else None,
        keeps_ui_contract=settings.choice("UI_CONTRACT", "on", ("on", "off")) == "on",
        service=settings.optional("SERVICE_NAME") or settings.optional("K_SERVICE"),
        operators=frozenset(settings.listed("OPERATORS")),
    )
    settings.check()
    return config
