"""The settings of webhooks."""

from msgspec import Struct

from a2a_hub.identity import private_key
from a2a_hub.identity.public_keys import PublicKey
from a2a_hub.settings.reader import Settings
from a2a_hub.tasks import webhook_address
from a2a_hub.tasks.webhook_address import WebhookAddresses
from functions.tasks.webhooks.notification import public_key_of
from functions.tasks.webhooks.retry_policy import RetryLimits


class WebhookConfig(Struct, frozen=True, kw_only=True):
    """The settings of webhooks. `addresses` may be notified.

    `signing_key` is PEM, or empty to send unsigned. `public_keys` are the published ones: the key's own, and others during
    a rotation.
    """

    addresses: WebhookAddresses
    signing_key: str
    public_keys: tuple[PublicKey, ...]
    retry_limits: RetryLimits
    timeout_seconds: float
    poll_seconds: float

    def __repr__(self) -> str:
        return f"WebhookConfig(keys={[key.id for key in self.public_keys]!r})"


def read(settings: Settings, published: tuple[PublicKey, ...], *, is_woken: bool) -> WebhookConfig:
    """Read the settings; `published` are the keys of WEBHOOK_PUBLIC_KEYS. If wake-ups tell of all work, it is polled for less."""
    signing_key = private_key.read(settings, "WEBHOOK_SIGNING_KEY")
    own = (public_key_of(signing_key),) if signing_key else ()
    return WebhookConfig(
        addresses=webhook_address.read(settings),
        signing_key=signing_key,
        public_keys=(*own, *published),
        retry_limits=RetryLimits(
            most=int(settings.number("WEBHOOK_ATTEMPTS", 150, least=1, most=10_000)),
            most_refusals=int(settings.number("WEBHOOK_REFUSALS", 10, least=1, most=10_000)),
        ),
        timeout_seconds=settings.number("WEBHOOK_TIMEOUT_SECONDS", 10, least=0.1, most=60),
        poll_seconds=settings.number("WEBHOOK_POLL_SECONDS", 60 if is_woken else 0.5, least=0.02, most=600),
    )
