"""The server of one agent, over all versions and both bindings: one pipeline from a request to the agent and back."""

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from a2a_hub.a2a import errors
from a2a_hub.a2a.admission import accepted_modes, active_extensions, admit, check_declared
from a2a_hub.a2a.agent import Agent, Operations, Sending, Tasks, on_task
from a2a_hub.a2a.bindings import jsonrpc, rest, sse
from a2a_hub.a2a.bindings.exchange import Exchange
from a2a_hub.a2a.bindings.sse import EventStream
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.card import AgentCard
from a2a_hub.a2a.error_response import body_error
from a2a_hub.a2a.errors import A2AError, ServiceUnavailable
from a2a_hub.a2a.extensions import slash_commands
from a2a_hub.a2a.extensions.slash_commands import CommandCall, SlashCommands
from a2a_hub.a2a.fold import with_history
from a2a_hub.a2a.model import Event, GetExtendedAgentCardRequest, SendMessageRequest, SubscribeToTaskRequest, Task
from a2a_hub.a2a.operations import GET_EXTENDED_AGENT_CARD, Operation
from a2a_hub.a2a.unstored import Unstored
from a2a_hub.http.messages import BodyError, Request, Response
from a2a_hub.identity.authentication import Caller
from a2a_hub.identity.principal import Principal
from a2a_hub.telemetry.log import Log, Record, traceparent_of


class Limits(Struct, frozen=True, kw_only=True):
    """Limits of one request, and the pause between the keep-alives of a stream."""

    max_body_bytes: int = 10 * 1024 * 1024
    keep_alive_seconds: float = 15.0


class A2AServer:
    """A server of A2A requests. Thread-safe; one per process.

    `card` returns the agent's current card: an operation that it does not declare is refused (§3.3.4). `extended_card` returns
    the card as a caller may see it (§3.1.11). `tasks` stores the tasks of identified callers. `development_tool` answers
    the methods of slash commands for callers whose card declares the extension.
    """

    def __init__(
        self,
        agent: Agent,
        *,
        card: Callable[[], AgentCard],
        log: Log,
        limits: Limits,
        extended_card: Callable[[Principal | None], AgentCard] | None = None,
        tasks: Tasks | None = None,
        development_tool: SlashCommands | None = None,
        keeps_ui_contract: bool = True,
    ) -> None:
        self._card = card
        self._extended_card = extended_card
        self._log = log
        self._limits = limits
        self._unstored = Unstored(agent)
        self._tasks = tasks
        self._development_tool = development_tool
        self._methods = jsonrpc.METHODS if development_tool is None else {**slash_commands.METHODS, **jsonrpc.METHODS}
        self._keeps_ui_contract = keeps_ui_contract

    def handle(self, request: Request, caller: Caller, record: Record) -> Response | None:
        """Return the answer, None if the protocol does not define this method and path. Adds to the request's log record."""
        exchange = self._exchange(request)
        if exchange is None:
            return None
        try:
            return self._answer(exchange, request, caller, record)
        except Exception as exception:
            return exchange.error_response(self._error(exception, record))

    def _exchange(self, request: Request) -> Exchange | None:
        max_body_bytes = self._limits.max_body_bytes
        if request.path in ("", "/"):
            if request.method != "POST":
                return None
            return jsonrpc.JsonRpcExchange(request, max_body_bytes=max_body_bytes, methods=self._methods)
        return rest.RestExchange(request, max_body_bytes=max_body_bytes) if rest.knows(request.path) else None

    def _answer(self, exchange: Exchange, request: Request, caller: Caller, record: Record) -> Response:
        card = self._card()

        def callers_card() -> AgentCard:
            return self._extended_card(caller.principal) if self._extended_card else card

        operation, codec = exchange.resolve()
        check_declared(operation, card, callers_card)
        params = exchange.read_params()
        extensions = active_extensions(request, operation, card, callers_card)
        record |= {
            "operation": operation.name,
            "version": codec.version,
            "binding": exchange.binding,
            "outcome": "ok",
        }
        call = Call(
            request_id=record["requestId"],
            principal=caller.principal,
            version=codec.version,
            binding=exchange.binding,
            streaming=operation.streaming,
            accepted_modes=accepted_modes(operation, params, extensions),
            extensions=extensions,
            traceparent=traceparent_of(request.headers),
            authorization=caller.authorization,
            record=record,
            keeps_ui_contract=self._keeps_ui_contract,
        )
        headers = admit(operation, params, call, card)
        if operation.streaming:
            return self._stream(self._events(operation, params, call), params, exchange, record, headers)
        result = self._result(operation, params, call)
        if operation is GET_EXTENDED_AGENT_CARD:
            headers = {"cache-control": "private, no-store"}
        headers = {"content-type": exchange.media_type} | headers
        return Response(headers=headers, body=exchange.write_result(_limited(result, params)))

    def _result(self, operation: Operation, params: Struct, call: Call) -> Any:
        match params:
            case SendMessageRequest():
                return self._sending(call).send(params, call)
            case GetExtendedAgentCardRequest():
                if self._extended_card is None:
                    raise A2AError(errors.EXTENDED_AGENT_CARD_NOT_CONFIGURED)
                return self._extended_card(call.principal)
            case CommandCall() if self._development_tool is not None:
                return slash_commands.answer(self._development_tool, params, call)
            case _:
                return on_task(self._stored(operation), params, call)

    def _events(self, operation: Operation, params: Struct, call: Call) -> Iterator[Event | None]:
        idle_seconds = self._limits.keep_alive_seconds
        if isinstance(params, SendMessageRequest):
            return self._sending(call).stream(params, call, idle_seconds=idle_seconds)
        assert isinstance(params, SubscribeToTaskRequest), "there is no other stream"
        return self._stored(operation).subscribe(params, call, idle_seconds=idle_seconds)

    def _sending(self, call: Call) -> Sending:
        return self._unstored if self._tasks is None or call.principal is None else self._tasks.sending

    def _stored(self, operation: Operation) -> Operations:
        if self._tasks is None:
            message = f"{operation.name} is not supported: this agent keeps no tasks"
            raise A2AError(errors.UNSUPPORTED_OPERATION, message)
        return self._tasks.operations

    def _stream(
        self,
        events: Iterator[Event | None],
        params: Struct,
        exchange: Exchange,
        record: Record,
        headers: dict[str, str],
    ) -> Response:
        try:
            first = next(events)
        except StopIteration:
            raise A2AError(errors.INVALID_AGENT_RESPONSE, "The agent sent no result") from None
        stream = EventStream(
            first,
            events,
            encode=lambda event: exchange.write_result(_limited(event, params)),
            encode_failure=lambda exception: exchange.write_error(self._error(exception, record)),
        )
        return Response(headers=sse.HEADERS | headers, body=stream)

    def _error(self, exception: Exception, record: Record) -> A2AError:
        """Return the error that the caller may see; any other exception goes to the log."""
        if isinstance(exception, BodyError):
            exception = body_error(exception)
        if isinstance(exception, ServiceUnavailable):
            self._log.exception("The task store cannot be reached", record)
            exception = A2AError(
                errors.UNAVAILABLE,
                "Tasks cannot be reached at the moment; try again in a few seconds",
                headers={"retry-after": "5"},
            )
        if not isinstance(exception, A2AError):
            self._log.exception("A request failed inside the server", record)
            record["severity"] = "ERROR"
            exception = A2AError(
                errors.INTERNAL, "Internal error", metadata={"requestId": str(record.get("requestId", ""))}
            )
        record["outcome"] = exception.kind.reason
        return exception


def _limited(value: Any, params: Struct) -> Any:
    """Return a task with no more history than the message's configuration asks for (§3.2.4), also as a stream's first event."""
    if isinstance(params, SendMessageRequest) and params.configuration and isinstance(value, Task):
        return with_history(value, params.configuration.history_length)
    return value
