"""A route's agent as the hub sees it (`Downstream`), and as its `Guard` reaches it (`Transport`)."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any, Protocol

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
from a2a_hub.telemetry.log import Redacted
from functions.hub.credentials import AuthorizedHttp
from functions.hub.failure import DownstreamFailed, Failure


class AgentRequest(Redacted, frozen=True, kw_only=True):
    """One turn as it goes to an agent. `message` has the downstream's own context and task ids.

    `running_task_id` is the agent's task of this turn, if the message was sent before and the connection was lost.
    `decides`: the message decides on a tool call of its task, and means nothing to another task.
    `development_tool`: the message comes from a client of that extension.
    `may_outlive_request`: the turn may last longer than its caller waits, and outlasts a short absence of the agent.
    `executes`: the running task executes a slash command; `message` is its record and is never sent.
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
    """The caller's credential and trace for one call. `within_seconds` shortens the route's time limit."""

    authorization: str | None
    traceparent: str | None
    within_seconds: float | None = None


class ExecutionReply(Struct, frozen=True, kw_only=True):
    """An agent's reply to a slash command: `task_id` is the task that executes it; without one, `result` is its result, text or
    JSON. `refusal` is the reason why it did not start, "" if the agent gives none.
    """

    task_id: str = ""
    status: CommandExecutionStatus | None = None
    message: str = ""
    result: Any = None
    refusal: str | None = None


class Downstream(Protocol):
    """A route's agent. `immediate`: it answers without any input or output."""

    immediate: bool

    def ask(self, agent_request: AgentRequest) -> Iterator[Event]:
        """Yield the agent's events of one turn. Raises DownstreamFailed."""

    def cancel(self, task_id: str, context: CallContext) -> None:
        """Cancel the agent's task; a failure is no error."""

    def commands(self, request: GetAllSlashCommandsRequest, context: CallContext) -> Sequence[SlashCommand]:
        """Return the agent's slash commands; none if it does not support them. Raises DownstreamFailed."""

    def execute(self, request: ExecuteSlashCommandRequest, context: CallContext) -> ExecutionReply:
        """Let the agent execute a slash command, once. Raises DownstreamFailed."""


class TransportCall(Redacted, frozen=True, kw_only=True):
    """One guarded call: an HTTP client that adds the credential, headers that go along, and limits.

    `budget` is for an answer that is no stream, `stream_budget` for a stream, and for a task that outlives its request.
    """

    http: AuthorizedHttp
    headers: Mapping[str, str]
    budget: Budget
    stream_budget: Budget


class Transport(Protocol):
    """A protocol for calls to an agent, behind a `Guard`. Each method raises ClientError."""

    def ask(self, agent_request: AgentRequest, call: TransportCall) -> Generator[Event]:
        """Yield the agent's events of one turn."""

    def cancel(self, task_id: str, call: TransportCall) -> None:
        """Cancel the agent's task."""

    def commands(self, request: GetAllSlashCommandsRequest, call: TransportCall) -> Sequence[SlashCommand]:
        """Return the agent's slash commands; empty if it has none."""

    def execute(self, request: ExecuteSlashCommandRequest, call: TransportCall) -> ExecutionReply:
        """Execute a slash command, once."""


class InProcess:
    """An agent that is a function in this process, for benchmarks and tests. It has no slash commands."""

    immediate = True

    def __init__(self, answer: Callable[[AgentRequest], Iterator[Event]]) -> None:
        self._answer = answer

    def ask(self, agent_request: AgentRequest) -> Iterator[Event]:
        """See `Downstream.ask`."""
        return self._answer(agent_request)

    def cancel(self, *_: object, **__: object) -> None:
        """Do nothing: there are no tasks."""

    def commands(self, *_: object, **__: object) -> Sequence[SlashCommand]:
        """See `Downstream.commands`."""
        return ()

    def execute(self, *_: object, **__: object) -> ExecutionReply:
        """See `Downstream.execute`."""
        return ExecutionReply(refusal="")


class UnavailableAgent:
    """An agent to which every call fails."""

    immediate = True

    def __init__(self, failure: Failure) -> None:
        self._failure = failure

    def ask(self, *_: object, **__: object) -> Any:
        """Raise DownstreamFailed."""
        raise DownstreamFailed(self._failure)

    commands = ask
    execute = ask

    def cancel(self, *_: object, **__: object) -> None:
        """Do nothing: there are no tasks."""
