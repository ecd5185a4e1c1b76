"""The settings of webhooks."""

from pathlib import Path

from msgspec import Struct

from a2a_hub.settings.reader import Settings
from a2a_hub.tasks.webhook_keys import PublicKey
from functions.tasks.webhooks.notification import public_key_of
from functions.tasks.webhooks.retry_policy import RetryLimits


class WebhookConfig(Struct, frozen=True, kw_only=True):
    """The settings of webhooks. `allowed_hosts` may be notified although they are not public.

    `signing_key` is PEM, or empty to send unsigned. `public_keys` are the published ones: the key's own, and others during
    a rotation.
    """

    allowed_hosts: tuple[str, ...]
    signing_key: str
    public_keys: tuple[PublicKey, ...]
    retry_limits: RetryLimits
    timeout_seconds: float
    poll_seconds: float

    def __repr__(self) -> str:
        return f"WebhookConfig(keys={[key.id for key in self.public_keys]!r})"


def read(settings: Settings, published: tuple[PublicKey, ...]) -> WebhookConfig:
    """Read the settings; `published` are the keys of WEBHOOK_PUBLIC_KEYS."""
    signing_key = _signing_key(settings)
    own = (public_key_of(signing_key),) if signing_key else ()
    return WebhookConfig(
        allowed_hosts=settings.listed("WEBHOOK_ALLOWED_HOSTS"),
        signing_key=signing_key,
        public_keys=(*own, *published),
        retry_limits=RetryLimits(
            most=int(settings.number("WEBHOOK_ATTEMPTS", 150, least=1, most=10_000)),
            most_refusals=int(settings.number("WEBHOOK_REFUSALS", 10, least=1, most=10_000)),
        ),
        timeout_seconds=settings.number("WEBHOOK_TIMEOUT_SECONDS", 10, least=0.1, most=60),
        poll_seconds=settings.number("WEBHOOK_POLL_SECONDS", 0.5, least=0.02, most=600),
    )


def _signing_key(settings: Settings) -> str:
    """Return the key in the setting, or in the file that it names."""
    name = "WEBHOOK_SIGNING_KEY"
    value = settings.optional(name)
    if value is None:
        return ""
    try:
        pem = value if value.startswith("-----BEGIN") else Path(value).read_text()
        public_key_of(pem)
    except (OSError, ValueError):
        settings.problem(name, "must be a P-256 private key in PEM without a passphrase, or a file that holds one")
        return ""
    return pem
