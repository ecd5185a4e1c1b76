"""What it means to wake somebody: at most a hint, which may be lost, come twice, late, or out of order."""

from __future__ import annotations

from typing import Protocol
from urllib.parse import quote

from msgspec import Struct

WAKEUPS_PATH = "/wakeups"
"""Where a function takes them, pushed by Pub/Sub or by the hub on the same machine."""
_HUB_TOPIC = "tasks"


class Wakeup(Struct, frozen=True):
    """There may be something to do: this task, whose role has this topic, has become due."""

    topic: str
    task_id: str


class Wakeups(Protocol):
    """Thread-safe."""

    def publish(self, topic: str, task_id: str) -> None:
        """Tells everybody who listens to the topic, soon. Raises nothing: the sweep finds what nobody heard of."""
        ...

    def close(self) -> None:
        """Gives connections back."""
        ...


class NoWakeups:
    """Nobody is told: tasks are found by whoever looks for them."""

    def publish(self, topic: str, task_id: str) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Does nothing."""


def topic_of(role: str) -> str:
    """The name of a role's topic; the hub's own tasks have the empty role. Different roles have different topics."""
    return f"{_HUB_TOPIC}-{quote(role, safe='-_.~')}" if role else _HUB_TOPIC
