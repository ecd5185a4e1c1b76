"""What a route's agent is to the hub; one over HTTP is in `remote_agent.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

import msgspec

from functions.hub.failure import DownstreamFailed, unaddressed, without_tasks
from shared.a2a.call import Cancellation
from shared.a2a.model import Event, Message
from shared.private import Private
from shared.routes import Route


class Asking(Private, frozen=True, kw_only=True):
    """One turn as it goes to an agent. `message` has the downstream's own context and task ids.

    `running_task_id` is the agent's task of this very turn, when somebody has sent the message before and lost the connection.
    `goes_on`: the turn may last longer than anybody waits for it, and so outlasts an agent that is away for a moment.
    """

    message: Message
    streaming: bool
    authorization: str | None
    traceparent: str | None
    cancellation: Cancellation
    running_task_id: str | None = None
    goes_on: bool = False


class Downstream(Protocol):
    """A route's agent. `immediate`: it answers without waiting for anything."""

    immediate: bool

    def ask(self, asking: Asking) -> Iterator[Event]:
        """The agent's events of one turn. Raises DownstreamFailed."""
        ...

    def cancel(self, task_id: str, *, authorization: str | None, traceparent: str | None) -> None:
        """Cancels the agent's task; that it cannot be is no error."""
        ...


class InProcess:
    """An agent that is a function in this process; for measuring the hub alone, and for tests."""

    immediate = True

    def __init__(self, answer: Callable[[Asking], Iterator[Event]]) -> None:
        self._answer = answer

    def ask(self, asking: Asking) -> Iterator[Event]:
        """See `Downstream.ask`."""
        return self._answer(asking)

    def cancel(self, task_id: str, *, authorization: str | None, traceparent: str | None) -> None:
        """It has no tasks."""


def without_address(route: Route, variable: str) -> Downstream:
    """An agent that cannot be asked, since the variable with its address is not set."""

    def refuse(_: Asking) -> Iterator[Event]:
        raise DownstreamFailed(unaddressed(route, variable))

    return InProcess(refuse)


def of_workers(route: Route) -> Downstream:
    """The pull workers of a role, who cannot be asked: they come for what is stored."""

    def refuse(_: Asking) -> Iterator[Event]:
        raise DownstreamFailed(without_tasks(route))

    return InProcess(refuse)


def addressed(message: Message, *, context_id: str, task_id: str | None) -> Message:
    """The caller's message with the downstream's ids instead of ours; messageId passes through unchanged."""
    return msgspec.structs.replace(message, context_id=context_id, task_id=task_id, reference_task_ids=())
