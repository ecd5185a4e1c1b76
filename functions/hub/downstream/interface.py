"""The interfaces of a route's agent: `Downstream` for the hub, `Transport` for the `Guard` that calls it."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct, field

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.client import Endpoint
from a2a_hub.a2a.extensions.development_tool import (
    CommandExecutionStatus,
    ExecuteSlashCommandRequest,
    GetAllSlashCommandsRequest,
    SlashCommand,
)
from a2a_hub.a2a.model import Event, Message
from a2a_hub.http.client import Budget
from a2a_hub.telemetry.log import Redacted
from functions.hub.credentials import AuthorizedHttp
from functions.hub.failure import DownstreamFailed, Failure


class AgentRequest(Redacted, frozen=True, kw_only=True):
    """One turn as it goes to an agent, for the hub's caller. `message` has the downstream's own context and task ids.

    `running_task_id` is the agent's task of this turn if the message was already sent and the connection was lost. `decides` is
    True if the message decides on a tool call of its task: it must not start another task.
    `development_tool`: the message comes from a client of that extension.
    `executes`: the running task executes a slash command; `message` is its record and is never sent.
    `state` is the transport's JSON state of a waiting task for its next turn, changed in place.
    """

    call: Call
    message: Message
    streaming: bool
    running_task_id: str | None = None
    decides: bool = False
    development_tool: bool = False
    executes: bool = False
    state: dict[str, Any] = field(default_factory=dict)


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
    """A route's agent. `immediate` is True if it answers without I/O."""

    immediate: bool

    @property
    def endpoint(self) -> Endpoint | None:
        """The interface of the latest call; None before the first call, and for agents that are not called over the network."""

    @property
    def open_circuit(self) -> Failure | None:
        """The failure of all requests while the circuit is open; None if it is closed."""

    def ask(self, agent_request: AgentRequest) -> Iterator[Event]:
        """Yield the agent's events of one turn. Raises DownstreamFailed."""

    def cancel(self, task_id: str, call: Call) -> None:
        """Cancel the agent's task; a failure is no error."""

    def commands(self, request: GetAllSlashCommandsRequest, call: Call, *, seconds: float) -> Sequence[SlashCommand]:
        """Return the agent's slash commands within `seconds`; empty if it does not support them. Raises DownstreamFailed."""

    def execute(self, request: ExecuteSlashCommandRequest, call: Call) -> ExecutionReply:
        """Let the agent execute a slash command, once. Raises DownstreamFailed."""


class TransportCall(Redacted, frozen=True, kw_only=True):
    """One guarded call: the HTTP client that adds the credential, further headers, and limits.

    `budget` limits an answer that is not streamed, `stream_budget` a stream or a task that outlives its request.
    """

    http: AuthorizedHttp
    headers: Mapping[str, str]
    budget: Budget
    stream_budget: Budget


class Transport(Protocol):
    """A protocol for calls to an agent, behind a `Guard`. Each method raises ClientError."""

    @property
    def endpoint(self) -> Endpoint | None:
        """See `Downstream.endpoint`."""

    def ask(self, agent_request: AgentRequest, call: TransportCall) -> Generator[Event]:
        """Yield the agent's events of one turn."""

    def cancel(self, task_id: str, call: TransportCall) -> None:
        """Cancel the agent's task."""

    def commands(self, request: GetAllSlashCommandsRequest, call: TransportCall) -> Sequence[SlashCommand]:
        """Return the agent's slash commands; empty if it has none."""

    def execute(self, request: ExecuteSlashCommandRequest, call: TransportCall) -> ExecutionReply:
        """Execute a slash command, once."""


class AnswersOnly:
    """An agent without tasks of its own and without slash commands: a base of `Downstream` and `Transport`."""

    endpoint = None

    def cancel(self, *_: object, **__: object) -> None:
        """Do nothing: there are no tasks."""

    def commands(self, *_: object, **__: object) -> Sequence[SlashCommand]:
        """Return none."""
        return ()

    def execute(self, *_: object, **__: object) -> ExecutionReply:
        """Return that there is no such command."""
        return ExecutionReply(refusal="")


class UnavailableAgent(AnswersOnly):
    """An agent to which every call fails."""

    immediate = True
    open_circuit = None

    def __init__(self, failure: Failure) -> None:
        self._failure = failure

    def ask(self, *_: object, **__: object) -> Any:
        """Raise DownstreamFailed."""
        raise DownstreamFailed(self._failure)

    commands = ask
    execute = ask
