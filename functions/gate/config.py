"""The gate's settings."""

from collections.abc import Mapping
from dataclasses import dataclass

from a2a_hub.http.admission import Limits
from a2a_hub.identity import settings as identity_settings
from a2a_hub.identity.authentication import AUTHORIZATION
from a2a_hub.identity.principal import GATE
from a2a_hub.identity.settings import IdentitySettings
from a2a_hub.quota import limits as quota_limits
from a2a_hub.quota.limits import CallerLimits
from a2a_hub.runtime.function import read_limits
from a2a_hub.settings.reader import Settings
from a2a_hub.task_store import settings as store_settings
from a2a_hub.task_store.settings import StoreSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The gate's settings. `token_header` holds the caller's own token: API Gateway moves it to X-Forwarded-Authorization."""

    identity: IdentitySettings
    hub_url: str
    hub_silence_seconds: float
    """After this silence of the hub, a person gets a text answer; a program waits longer."""
    agent_card_url: str
    token_header: str
    forwards_caller_token: bool
    """True if the hub gets the caller's token, for routes whose boundary is `user`."""
    uses_google_credentials: bool
    limits: Limits
    on_flask: bool
    quotas: CallerLimits
    store: StoreSettings | None
    """The store in which instances keep one quota together; None: each has its own."""
    google_cloud_project: str | None
    operators: frozenset[str] = frozenset()
    """The verified addresses that may see what `GET /doctor` finds at the gate."""
    service: str | None = None
    """The gate's own name on Cloud Run (`SERVICE_NAME` over the local cloud); None elsewhere."""


def read(environ: Mapping[str, str]) -> Config:
    """Return the settings in `environ`. Raises SettingsError with all errors."""
    settings = Settings(environ)
    identity = identity_settings.read(settings, function=GATE)
    if not identity.signing_key and not identity.anonymous:
        settings.problem("SIGNING_KEY", "is required: the hub recognises the gate's principal headers by it")
    config = Config(
        identity=identity,
        hub_url=settings.url("HUB_URL", None),
        hub_silence_seconds=settings.number("HUB_SILENCE_SECONDS", 50, minimum=0.1, maximum=300),
        agent_card_url=settings.url("AGENT_CARD_URL", None),
        token_header=settings.choice(
            "CALLER_TOKEN_HEADER", AUTHORIZATION, (AUTHORIZATION, "x-forwarded-authorization")
        ),
        forwards_caller_token=settings.flag("PASS_CALLER_TOKEN"),
        uses_google_credentials=settings.choice("IAM_CREDENTIALS", "adc", ("adc", "none")) == "adc",
        limits=read_limits(settings),
        on_flask=settings.choice("HTTP_SERVER", "asgi", ("asgi", "flask")) == "flask",
        quotas=quota_limits.read(settings, only_requests=True),
        store=store_settings.read(settings),
        google_cloud_project=settings.optional("GOOGLE_CLOUD_PROJECT"),
        operators=frozenset(settings.listed("OPERATORS")),
        service=settings.optional("SERVICE_NAME") or settings.optional("K_SERVICE"),
    )
    settings.check()
    return config
