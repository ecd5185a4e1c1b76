"""How a function keeps tasks, beside where (`a2a_hub.task_store.factory`)."""

from __future__ import annotations

from dataclasses import dataclass

from a2a_hub.settings.reader import Settings
from a2a_hub.tasks.recorder import LeaseTimes


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitLimits:
    """`store_seconds`: a turn that takes longer is stored. `ui_seconds`: then a person gets a number to ask for it by.
    `blocking_seconds`: then any other client gets the task as it is.
    """

    store_seconds: float
    ui_seconds: float
    blocking_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSettings:
    """`runs_at_once`: the process that takes a task runs it; else the `tasks` function is told to have it run, which is what
    suits instances that get no processor time between requests. `webhook_hosts` may be notified though they are not public.
    A task that was begun `most_attempts` times in one turn has failed.
    """

    patience: WaitLimits
    lease_times: LeaseTimes
    runs_at_once: bool
    webhook_hosts: tuple[str, ...]
    most_attempts: int


def read(settings: Settings) -> TaskSettings:
    """The settings."""
    return TaskSettings(
        patience=WaitLimits(
            store_seconds=settings.number("TASK_STORE_AFTER_SECONDS", 2, least=0, most=60),
            ui_seconds=settings.number("TASK_UI_SECONDS", 25, least=0.1, most=600),
            blocking_seconds=settings.number("TASK_BLOCKING_SECONDS", 270, least=0.1, most=3500),
        ),
        lease_times=LeaseTimes(
            seconds=settings.number("TASK_LEASE_SECONDS", 30, least=1, most=600),
            look_seconds=settings.number("TASK_LOOK_SECONDS", 1, least=0.05, most=30),
        ),
        runs_at_once=settings.choice("TASK_RUNS", "at_once", ("at_once", "queued")) == "at_once",
        webhook_hosts=settings.listed("WEBHOOK_ALLOWED_HOSTS"),
        most_attempts=read_most_attempts(settings),
    )


def read_most_attempts(settings: Settings) -> int:
    """How often a turn may be begun, by the hub or by workers."""
    return int(settings.number("TASK_MOST_ATTEMPTS", 5, least=1, most=100))
