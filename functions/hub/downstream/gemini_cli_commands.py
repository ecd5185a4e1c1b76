"""Slash commands of gemini-cli's A2A server, which has paths of its own for them: `GET /listCommands` and `POST /executeCommand`.

(packages/a2a-server of google-gemini/gemini-cli.) A command answers with JSON when it is done, or with events as they come.
"""

from __future__ import annotations

import shlex
import threading
from collections import OrderedDict
from collections.abc import Generator, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from a2a_hub.a2a import protojson
from a2a_hub.a2a.bindings import sse
from a2a_hub.a2a.client import Endpoint, as_client_error, check, decoded, event_of, json_of
from a2a_hub.a2a.client_errors import ClientError, ClientFault
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.extensions.development_tool import (
    ExecuteSlashCommandRequest,
    GetAllSlashCommandsResponse,
    SlashCommand,
    read,
)
from a2a_hub.a2a.extensions.gemini_cli import in_passing
from a2a_hub.a2a.model import Event, Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent, text_of
from a2a_hub.a2a.relay import Relay
from a2a_hub.http.client import Answer, Budget
from a2a_hub.http.messages import EVENT_STREAM, JSON
from a2a_hub.runtime.threads import Threads
from functions.hub.downstream.interface import AgentRequest, ExecutionReply, TransportCall

# Executions whose events nobody has read yet.
_MAX_LIVE = 100
_POLL_SECONDS = 0.5
_NO_SUCH_PATH = frozenset({404, 405, 501})


class GeminiCliCommands:
    """The commands of one agent. Thread-safe. Each method raises ClientError."""

    def __init__(self) -> None:
        self._threads = Threads("command")
        self._lock = threading.Lock()
        self._live: OrderedDict[str, Relay[Event]] = OrderedDict()

    def commands(self, endpoint: Endpoint, call: TransportCall) -> Sequence[SlashCommand] | None:
        """Return the agent's commands; None if it has no such path."""
        with as_client_error():
            answer = _request(endpoint, call, "GET", "/listCommands", None, call.budget)
            if answer.status in _NO_SUCH_PATH:
                answer.close()
                return None
            check(endpoint, answer)
            listed = read(GetAllSlashCommandsResponse, json_of(answer), "listCommands")
            return tuple(_below(command, "") for command in listed.commands)

    def execute(
        self, endpoint: Endpoint, call: TransportCall, request: ExecuteSlashCommandRequest
    ) -> ExecutionReply | None:
        """Execute the command, once; None if the agent has no such path."""
        body = {"command": " ".join(request.command_path), "args": _words(request.args)}
        with as_client_error():
            answer = _request(
                endpoint, call, "POST", "/executeCommand", protojson.encode(body), call.stream_budget
            )
            if answer.status in (400, *_NO_SUCH_PATH):
                # Its own 404 says which command it does not know.
                refuses = _is_refusal(answer)
                return ExecutionReply(refusal="") if refuses else None
            check(endpoint, answer)
            if answer.media_type == EVENT_STREAM:
                return self._streamed(endpoint, answer, call.stream_budget)
            answer.complete_within(call.budget.idle_seconds)
            result = json_of(answer)
        if not isinstance(result, dict) or "data" not in result:
            raise ClientError(ClientFault.NOT_A2A, "the answer is no result of a command")
        return ExecutionReply(result=result["data"])

    def live(self, agent_request: AgentRequest) -> Generator[Event] | None:
        """Return all events of an execution that this process began; they can be read once."""
        with self._lock:
            relay = self._live.pop(agent_request.running_task_id or "", None)
        return _until_cancelled(relay, agent_request) if relay is not None else None

    def _streamed(self, endpoint: Endpoint, answer: Answer, budget: Budget) -> ExecutionReply:
        relay = Relay(_events(endpoint, answer, budget), on_abandoned=lambda: None)
        # Never closed: the agent aborts the command when its connection ends.
        relay.subscribe(idle_seconds=0)
        relay.start(self._threads, on_end=lambda: None)
        first = relay.first()
        match first:
            case None:
                raise relay.error or ClientError(ClientFault.CUT, "the stream ended before it began")
            case Message():
                return ExecutionReply(result=text_of(first))
            case Task(id=task_id):
                pass
            case TaskStatusUpdateEvent(task_id=task_id) | TaskArtifactUpdateEvent(task_id=task_id):
                pass
        with self._lock:
            self._live[task_id] = relay
            if len(self._live) > _MAX_LIVE:
                self._live.popitem(last=False)
        return ExecutionReply(task_id=task_id)


def _request(
    endpoint: Endpoint, call: TransportCall, method: str, path: str, body: bytes | None, budget: Budget
) -> Answer:
    sent = {"content-type": JSON} if body is not None else {}
    return call.http.request(
        method,
        endpoint.url.rstrip("/") + path,
        headers={**call.headers, "accept": f"{JSON}, {EVENT_STREAM}", **sent},
        body=body,
        budget=budget,
    )


def _events(endpoint: Endpoint, answer: Answer, budget: Budget) -> Iterator[Event]:
    complete = False
    with as_client_error():
        for data in sse.data_lines(answer.chunks(), limit_bytes=budget.max_bytes):
            event = in_passing(event_of(endpoint, decoded(data)))
            yield event
            if isinstance(event, Task | TaskStatusUpdateEvent):
                complete = event.status.state.settled
    if not complete:
        raise ClientError(ClientFault.CUT, "the stream ended before the command did")


def _until_cancelled(relay: Relay[Event], agent_request: AgentRequest) -> Generator[Event]:
    events = relay.subscribe(idle_seconds=_POLL_SECONDS)
    for event in events or ():
        if agent_request.cancellation.cancelled:
            raise ClientError(ClientFault.CANCELLED, "the caller left")
        if event is not None:
            yield event


def _below(command: SlashCommand, parent: str) -> SlashCommand:
    """Return the command under its own name: gemini-cli calls `show` below `memory` `memory show`."""
    name = command.name.removeprefix(f"{parent} ") if parent else command.name
    inner = tuple(_below(each, command.name) for each in command.sub_commands)
    return replace(command, name=name, sub_commands=inner)


def _words(args: str) -> list[str]:
    try:
        return shlex.split(args)
    except ValueError:
        # An apostrophe, such as in a sentence.
        return args.split()


def _is_refusal(answer: Answer) -> bool:
    try:
        value: Any = json_of(answer)
    except (ClientError, A2AError):
        return False
    return isinstance(value, dict) and isinstance(value.get("error"), str)
