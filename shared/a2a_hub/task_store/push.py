"""The store of push notification configs (A2A 1.0.1 §3.1.7-§3.1.10), and of how far each has been told of its task.

A config is delivered to from its task's log, entry by entry and in order: `delivered` is the last sequence number that its
receiver has accepted.
"""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from a2a_hub.a2a.model import TaskPushNotificationConfig
from a2a_hub.a2a.versions import Version


class PushConfig(Struct, frozen=True, kw_only=True):
    """A config as it was registered, with the version whose shape its receiver expects."""

    config: TaskPushNotificationConfig
    version: Version

    def __repr__(self) -> str:
        return f"PushConfig(task={self.config.task_id!r}, id={self.config.id!r})"


class Delivery(Struct, frozen=True, kw_only=True):
    """How far a config's receiver is. `failures` counts those since the last success; `dead` says why it was given up."""

    push: PushConfig
    delivered: int = 0
    failures: int = 0
    next_attempt_at: float = 0.0
    dead: str = ""


class PushStore(Protocol):
    """Implemented by each task store; a task's configs go with it."""

    def put_config(self, push: PushConfig, *, delivered: int) -> None:
        """Stores or replaces a config, by its task's id and its own; entries up to `delivered` are not sent.

        Raises UnknownTask.
        """
        ...

    def configs(self, task_id: str) -> list[Delivery]:
        """The task's configs, in the order in which they were first stored."""
        ...

    def delete_config(self, task_id: str, config_id: str) -> None:
        """Deletes a config; one that is not there is no error."""
        ...

    def due_deliveries(self, *, limit: int) -> list[Delivery]:
        """Configs with entries that were not delivered, that are not dead, and whose next attempt is due."""
        ...

    def claim_delivery(self, delivery: Delivery, *, seconds: float) -> bool:
        """Takes a due delivery for so long, if nobody else has since it was read: two senders would break the order."""
        ...

    def save_delivery(self, delivery: Delivery) -> None:
        """Stores what became of an attempt and ends the claim; for a config that was deleted meanwhile, nothing."""
        ...
