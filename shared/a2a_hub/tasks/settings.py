"""The settings of stored tasks, beside those of the store (`a2a_hub.task_store.settings`)."""

from msgspec import Struct

from a2a_hub.settings.reader import Settings
from a2a_hub.tasks import webhook_address
from a2a_hub.tasks.webhook_address import WebhookAddresses


class TaskSettings(Struct, frozen=True, kw_only=True):
    """The settings of stored tasks. With `runs_at_once`, the process that accepts a task runs it; otherwise the `tasks` function
    has it run, for instances without processor time between requests. `webhooks` may be notified. A task fails
    after `max_attempts` starts in one turn. An answer is repeated for `repeat_seconds` to callers who ask again.
    """

    store_after_seconds: float
    """A turn that takes longer is stored."""
    ui_seconds: float
    """The maximum wait of a person, who then gets the task's number; other clients get the task after `blocking_seconds`."""
    blocking_seconds: float
    lease_seconds: float = 30.0
    cancel_poll_seconds: float = 1.0
    """The interval at which the store is polled for cancellations."""
    batch_seconds: float = 1.0
    """The time between two appends of events."""
    outage_seconds: float = 120.0
    """The longest outage of the store during which a run is still recorded."""
    runs_at_once: bool
    webhooks: WebhookAddresses
    max_attempts: int
    repeat_seconds: float = 0.0


def read(settings: Settings) -> TaskSettings:
    """Read the settings."""
    return TaskSettings(
        store_after_seconds=settings.number("TASK_STORE_AFTER_SECONDS", 2, minimum=0, maximum=60),
        ui_seconds=settings.number("TASK_UI_SECONDS", 25, minimum=0.1, maximum=600),
        blocking_seconds=settings.number("TASK_BLOCKING_SECONDS", 270, minimum=0.1, maximum=3500),
        lease_seconds=settings.number("TASK_LEASE_SECONDS", 30, minimum=1, maximum=600),
        cancel_poll_seconds=settings.number("TASK_CANCEL_POLL_SECONDS", 1, minimum=0.05, maximum=30),
        runs_at_once=settings.choice("TASK_RUNS", "at_once", ("at_once", "queued")) == "at_once",
        webhooks=webhook_address.read(settings),
        max_attempts=read_most_attempts(settings),
        repeat_seconds=settings.number("TASK_REPEAT_SECONDS", 600, minimum=0, maximum=86_400),
    )


def read_most_attempts(settings: Settings) -> int:
    """Read the number of times that the hub or workers may start one turn."""
    return int(settings.number("TASK_MOST_ATTEMPTS", 5, minimum=1, maximum=100))
