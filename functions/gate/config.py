"""The gate's settings."""

from collections.abc import Mapping
from dataclasses import dataclass

from a2a_hub.identity import settings as identity_settings
from a2a_hub.identity.authentication import AUTHORIZATION
from a2a_hub.identity.settings import IdentitySettings
from a2a_hub.settings.reader import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The gate's settings. `token_header` holds the caller's own token: API Gateway moves it to X-Forwarded-Authorization."""

    identity: IdentitySettings
    hub_url: str
    agent_card_url: str
    token_header: str
    forwards_caller_token: bool
    """True if the hub gets the caller's token, for routes whose boundary is `user`."""
    uses_google_credentials: bool
    rate_limit_per_minute: int
    max_body_bytes: int
    google_cloud_project: str | None
    operators: frozenset[str] = frozenset()
    """The verified addresses that may see what `GET /doctor` finds at the gate."""
    service: str | None = None
    """The gate's own name on Cloud Run (`SERVICE_NAME` over the local cloud); None elsewhere."""


def read(environ: Mapping[str, str]) -> Config:
    """Return the settings in `environ`. Raises SettingsError with all errors."""
    settings = Settings(environ)
    identity = identity_settings.read(settings, trusts_gate=False)
    if not identity.signing_keys and not identity.anonymous:
        settings.problem("GATE_SIGNING_KEY", "is required: the hub recognises the gate's principal headers by it")
    config = Config(
        identity=identity,
        hub_url=settings.url("HUB_URL", None),
        agent_card_url=settings.url("AGENT_CARD_URL", None),
        token_header=settings.choice(
            "CALLER_TOKEN_HEADER", AUTHORIZATION, (AUTHORIZATION, "x-forwarded-authorization")
        ),
        forwards_caller_token=settings.flag("PASS_CALLER_TOKEN"),
        uses_google_credentials=settings.choice("IAM_CREDENTIALS", "adc", ("adc", "none")) == "adc",
        rate_limit_per_minute=int(settings.number("RATE_LIMIT_PER_MINUTE", 120, least=0, most=1_000_000)),
        max_body_bytes=int(settings.number("MAX_BODY_BYTES", 10 * 1024 * 1024, least=1024, most=32 * 1024 * 1024)),
        google_cloud_project=settings.optional("GOOGLE_CLOUD_PROJECT"),
        operators=frozenset(settings.listed("OPERATORS")),
        service=settings.optional("SERVICE_NAME") or settings.optional("K_SERVICE"),
    )
    settings.check()
    return config
