"""A route's agent as the hub sees it (`Downstream`), and as its `Guard` reaches it (`Transport`)."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from a2a_hub.a2a.extensions.development_tool import (
    CommandExecutionStatus,
    ExecuteSlashCommandRequest,
    GetAllSlashCommandsRequest,
    SlashCommand,
)
from a2a_hub.a2a.model import Event, Message
from a2a_hub.http.client import Budget
from a2a_hub.http.messages import Cancellation
from a2a_hub.routing.routes import Route
from a2a_hub.telemetry.log import Redacted
from functions.hub.credentials import AuthorizedHttp
from functions.hub.failure import DownstreamFailed, Failure, unaddressed, without_tasks


class AgentRequest(Redacted, frozen=True, kw_only=True):
    """One turn as it goes to an agent. `message` has the downstream's own context and task ids.

    `running_task_id` is the agent's task of this very turn, when somebody has sent the message before and lost the connection.
    `decides`: the message is the decision on something that its task waits to do, and means nothing to another task.
    `development_tool`: the message is that of a client of the extension of this name.
    `may_outlive_request`: the turn may last longer than anybody waits for it, and so outlasts an agent that is away for a moment.
    `executes`: that task executes a slash command, whose `message` is for the record and never sent.
    """

    message: Message
    streaming: bool
    authorization: str | None
    traceparent: str | None
    cancellation: Cancellation
    running_task_id: str | None = None
    decides: bool = False
    development_tool: bool = False
    may_outlive_request: bool = False
    executes: bool = False


class CallContext(Redacted, frozen=True, kw_only=True):
    """What of a caller's call goes along to an agent. `within_seconds` is for answers that need less than the route's time."""

    authorization: str | None
    traceparent: str | None
    within_seconds: float | None = None


class ExecutionReply(Struct, frozen=True, kw_only=True):
    """What an agent made of a slash command: `task_id` is its task that executes it; without one, `said` is the result already,
    text or JSON. `refusal` is why it did not start, "" where the agent does not say.
    """

    task_id: str = ""
    status: CommandExecutionStatus | None = None
    message: str = ""
    said: Any = None
    refusal: str | None = None


class Downstream(Protocol):
    """A route's agent. `immediate`: it answers without waiting for anything."""

    immediate: bool

    def ask(self, agent_request: AgentRequest) -> Iterator[Event]:
        """The agent's events of one turn. Raises DownstreamFailed."""
        ...

    def cancel(self, task_id: str, *, authorization: str | None, traceparent: str | None) -> None:
        """Cancels the agent's task; that it cannot be is no error."""
        ...

    def commands(self, request: GetAllSlashCommandsRequest, context: CallContext) -> Sequence[SlashCommand]:
        """The agent's slash commands; one that has no such thing has none. Raises DownstreamFailed."""
        ...

    def execute(self, request: ExecuteSlashCommandRequest, context: CallContext) -> ExecutionReply:
        """Has the agent execute a slash command, once. Raises DownstreamFailed."""
        ...


class TransportCall(Redacted, frozen=True, kw_only=True):
    """One guarded call: an HTTP client that adds the credential, headers that go along, and limits.

    `budget` is for an answer that is no stream, `stream_budget` for one that is and for a task that goes on.
    """

    http: AuthorizedHttp
    headers: Mapping[str, str]
    budget: Budget
    stream_budget: Budget


class Transport(Protocol):
    """A protocol in which an agent is spoken to, behind a `Guard`. Each method raises ClientError."""

    def ask(self, agent_request: AgentRequest, call: TransportCall) -> Generator[Event]:
        """Yield the agent's events of one turn."""
        ...

    def cancel(self, task_id: str, call: TransportCall) -> None:
        """Cancel the agent's task."""
        ...

    def commands(self, request: GetAllSlashCommandsRequest, call: TransportCall) -> Sequence[SlashCommand]:
        """Return the agent's slash commands; none where it has no such thing."""
        ...

    def execute(self, request: ExecuteSlashCommandRequest, call: TransportCall) -> ExecutionReply:
        """Execute a slash command, once."""
        ...


class InProcess:
    """An agent that is a function in this process; for measuring the hub alone, and for tests. It has no slash commands."""

    immediate = True

    def __init__(self, answer: Callable[[AgentRequest], Iterator[Event]]) -> None:
        self._answer = answer

    def ask(self, agent_request: AgentRequest) -> Iterator[Event]:
        """See `Downstream.ask`."""
        return self._answer(agent_request)

    def cancel(self, task_id: str, *, authorization: str | None, traceparent: str | None) -> None:
        """It has no tasks."""

    def commands(
        self,
        request: GetAllSlashCommandsRequest,  # noqa: ARG002 - the seam's
        context: CallContext,  # noqa: ARG002
    ) -> Sequence[SlashCommand]:
        """See `Downstream.commands`."""
        return ()

    def execute(
        self,
        request: ExecuteSlashCommandRequest,  # noqa: ARG002 - the seam's
        context: CallContext,  # noqa: ARG002
    ) -> ExecutionReply:
        """See `Downstream.execute`."""
        return ExecutionReply(refusal="")


class UnavailableAgent:
    """An agent that cannot be asked for anything."""

    immediate = True

    def __init__(self, failure: Failure) -> None:
        self._failure = failure

    def ask(self, *_: object, **__: object) -> Any:
        """Raises DownstreamFailed."""
        raise DownstreamFailed(self._failure)

    commands = ask
    execute = ask

    def cancel(self, task_id: str, *, authorization: str | None, traceparent: str | None) -> None:
        """It has no tasks."""


def without_address(route: Route, variable: str) -> Downstream:
    """An agent that cannot be asked, since the variable with its address is not set."""
    return UnavailableAgent(unaddressed(route, variable))


def of_workers(route: Route) -> Downstream:
    """The pull workers of a role, who cannot be asked: they come for what is stored."""
    return UnavailableAgent(without_tasks(route))


def addressed(message: Message, *, context_id: str, task_id: str | None) -> Message:
    """The caller's message with the downstream's ids instead of ours; messageId passes through unchanged."""
    return msgspec.structs.replace(message, context_id=context_id, task_id=task_id, reference_task_ids=())
