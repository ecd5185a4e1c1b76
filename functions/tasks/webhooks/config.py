"""The settings of webhooks."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from a2a_hub.settings.reader import Settings
from a2a_hub.tasks.webhook_keys import PublicKey
from functions.tasks.webhooks.notification import public_key_of
from functions.tasks.webhooks.retry_policy import Attempts


class WebhookConfig(Struct, frozen=True, kw_only=True):
    """`allowed_hosts` may be notified though they are not public. Without a `signing_key`, in PEM, nothing is signed.

    `public_keys` are all that receivers may meet: the key's own, and others while the key is changed.
    """

    allowed_hosts: tuple[str, ...]
    signing_key: str
    public_keys: tuple[PublicKey, ...]
    attempts: Attempts
    timeout_seconds: float
    look_seconds: float

    def __repr__(self) -> str:
        return f"WebhookConfig(keys={[key.id for key in self.public_keys]!r})"


def read(settings: Settings, published: tuple[PublicKey, ...]) -> WebhookConfig:
    """The settings; `published` are the keys of WEBHOOK_PUBLIC_KEYS."""
    signing_key = _signing_key(settings)
    own = (public_key_of(signing_key),) if signing_key else ()
    return WebhookConfig(
        allowed_hosts=settings.listed("WEBHOOK_ALLOWED_HOSTS"),
        signing_key=signing_key,
        public_keys=(*own, *published),
        attempts=Attempts(
            most=int(settings.number("WEBHOOK_ATTEMPTS", 150, least=1, most=10_000)),
            most_refusals=int(settings.number("WEBHOOK_REFUSALS", 10, least=1, most=10_000)),
        ),
        timeout_seconds=settings.number("WEBHOOK_TIMEOUT_SECONDS", 10, least=0.1, most=60),
        look_seconds=settings.number("WEBHOOK_LOOK_SECONDS", 0.5, least=0.02, most=600),
    )


def _signing_key(settings: Settings) -> str:
    """The key itself, or what is in the file that is named."""
    name = "WEBHOOK_SIGNING_KEY"
    value = settings.optional(name)
    if value is None:
        return ""
    try:
        pem = value if value.startswith("-----BEGIN") else Path(value).read_text()
        public_key_of(pem)
    except (OSError, ValueError):
        settings.problem(
            name, "must be a P-256 private key in PEM without a passphrase, or a file that holds one"
        )
        return ""
    return pem
