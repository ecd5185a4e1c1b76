"""The tasks function's settings."""

from collections.abc import Mapping
from dataclasses import dataclass

from msgspec import Struct

from a2a_hub.http.admission import Limits
from a2a_hub.identity import private_key
from a2a_hub.identity import settings as identity_settings
from a2a_hub.identity.public_keys import PublicKey
from a2a_hub.identity.settings import IdentitySettings
from a2a_hub.queue import factory as wakeup_settings
from a2a_hub.queue.factory import WakeupSettings
from a2a_hub.runtime.function import read_limits
from a2a_hub.settings import hub as hub_settings
from a2a_hub.settings.hub import HubSettings
from a2a_hub.settings.reader import Settings
from a2a_hub.task_store.settings import StoreSettings
from a2a_hub.tasks import webhook_address
from a2a_hub.tasks.settings import read_most_attempts
from a2a_hub.tasks.webhook_address import WebhookAddresses
from functions.tasks.webhooks.notification import RetryLimits, public_key_of
from functions.tasks.workers import identity as worker_identity

_DAY_SECONDS = 86_400


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The function's settings. `identity` is that of workers. The store is swept for idle work every `sweep_seconds`;
    ended tasks are kept for `retention_seconds`. `worker_accounts` maps accounts of ID tokens to roles; Google's queues call as
    one of `wakeup_accounts`. A task fails after `max_attempts` starts in one turn. While a worker waits, the store is
    polled every `poll_seconds`. One instance has `runs_at_once` tasks run on the hub, each for `run_seconds` at a time.
    """

    hub: HubSettings
    store: StoreSettings
    identity: IdentitySettings
    wakeups: WakeupSettings | None
    hub_url: str
    runs_at_once: int
    run_seconds: float
    uses_google_credentials: bool
    sweep_seconds: float
    retention_seconds: float
    webhooks: WebhookConfig
    worker_accounts: Mapping[str, frozenset[str]]
    wakeup_accounts: frozenset[str]
    max_attempts: int
    poll_seconds: float
    waits_at_once: int
    limits: Limits

    @property
    def in_requests(self) -> bool:
        """True if all work is done inside requests, of Google's queues and Cloud Scheduler: there is no CPU between them."""
        return self.wakeups is not None and bool(self.wakeups.project)


def read(environ: Mapping[str, str]) -> Config:
    """Read the settings from `environ`. Raise SettingsError that reports all errors together."""
    settings = Settings(environ)
    hub = hub_settings.read(settings, environ, needs_urls=False)
    if hub.store is None:
        settings.problem("TASK_STORE", "must be set: without a store there are no tasks")
    identity = identity_settings.read(settings, function="tasks", trusts=("hub",), authorizes_accounts=True)
    if not identity.signing_key:
        settings.problem("SIGNING_KEY", "is required: the hub has to recognise who has its tasks run")
    wakeups = wakeup_settings.read(settings)
    wakes_hub = wakeups is not None and wakeups.wakes_hub
    config = Config(
        hub=hub,
        store=hub.store or StoreSettings(),
        identity=identity,
        wakeups=wakeups,
        hub_url=settings.url("HUB_URL", None),
        runs_at_once=int(settings.number("HUB_RUNS_AT_ONCE", 16, minimum=1, maximum=1000)),
        run_seconds=settings.number("HUB_RUN_SECONDS", 540, minimum=1, maximum=3500),
        uses_google_credentials=settings.choice("IAM_CREDENTIALS", "adc", ("adc", "none")) == "adc",
        # Shorter than a lease: a dead process's tasks are known before they are due.
        sweep_seconds=settings.number("TASK_SWEEP_SECONDS", 20 if wakes_hub else 2, minimum=0.05, maximum=600),
        retention_seconds=settings.number("TASK_RETENTION_DAYS", 30, minimum=0, maximum=3650) * _DAY_SECONDS,
        webhooks=_webhooks(settings, hub.webhook_keys, is_woken=wakes_hub),
        worker_accounts=worker_identity.read_accounts(settings),
        wakeup_accounts=frozenset(settings.listed("WAKEUP_ACCOUNTS")),
        max_attempts=read_most_attempts(settings),
        poll_seconds=settings.number("WORKER_POLL_SECONDS", 2, minimum=0.02, maximum=60),
        waits_at_once=int(settings.number("WORKER_WAITS_AT_ONCE", 40, minimum=1, maximum=10_000)),
        limits=read_limits(settings),
    )
    settings.check()
    return config


def _webhooks(settings: Settings, published: tuple[PublicKey, ...], *, is_woken: bool) -> WebhookConfig:
    """Read the settings; `published` are the keys of WEBHOOK_PUBLIC_KEYS. If wake-ups tell of all work, it is polled for less."""
    signing_key = private_key.read(settings, "WEBHOOK_SIGNING_KEY")
    own = (public_key_of(signing_key),) if signing_key else ()
    return WebhookConfig(
        addresses=webhook_address.read(settings),
        signing_key=signing_key,
        public_keys=(*own, *published),
        retry_limits=RetryLimits(
            max_failures=int(settings.number("WEBHOOK_ATTEMPTS", 150, minimum=1, maximum=10_000)),
            max_refusals=int(settings.number("WEBHOOK_REFUSALS", 10, minimum=1, maximum=10_000)),
        ),
        timeout_seconds=settings.number("WEBHOOK_TIMEOUT_SECONDS", 10, minimum=0.1, maximum=60),
        poll_seconds=settings.number("WEBHOOK_POLL_SECONDS", 60 if is_woken else 0.5, minimum=0.02, maximum=600),
    )
