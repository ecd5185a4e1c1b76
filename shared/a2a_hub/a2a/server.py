"""Serves one agent over both versions and both bindings: a request in, an operation on the agent, the answer out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from a2a_hub.a2a import errors, versions
from a2a_hub.a2a.agent import Agent
from a2a_hub.a2a.bindings import jsonrpc, sse
from a2a_hub.a2a.bindings.event_stream import EventStream
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.capability_checks import admitted, check_declared
from a2a_hub.a2a.card import AgentCard
from a2a_hub.a2a.error_response import read_body
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.extensions import activation
from a2a_hub.a2a.history import Write, as_asked
from a2a_hub.a2a.model import Binding, Event, SendMessageRequest, SubscribeToTaskRequest
from a2a_hub.a2a.operations import GET_EXTENDED_AGENT_CARD, Operation
from a2a_hub.a2a.task_service_protocol import on_task
from a2a_hub.a2a.unstored import Unstored
from a2a_hub.a2a.versions import Version
from a2a_hub.http.messages import A2A_JSON, JSON, Request, Response
from a2a_hub.identity.authentication import Caller
from a2a_hub.identity.principal import Principal
from a2a_hub.telemetry.log import Log, Record, traceparent_of

if TYPE_CHECKING:
    from a2a_hub.a2a.bindings.jsonrpc import Envelope
    from a2a_hub.a2a.extensions.methods import DevelopmentTool
    from a2a_hub.a2a.task_service_protocol import Tasks

_JSONRPC_MEDIA_TYPES = frozenset({"", JSON, "application/json-rpc", A2A_JSON})


class Limits(Struct, frozen=True, kw_only=True):
    """What one request may cost."""

    max_body_bytes: int = 10 * 1024 * 1024
    keep_alive_seconds: float = 15.0


class _Answering(Struct, frozen=True):
    """How the answers to one request are written: the part in which the bindings differ."""

    write: Write
    write_error: Callable[[A2AError], bytes]
    media_type: str


class _Received(Struct, frozen=True):
    """A request, and what it meets: who sent it, its log record, the card as it is now."""

    request: Request
    caller: Caller
    record: Record
    card: AgentCard


class A2AServer:
    """Answers A2A requests. Thread-safe; one per process.

    `card` gives the agent's card as it is now: what it does not declare is refused (§3.3.4). `extended_card` gives the card as
    this caller may see it (§3.1.11). `tasks` keeps the tasks of callers who say who they are. `development_tool` gives what
    answers the methods of that extension, when one of them is called and the card declares it.
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
        development_tool: Callable[[], DevelopmentTool] | None = None,
        keeps_ui_contract: bool = True,
    ) -> None:
        self._agent = agent
        self._card = card
        self._extended_card = extended_card
        self._log = log
        self._limits = limits
        self._unstored = Unstored(agent)
        self._tasks = tasks
        self._development_tool = development_tool
        self._keeps_ui_contract = keeps_ui_contract

    def handle(self, request: Request, caller: Caller, record: Record) -> Response | None:
        """The answer, or None when method and path are none of the protocol's. Adds to the request's log record."""
        if request.path in ("", "/"):
            return self._jsonrpc(request, caller, record) if request.method == "POST" else None
        return self._rest(request, caller, record)

    def _jsonrpc(self, request: Request, caller: Caller, record: Record) -> Response:
        id_: str | int | float | None = None
        streams_errors = False
        try:
            if request.media_type not in _JSONRPC_MEDIA_TYPES:
                raise A2AError(
                    errors.UNSUPPORTED_MEDIA_TYPE, "Send the request as Content-Type: application/json"
                )
            envelope = jsonrpc.read_envelope(read_body(request, self._limits.max_body_bytes))
            id_ = envelope.id
            streams_errors = jsonrpc.streams_errors(envelope.method)
            named = versions.named(request.headers.get("a2a-version"), request.parameters("A2A-Version"))
            received = _Received(request, caller, record, self._card())
            of_extension = self._of_extension(envelope, named, received)
            if of_extension is not None:
                return of_extension
            operation, version = jsonrpc.resolve(envelope.method, named)
            check_declared(operation, received.card)
            params = jsonrpc.read_request(operation, version, envelope.params)
            call = self._call(received, params, operation, version, Binding.JSONRPC)
            answering = _Answering(
                jsonrpc.result_writer(id_, operation, version),
                lambda error: jsonrpc.write_error(id_, error),
                JSON,
            )
            return self._invoke(operation, params, call, received.card, answering)
        except Exception as exception:
            error = self._error(exception, record)
            body = jsonrpc.write_error(jsonrpc.id_of(error) if id_ is None else id_, error)
            if streams_errors:
                return Response(headers=sse.HEADERS | error.headers, body=sse.write(body))
            status = error.kind.http_status if error.kind.http_status in (403, 413, 415) else 200
            return Response(status=status, headers={"content-type": JSON} | error.headers, body=body)

    def _of_extension(
        self, envelope: Envelope, named: Version | None, received: _Received
    ) -> Response | None:
        """The answer, or None when the method is none of an extension that the card declares. Raises A2AError."""
        if self._development_tool is None or jsonrpc.knows(envelope.method):
            return None
        # Loaded when a request needs it.
        from a2a_hub.a2a.extensions import methods

        operation = methods.METHODS.get(envelope.method)
        if operation is None or not methods.declared(self._card_of(received)):
            return None
        params = methods.read_request(operation, envelope.params)
        call = methods.activating(
            self._call(received, params, operation, named or Version.V0_3, Binding.JSONRPC)
        )
        headers = admitted(operation, params, call, received.card)
        result = methods.answered(self._development_tool(), params, call, params=envelope.params)
        return Response(
            headers={"content-type": JSON} | headers, body=jsonrpc.write_result(envelope.id, result)
        )

    def _rest(self, request: Request, caller: Caller, record: Record) -> Response | None:
        # Loaded when a request needs it: many callers use JSON-RPC alone.
        from a2a_hub.a2a.bindings import rest

        accepted = request.headers.get("accept", "")
        media_type = A2A_JSON if A2A_JSON in accepted or request.media_type == A2A_JSON else JSON
        try:
            if not rest.knows(request.path):
                return None
            named = versions.named(request.headers.get("a2a-version"), request.parameters("A2A-Version"))
            target = rest.resolve(request.method, request.path, named)
            if target.version is Version.V0_3:
                media_type = JSON  # 0.3 §3.2.3 knows no other.
            received = _Received(request, caller, record, self._card())
            check_declared(target.operation, received.card)
            body = read_body(request, self._limits.max_body_bytes) if request.method == "POST" else b""
            if body and request.media_type not in rest.MEDIA_TYPES:
                raise A2AError(
                    errors.UNSUPPORTED_MEDIA_TYPE, "Send the body as Content-Type: application/json"
                )
            params = rest.read_request(target, request.query, body)
            call = self._call(received, params, target.operation, target.version, Binding.HTTP_JSON)
            answering = _Answering(rest.result_writer(target), rest.write_error, media_type)
            return self._invoke(target.operation, params, call, received.card, answering)
        except Exception as exception:
            error = self._error(exception, record)
            headers = {"content-type": media_type} | error.headers
            return Response(status=error.kind.http_status, headers=headers, body=rest.write_error(error))

    def _invoke(
        self, operation: Operation, params: msgspec.Struct, call: Call, card: AgentCard, answering: _Answering
    ) -> Response:
        headers = admitted(operation, params, call, card)
        answering = msgspec.structs.replace(answering, write=as_asked(params, answering.write))
        if operation is GET_EXTENDED_AGENT_CARD:
            if self._extended_card is None:
                raise A2AError(errors.EXTENDED_AGENT_CARD_NOT_CONFIGURED)
            body = answering.write(self._extended_card(call.principal))
            return Response(
                headers={"content-type": answering.media_type, "cache-control": "private, no-store"},
                body=body,
            )
        if isinstance(params, SendMessageRequest):
            sending = self._unstored if self._tasks is None or call.principal is None else self._tasks.sending
            if not operation.streaming:
                return self._whole(answering, sending.send(params, call), headers)
            events = sending.stream(params, call, idle_seconds=self._limits.keep_alive_seconds)
            return self._stream(events, call, answering, headers)
        if self._tasks is None:
            raise A2AError(
                errors.UNSUPPORTED_OPERATION, f"{operation.name} is not supported: this agent keeps no tasks"
            )
        tasks = self._tasks.operations
        if isinstance(params, SubscribeToTaskRequest):
            events = tasks.subscribe(params, call, idle_seconds=self._limits.keep_alive_seconds)
            return self._stream(events, call, answering, headers)
        return self._whole(answering, on_task(tasks, params, call), headers)

    def _whole(
        self, answering: _Answering, result: Event | msgspec.Struct | None, headers: dict[str, str]
    ) -> Response:
        return Response(
            headers={"content-type": answering.media_type} | headers, body=answering.write(result)
        )

    def _stream(
        self,
        events: Iterator[Event | None],
        call: Call,
        answering: _Answering,
        headers: dict[str, str],
    ) -> Response:
        try:
            first = next(events)
        except StopIteration:
            raise A2AError(errors.INVALID_AGENT_RESPONSE, "The agent sent no result") from None
        stream = EventStream(
            first,
            events,
            write=answering.write,
            write_failure=lambda exception: answering.write_error(self._error(exception, call.record)),
        )
        return Response(headers=sse.HEADERS | headers, body=stream)

    def _call(
        self,
        received: _Received,
        params: msgspec.Struct,
        operation: Operation,
        version: Version,
        binding: Binding,
    ) -> Call:
        request, caller, record = received.request, received.caller, received.record
        active = activation.activated(request, received.card, lambda: self._card_of(received))
        record |= {
            "operation": operation.name,
            "version": version.value,
            "binding": binding.value,
            "outcome": "ok",
        }
        return Call(
            request_id=record["requestId"],
            principal=caller.principal,
            version=version,
            binding=binding,
            streaming=operation.streaming,
            accepted_modes=activation.accepted_modes(params, active),
            extensions=active,
            traceparent=traceparent_of(request.headers),
            authorization=caller.authorization,
            record=record,
            keeps_ui_contract=self._keeps_ui_contract,
        )

    def _card_of(self, received: _Received) -> AgentCard:
        """The card as the caller may see it: what is open to some is declared to them alone."""
        return self._extended_card(received.caller.principal) if self._extended_card else received.card

    def _error(self, exception: Exception, record: Record) -> A2AError:
        """What the caller may see of an exception; one that was not meant for them goes to the log."""
        from a2a_hub.task_store.store import Unavailable

        if isinstance(exception, Unavailable):
            self._log.exception("The task store is away", record)
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
