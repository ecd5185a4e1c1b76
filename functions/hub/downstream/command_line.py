"""An agent's slash commands: by the methods of the `development-tool` extension or, without these, by gemini-cli's paths.

gemini-cli's A2A server (packages/a2a-server of google-gemini/gemini-cli) has `GET /listCommands` and `POST /executeCommand`. A
command answers with JSON when it is done, or with events as they come.
"""

import shlex
import threading
from collections import OrderedDict
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from msgspec.structs import replace

from a2a_hub.a2a import protojson
from a2a_hub.a2a.bindings import sse
from a2a_hub.a2a.client import A2AClient, Endpoint, EventsOfOneTask, as_client_error, check, known_events, read_json
from a2a_hub.a2a.client_errors import ClientError, ClientFault
from a2a_hub.a2a.errors import METHOD_NOT_FOUND, A2AError
from a2a_hub.a2a.extensions.development_tool import (
    CommandExecutionStatus,
    ExecuteSlashCommandRequest,
    ExecuteSlashCommandResponse,
    GetAllSlashCommandsRequest,
    GetAllSlashCommandsResponse,
    Schema,
    SlashCommand,
    Spelling,
    write,
)
from a2a_hub.a2a.extensions.slash_commands import EXECUTE_COMMAND, GET_COMMANDS
from a2a_hub.a2a.model import Binding, Event, Message, Task, TaskStatusUpdateEvent, text_of
from a2a_hub.a2a.operations import Operation
from a2a_hub.a2a.relay import Relay
from a2a_hub.http.client import Budget, ClientResponse
from a2a_hub.http.messages import EVENT_STREAM, JSON
from a2a_hub.runtime.threads import Threads
from functions.hub.downstream.interface import AgentRequest, ExecutionReply, TransportCall

S = TypeVar("S", bound=Schema)
_STATUSES = frozenset(CommandExecutionStatus)
# Answers to JSON-RPC of an agent that speaks HTTP+JSON only.
_NO_JSONRPC = frozenset({ClientFault.NOT_FOUND, ClientFault.UNEXPECTED_STATUS, ClientFault.NOT_JSON})
# Executions whose events nobody has read yet.
_MAX_LIVE = 100
_NO_SUCH_PATH = frozenset({404, 405, 501})


class AgentCommandClient:
    """The commands of one agent, by methods or by paths. Thread-safe. Each method raises ClientError."""

    def __init__(self) -> None:
        self._has_methods = True
        self._threads = Threads("command")
        self._lock = threading.Lock()
        self._live: OrderedDict[str, Relay[Event]] = OrderedDict()

    def commands(
        self, endpoint: Endpoint, call: TransportCall, request: GetAllSlashCommandsRequest
    ) -> Sequence[SlashCommand]:
        """Return the agent's commands; none if it supports neither form."""
        if self._has_methods:
            result = self._result(endpoint, call, GET_COMMANDS, request, GetAllSlashCommandsResponse)
            if result is not None:
                return result.commands
        commands = self._listed_by_path(endpoint, call)
        self._has_methods = commands is None
        return commands or ()

    def execute(self, endpoint: Endpoint, call: TransportCall, request: ExecuteSlashCommandRequest) -> ExecutionReply:
        """Execute the command, once: an unsupported form executes nothing."""
        if self._has_methods:
            result = self._result(endpoint, call, EXECUTE_COMMAND, request, ExecuteSlashCommandResponse)
            if result is not None:
                return _executed(result)
        executed = self._executed_by_path(endpoint, call, request)
        self._has_methods = executed is None
        return executed or ExecutionReply(refusal="")

    def live(self, agent_request: AgentRequest) -> Generator[Event] | None:
        """Return all events of an execution that came over the connection of its request; they can be read once."""
        with self._lock:
            relay = self._live.pop(agent_request.running_task_id or "", None)
        return _until_cancelled(relay, agent_request) if relay is not None else None

    def _result(
        self, endpoint: Endpoint, call: TransportCall, operation: Operation, request: Schema, type_: type[S]
    ) -> S | None:
        """Return the result of the method; None if the agent has no such method."""
        # The methods exist over JSON-RPC alone.
        over_jsonrpc = replace(endpoint, binding=Binding.JSONRPC)
        params = write(request, Spelling.SNAKE)
        client = A2AClient(http=call.http, endpoint=over_jsonrpc, headers=call.headers, budget=call.budget)
        try:
            result: Any = client.result(operation, params)
        except ClientError as error:
            lacks_jsonrpc = endpoint.binding is not Binding.JSONRPC and error.fault in _NO_JSONRPC
            if error.code == METHOD_NOT_FOUND.code or lacks_jsonrpc:
                return None
            raise
        with as_client_error():
            return protojson.read(type_, _known(result), "result")

    def _listed_by_path(self, endpoint: Endpoint, call: TransportCall) -> Sequence[SlashCommand] | None:
        """Return the agent's commands; None if it has no such path."""
        with as_client_error():
            answer = _request(endpoint, call, "GET", "/listCommands", None, call.budget)
            if answer.status in _NO_SUCH_PATH:
                answer.close()
                return None
            check(endpoint, answer)
            listed = protojson.read(GetAllSlashCommandsResponse, read_json(answer), "listCommands")
            return tuple(_with_own_name(command, "") for command in listed.commands)

    def _executed_by_path(
        self, endpoint: Endpoint, call: TransportCall, request: ExecuteSlashCommandRequest
    ) -> ExecutionReply | None:
        """Execute the command, once; None if the agent has no such path."""
        body = {"command": " ".join(request.command_path), "args": _words(request.args)}
        with as_client_error():
            answer = _request(endpoint, call, "POST", "/executeCommand", protojson.encode(body), call.stream_budget)
            if answer.status in (400, *_NO_SUCH_PATH):
                # Its own 404 says which command it does not know.
                return ExecutionReply(refusal="") if _is_refusal(answer) else None
            check(endpoint, answer)
            if answer.media_type == EVENT_STREAM:
                return self._streamed(endpoint, answer, call.stream_budget)
            answer.complete_within(call.budget.idle_seconds)
            result = read_json(answer)
        if not isinstance(result, dict) or "data" not in result:
            raise ClientError(ClientFault.NOT_A2A, "the answer is no result of a command")
        return ExecutionReply(result=result["data"])

    def _streamed(self, endpoint: Endpoint, answer: ClientResponse, budget: Budget) -> ExecutionReply:
        # The agent aborts the command when its connection closes, so the run continues without subscribers.
        relay = Relay[Event]()
        relay.start(_events(endpoint, answer, budget), self._threads)
        first = relay.first()
        if first is None:
            raise relay.error or ClientError(ClientFault.CUT, "the stream ended before it began")
        if isinstance(first, Message):
            return ExecutionReply(result=text_of(first))
        task_id = first.id if isinstance(first, Task) else first.task_id
        with self._lock:
            self._live[task_id] = relay
            if len(self._live) > _MAX_LIVE:
                self._live.popitem(last=False)
        return ExecutionReply(task_id=task_id)


def _known(result: Any) -> Any:
    """Return the result without an unknown status: the task that it names decides then."""
    if isinstance(result, dict) and isinstance(status := result.get("status"), str):
        return result if status in _STATUSES else result | {"status": None}
    return result


def _executed(response: ExecuteSlashCommandResponse) -> ExecutionReply:
    if response.status is CommandExecutionStatus.FAILED_TO_START:
        return ExecutionReply(refusal=response.message)
    if not response.execution_id:
        raise ClientError(ClientFault.NOT_A2A, "the answer names no task for the command")
    unspecified = response.status is CommandExecutionStatus.COMMAND_EXECUTION_STATUS_UNSPECIFIED
    status = CommandExecutionStatus.STARTED if unspecified else response.status
    return ExecutionReply(task_id=response.execution_id, status=status, message=response.message)


def _request(
    endpoint: Endpoint, call: TransportCall, method: str, path: str, body: bytes | None, budget: Budget
) -> ClientResponse:
    sent = {"content-type": JSON} if body is not None else {}
    return call.http.request(
        method,
        endpoint.url.rstrip("/") + path,
        headers={**call.headers, "accept": f"{JSON}, {EVENT_STREAM}", **sent},
        body=body,
        budget=budget,
    )


def _events(endpoint: Endpoint, answer: ClientResponse, budget: Budget) -> Iterator[Event]:
    complete = False
    with as_client_error():
        lines = sse.data_lines(answer.chunks(), limit_bytes=budget.max_bytes)
        for event in EventsOfOneTask(known_events(endpoint, ([line] for line in lines))):
            yield event
            if isinstance(event, Task | TaskStatusUpdateEvent):
                complete = event.status.state.settled
    if not complete:
        raise ClientError(ClientFault.CUT, "the stream ended before the command did")


def _until_cancelled(relay: Relay[Event], agent_request: AgentRequest) -> Generator[Event]:
    events, ready, cancellation = relay.subscribe(), threading.Event(), agent_request.call.cancellation
    events.on_ready(ready.set)
    cancellation.on_cancel(ready.set)
    with suppress(StopIteration):
        while True:
            ready.clear()
            if cancellation.cancelled:
                raise ClientError(ClientFault.CANCELLED, "the caller left")
            event = events.poll()
            if event is not None:
                yield event
            else:
                ready.wait()


def _with_own_name(command: SlashCommand, parent: str) -> SlashCommand:
    """Return the command under its own name: gemini-cli calls `show` below `memory` `memory show`."""
    name = command.name.removeprefix(f"{parent} ") if parent else command.name
    inner = tuple(_with_own_name(each, command.name) for each in command.sub_commands)
    return replace(command, name=name, sub_commands=inner)


def _words(args: str) -> list[str]:
    try:
        return shlex.split(args)
    except ValueError:
        # An apostrophe, such as in a sentence.
        return args.split()


def _is_refusal(answer: ClientResponse) -> bool:
    try:
        value: Any = read_json(answer)
    except (ClientError, A2AError):
        return False
    return isinstance(value, dict) and isinstance(value.get("error"), str)
