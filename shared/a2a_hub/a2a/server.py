"""The server of one agent, over all versions and both bindings: one pipeline from a request to the agent and back."""

from base64 import b64encode
from collections.abc import Callable, Collection
from contextlib import ExitStack, suppress
from typing import Any

from msgspec import Struct

from a2a_hub.a2a import errors, model
from a2a_hub.a2a.admission import accepted_modes, active_extensions, admit, check_declared, contract_of, tenant_of
from a2a_hub.a2a.agent import Agent, MessageOperations, StoredTaskOperations, TaskService
from a2a_hub.a2a.bindings import jsonrpc, sse
from a2a_hub.a2a.bindings.exchange import Exchange, exchange_of
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.card import AgentCard
from a2a_hub.a2a.error_response import body_error
from a2a_hub.a2a.errors import A2AError, ServiceUnavailable
from a2a_hub.a2a.event_stream import KEEP_ALIVE_SECONDS, EventStream, WholeArtifacts, is_from_adk
from a2a_hub.a2a.extensions import slash_commands
from a2a_hub.a2a.extensions.slash_commands import CommandCall, SlashCommands
from a2a_hub.a2a.fold import fold, with_history
from a2a_hub.a2a.live_turn import LiveTurn, LiveTurns, TurnState
from a2a_hub.a2a.operations import GET_EXTENDED_AGENT_CARD, Operation
from a2a_hub.a2a.refusal import TemporaryRefusal, answer_to_ui, broken_off, overloaded
from a2a_hub.a2a.relay import Abandoned, EventSource, ForwardedStream, Relay
from a2a_hub.http.admission import Capacity, Overloaded
from a2a_hub.http.forwarded_body import STREAM_END
from a2a_hub.http.messages import BodyError, Request, Response
from a2a_hub.identity.authentication import Caller
from a2a_hub.identity.principal import Contract, Principal
from a2a_hub.runtime.threads import Threads
from a2a_hub.telemetry.log import Log, Record, traceparent_of
from a2a_hub.telemetry.outcome import Outcome

_OUTCOMES = {
    model.TaskState.FAILED: Outcome.FAILED,
    model.TaskState.REJECTED: Outcome.DECLINED,
    model.TaskState.CANCELED: Outcome.CANCELLED,
}


class EphemeralTurns:
    """SendMessage and SendStreamingMessage without a task store: a turn lives as long as a caller waits for it.

    Used for agents without stored tasks, and for anonymous callers. `turns` are those under way.
    """

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.turns = LiveTurns[LiveTurn]()
        self._threads = Threads("relay")

    def send(self, request: model.SendMessageRequest, call: Call) -> model.Task | model.Message:
        """See `MessageOperations.send`."""
        turn, is_new = self._begin(LiveTurn(request, call), self._answer)
        if not is_new:
            turn.wait((TurnState.SETTLED,))
        # A person has read the failure as the agent's answer.
        if turn.error is not None and not (is_new and call.for_ui):
            raise turn.error
        return turn.result

    def stream(self, request: model.SendMessageRequest, call: Call) -> EventSource:
        """See `MessageOperations.stream`. The turn ends when its last subscriber leaves."""
        while True:
            turn = LiveTurn(request, call)
            turn.relay = Relay(on_left=turn.abandon, ends_when_left=True)
            # Subscribed before it starts: a caller who joins and leaves at once must not be its last subscriber.
            events = turn.relay.subscribe()
            turn, is_new = self._begin(turn, self._stream)
            with suppress(Abandoned):
                return events if is_new else turn.relay.subscribe()

    def _begin(self, turn: LiveTurn, start: Callable[[LiveTurn], None]) -> tuple[LiveTurn, bool]:
        """Return the turn of the request, and True if it is `turn` itself, which was started then. Raises A2AError."""
        request, configuration = turn.sent, turn.sent.configuration
        if configuration is not None and configuration.task_push_notification_config is not None:
            raise A2AError(errors.PUSH_NOTIFICATION_NOT_SUPPORTED)
        if request.message.task_id:
            raise A2AError(errors.TASK_NOT_FOUND, metadata={"taskId": request.message.task_id[:200]})
        return self.turns.begin(turn, start)

    def _answer(self, turn: LiveTurn) -> None:
        events = self._agent.send(turn.sent, turn.call).events
        if turn.enter(TurnState.RUNNING):
            turn.result = fold([*events])
            turn.enter(TurnState.SETTLED)

    def _stream(self, turn: LiveTurn) -> None:
        events = self._agent.send(turn.sent, turn.call).events
        if turn.enter(TurnState.RUNNING):
            turn.relay.start(events, self._threads, on_end=turn.ended)


class A2AServer:
    """A server of A2A requests. Thread-safe; one per process. A silent stream gets a comment every `keep_alive_seconds`.

    `card` returns the agent's current card: an operation that it does not declare is refused (§3.3.4). `extended_card` returns
    the card as a caller may see it (§3.1.11). `tasks` stores the tasks of identified callers. `development_tool` answers
    the methods of slash commands for callers whose card declares the extension. Beyond `capacity`, turns and streams are refused.
    `contract` is that of all callers, if one is given. `open_stream` counts an open stream of a caller until its result is
    called, and raises A2AError for one too many. Requests for other tenants than `tenants` are refused.
    """

    def __init__(
        self,
        agent: Agent,
        *,
        card: Callable[[], AgentCard],
        log: Log,
        max_body_bytes: int = 10 * 1024 * 1024,
        keep_alive_seconds: float = KEEP_ALIVE_SECONDS,
        extended_card: Callable[[Principal | None], AgentCard] | None = None,
        tasks: TaskService | None = None,
        development_tool: SlashCommands | None = None,
        contract: Contract | None = None,
        capacity: Capacity | None = None,
        open_stream: Callable[[Principal | None], Callable[[], None]] | None = None,
        tenants: Collection[str] = (),
    ) -> None:
        self._card = card
        self._extended_card = extended_card
        self._log = log
        self._max_body_bytes = max_body_bytes
        self._keep_alive_seconds = keep_alive_seconds
        self.ephemeral = EphemeralTurns(agent)
        self._tasks = tasks
        self._development_tool = development_tool
        self._methods = jsonrpc.METHODS if development_tool is None else {**slash_commands.METHODS, **jsonrpc.METHODS}
        self._contract = contract
        self._capacity = capacity
        self._open_stream = open_stream
        self._tenants = tenants

    def handle(self, request: Request, caller: Caller, record: Record) -> Response | None:
        """Return the answer, None if the protocol does not define this method and path. Adds to the request's log record."""
        if request.path in ("", "/") and request.method != "POST":
            return None
        exchange = exchange_of(request, max_body_bytes=self._max_body_bytes, methods=self._methods)
        if exchange is None:
            return None
        try:
            return self._answer(exchange, request, caller, record)
        except Exception as exception:
            return exchange.error_response(self._error(exception, record))

    def _answer(self, exchange: Exchange, request: Request, caller: Caller, record: Record) -> Response:
        card = self._card()

        def callers_card() -> AgentCard:
            return self._extended_card(caller.principal) if self._extended_card else card

        operation, codec = exchange.resolve()
        check_declared(operation, card, callers_card)
        wire_form: dict[str, Any] = {"version": codec.version, "binding": exchange.binding}
        is_ui = (self._contract or contract_of(caller.principal, **wire_form)) is Contract.UI
        params = exchange.read_params(completes=is_ui)
        extensions = active_extensions(request, operation, params, card, callers_card)
        record |= {"operation": operation.name, "version": codec.version, "binding": exchange.binding}
        sent = traceparent_of(getattr(params, "metadata", None) or {})
        if sent and sent[3:35] not in request.headers.get("traceparent", ""):
            record["callerTrace"] = sent
        modes = accepted_modes(operation, params, extensions)
        contract = self._contract or contract_of(caller.principal, **wire_form, modes=modes, extensions=extensions)
        call = Call(
            request_id=record["requestId"],
            principal=caller.principal,
            version=codec.version,
            binding=exchange.binding,
            streaming=operation.streaming,
            accepted_modes=modes or (),
            extensions=extensions,
            traceparent=traceparent_of(request.headers) or sent,
            authorization=caller.authorization,
            record=record,
            for_ui=contract is Contract.UI,
            tenant=tenant_of(params, self._tenants),
            body_bytes=exchange.body_bytes,
        )
        headers = admit(operation, params, call, card)
        try:
            if operation.streaming:
                stream_end = {STREAM_END: ""} if STREAM_END in request.headers else {}
                return self._stream(operation, params, call, exchange, headers | stream_end)
            self._check_capacity(params, call)
            result = self._result(operation, params, call)
            record.setdefault("outcome", _outcome_of(result, params))
        except (TemporaryRefusal, Overloaded) as refusal:
            return self._failed(refusal, params, call, exchange)
        if operation is GET_EXTENDED_AGENT_CARD:
            headers = {"cache-control": "private, no-store"}
        headers = {"content-type": exchange.media_type} | headers
        return Response(headers=headers, body=exchange.write_result(_limited(result, params)))

    def _check_capacity(self, params: Struct, call: Call) -> None:
        if self._capacity is not None and isinstance(params, model.SendMessageRequest):
            self._capacity.check_turns(call.body_bytes)

    def _result(self, operation: Operation, params: Struct, call: Call) -> Any:
        match params:
            case model.SendMessageRequest():
                return self._message_operations(call).send(params, call)
            case model.GetExtendedAgentCardRequest():
                if self._extended_card is None:
                    raise A2AError(errors.EXTENDED_AGENT_CARD_NOT_CONFIGURED)
                return self._extended_card(call.principal)
            case CommandCall() if self._development_tool is not None:
                return slash_commands.answer(self._development_tool, params, call, self._tasks)
            case _:
                return self._stored(operation).answer(params, call)

    def _events(self, operation: Operation, params: Struct, call: Call) -> EventSource:
        if isinstance(params, model.SendMessageRequest):
            events = self._message_operations(call).stream(params, call)
            is_adk = call.version is model.Version.V1_0 and not call.for_ui and is_from_adk(params.message)
            return WholeArtifacts(events) if is_adk else events
        assert isinstance(params, model.SubscribeToTaskRequest), "there is no other stream"
        return self._stored(operation).subscribe(params, call)

    def _message_operations(self, call: Call) -> MessageOperations:
        return self.ephemeral if self._tasks is None or call.principal is None else self._tasks

    def _stored(self, operation: Operation) -> StoredTaskOperations:
        if self._tasks is None:
            message = f"{operation.name} is not supported: this agent keeps no tasks"
            raise A2AError(errors.UNSUPPORTED_OPERATION, message)
        return self._tasks.operations

    def _stream(
        self, operation: Operation, params: Struct, call: Call, exchange: Exchange, headers: dict[str, str]
    ) -> Response:
        with ExitStack() as open_stream:
            # The limit of this process, and the caller's own.
            if self._capacity is not None:
                open_stream.callback(self._capacity.open_stream(call.principal.subject if call.principal else ""))
            if self._open_stream is not None:
                open_stream.callback(self._open_stream(call.principal))
            self._check_capacity(params, call)
            events = self._events(operation, params, call)
            on_close = open_stream.pop_all().close
        if STREAM_END in headers:
            if isinstance(events, ForwardedStream):
                last = b"".join(sse.write(exchange.write_result(each)) for each in events.farewell())
            else:
                farewell = answer_to_ui(broken_off(), exchange, params, call)
                last = farewell.body if farewell is not None and isinstance(farewell.body, bytes) else b""
            headers = {**headers, STREAM_END: b64encode(last).decode()}

        def encode(event: model.Event) -> bytes:
            # A client may disconnect right after the last event.
            if model.may_end_turn(event):
                call.record.setdefault("outcome", _outcome_of(event, params))
            return exchange.write_result(_limited(event, params))

        stream = EventStream(
            events,
            keep_alive_seconds=self._keep_alive_seconds,
            encode=encode,
            encode_failure=lambda exception: exchange.write_error(self._error(exception, call.record)),
            respond=lambda exception: self._failed(exception, params, call, exchange),
            on_close=on_close,
        )
        return Response(headers=sse.HEADERS | headers, body=stream)

    def _failed(self, exception: Exception, params: Struct, call: Call, exchange: Exchange) -> Response:
        error = self._error(exception, call.record)
        answer = answer_to_ui(error, exchange, params, call) if isinstance(error, TemporaryRefusal) else None
        return answer or exchange.error_response(error)

    def _error(self, exception: Exception, record: Record) -> A2AError:
        """Return the error that the caller may see; any other exception goes to the log."""
        if isinstance(exception, BodyError):
            exception = body_error(exception)
        if isinstance(exception, Overloaded):
            exception = overloaded()
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
        record |= exception.log_fields
        return exception


def _outcome_of(result: object, params: Struct) -> Outcome:
    """Return the outcome for the log of a call with this result or last event. A query for a failed task is itself a success."""
    if isinstance(params, model.SendMessageRequest) and isinstance(result, model.Task | model.TaskStatusUpdateEvent):
        return _OUTCOMES.get(result.status.state, Outcome.ANSWERED)
    return Outcome.ANSWERED


def _limited(value: Any, params: Struct) -> Any:
    """Return a task with no more history than the message's configuration asks for (§3.2.4), also as a stream's first event."""
    if isinstance(params, model.SendMessageRequest) and params.configuration and isinstance(value, model.Task):
        return with_history(value, params.configuration.history_length)
    return value
