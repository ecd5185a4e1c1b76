"""The client of A2A agents, in their own version and binding. Every failure is a ClientError with one fault."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from a2a_hub.a2a import errors, operations, protojson, text_chunks
from a2a_hub.a2a.bindings import sse
from a2a_hub.a2a.client_errors import ClientError, ClientFault, error_of_status
from a2a_hub.a2a.content import ContentSize
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.extensions.gemini_cli import with_working_state
from a2a_hub.a2a.model import (
    Binding,
    Event,
    Message,
    SendMessageRequest,
    Task,
    TaskStatusUpdateEvent,
    Version,
    may_end_turn,
)
from a2a_hub.a2a.operations import Operation
from a2a_hub.a2a.unreadable import read_tolerantly
from a2a_hub.a2a.version_table import CODECS
from a2a_hub.a2a.versions import VersionCodec
from a2a_hub.http.client import Budget, ClientResponse, Http, HttpFailure
from a2a_hub.http.messages import EVENT_STREAM, JSON, Cancellation
from a2a_hub.runtime.ids import new_id
from a2a_hub.telemetry import tracing

_LINGER_SECONDS = 0.5
# Larger than for requests: an agent may answer with a large table.
_MAX_VALUES = 1_000_000
# The limit of a stream beside its content: 100,000 chunks, each with 300 bytes of envelope and ids.
_MAX_ENVELOPE_BYTES = 32 << 20
# An escape in JSON. The group is an unpaired surrogate: JavaScript programs may cut a text within an emoji.
_ESCAPE = rb"(?s)\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)"
# Over HTTP+JSON, the official JavaScript SDK's 0.3 answers 201 to a message and 202 to a cancellation.
_SUCCEEDED = frozenset({200, 201, 202})


class Endpoint(Struct, frozen=True, kw_only=True):
    """The address of an agent, and the form of a call."""

    url: str
    version: Version
    binding: Binding
    streaming: bool
    tenant: str | None = None
    required_extensions: frozenset[str] = frozenset()


class A2AClient(Struct, frozen=True, kw_only=True):
    """A client of one agent, with the headers and limits of each call. Thread-safe."""

    http: Http
    endpoint: Endpoint
    headers: Mapping[str, str]
    budget: Budget
    cancellation: Cancellation | None = None

    def send(self, request: SendMessageRequest, *, streaming: bool) -> Iterator[Event]:
        """Yield the agent's events: the one result, or its stream as it arrives. Raises ClientError.

        The content of a stream is limited as an answer is, its envelopes by a limit of their own.

        A stream ends with a Message or a terminal or interrupted state; one that ends before is a CUT.
        """
        endpoint = self.endpoint
        if tracing.is_on() and (traceparent := self.headers.get("traceparent")):
            # Agents that see no headers have the metadata.
            request = replace(request, metadata={**(request.metadata or {}), "traceparent": traceparent})
        operation = operations.SEND_STREAMING_MESSAGE if streaming else operations.SEND_MESSAGE
        with as_client_error():
            params = CODECS[endpoint.version].write_send(request, endpoint.binding, endpoint.tenant)
            with closing(self._request(operation, params)) as answer:
                if streaming and answer.media_type == EVENT_STREAM:
                    yield from self._stream(answer, continues=request.message.task_id)
                else:
                    if streaming:
                        answer.complete_within(self.budget.idle_seconds)
                    yield self._event(answer)

    def get_task(self, task_id: str) -> Task:
        """Return the current task. Raises ClientError."""
        return self._task_result(operations.GET_TASK, task_id)

    def cancel_task(self, task_id: str) -> Task:
        """Return the task after its cancellation. Raises ClientError."""
        return self._task_result(operations.CANCEL_TASK, task_id)

    def subscribe(self, task_id: str) -> Iterator[Event]:
        """Yield the task's events from now on; some agents begin with a snapshot. Raises ClientError, also for an ended task."""
        with (
            as_client_error(),
            closing(self._request(operations.SUBSCRIBE_TO_TASK, task_id=task_id)) as answer,
        ):
            if answer.media_type != EVENT_STREAM:
                yield self._event(answer)
                return
            for event in self._stream(answer, task_id=task_id):
                yield event
                if isinstance(event, Task | TaskStatusUpdateEvent) and event.status.state.interrupted:
                    # 1.0 keeps the stream of a waiting task open (§3.1.6), so it has to be closed here.
                    return

    def result(self, operation: Operation, params: Any) -> Any:
        """Return the JSON result of an extension's operation over JSON-RPC. Raises ClientError."""
        with as_client_error():
            return read_result(self.endpoint, read_json(self._request(operation, params)))

    def _task_result(self, operation: Operation, task_id: str) -> Task:
        with as_client_error():
            answer = self._request(operation, task_id=task_id)
            codec, result = CODECS[self.endpoint.version], read_result(self.endpoint, read_json(answer))
            return read_tolerantly(codec.read_task, result, codec)

    def _event(self, answer: ClientResponse) -> Event:
        result = read_result(self.endpoint, read_json(answer))
        codec = _codec(self.endpoint, result)
        return read_tolerantly(codec.read_event, result, codec)

    def _request(self, operation: Operation, params: Any = None, *, task_id: str = "") -> ClientResponse:
        endpoint = self.endpoint
        codec = CODECS[endpoint.version]
        method, url = "POST", endpoint.url
        headers = codec.request_headers(self.headers) | {"accept": EVENT_STREAM if operation.streaming else JSON}
        if endpoint.binding is Binding.HTTP_JSON:
            method = operation.rest[0].method
            url = codec.url(url, operation, endpoint.tenant).replace("{id}", quote(task_id, safe=""))
            body = params or {}
        else:
            if task_id:
                params = {"id": task_id} | ({"tenant": endpoint.tenant} if endpoint.tenant else {})
            name = codec.method(operation)
            body = {"jsonrpc": "2.0", "id": new_id(), "method": name, "params": params}
        sends = method == "POST"
        answer = self.http.request(
            method,
            url,
            headers=headers | {"content-type": JSON} if sends else headers,
            body=protojson.encode(body) if sends else None,
            budget=self.budget,
            cancellation=self.cancellation,
        )
        check(endpoint, answer)
        return answer

    def _stream(self, answer: ClientResponse, *, continues: str | None = None, task_id: str = "") -> Iterator[Event]:
        complete = task_began = False
        content = ContentSize()
        stream = stream_data(answer, self.budget, envelope_bytes=_MAX_ENVELOPE_BYTES)
        events = EventsOfOneTask(known_events(self.endpoint, stream), task_id=task_id)
        for event in events:
            content.add(event)
            if content.total_bytes > self.budget.max_bytes:
                detail = f"the texts and data of the answer are larger than {self.budget.max_bytes} bytes"
                raise ClientError(ClientFault.TOO_LARGE, detail)
            complete = may_end_turn(event)
            # A message is the whole answer (A2A 1.0.1 §3.1.2), but Agno streams the text of a task that began as messages.
            more_may_follow = task_began and isinstance(event, Message)
            task_began = task_began or not isinstance(event, Message)
            yield event
            if complete and not more_may_follow and not _may_be_as_it_was(event, continues):
                # Some agents cancel their work when the connection closes, so they are given time to close it themselves.
                answer.finish(within_seconds=_LINGER_SECONDS)
                return
        if not complete:
            if events.mixes_tasks:
                raise ClientError(
                    ClientFault.CUT, "the stream ended before the task did, and has events of another task"
                )
            raise ClientError(ClientFault.CUT, "the stream ended before the task did")


@contextmanager
def as_client_error() -> Iterator[None]:
    """Turn errors of the layers below into ClientError."""
    try:
        yield
    except HttpFailure as failure:
        raise ClientError(ClientFault(failure.fault.value), failure.detail) from None
    except A2AError as error:
        raise ClientError(ClientFault.NOT_A2A, f"the answer is no A2A: {error.message}") from None


def stream_data(answer: ClientResponse, budget: Budget, *, envelope_bytes: int = 0) -> Iterator[Sequence[bytes]]:
    """Yield the data of the events of a stream, those that arrive at once together. Raises ClientError for a large one."""
    try:
        yield from sse.read_batches(answer.chunks(extra_bytes=envelope_bytes), limit_bytes=budget.max_bytes)
    except ValueError:
        raise ClientError(ClientFault.TOO_LARGE, "an event of the stream is too large") from None


def _may_be_as_it_was(event: Event, continues: str | None) -> bool:
    """Return True for the old snapshot of the continued task, with which a follow-up's stream may start."""
    return isinstance(event, Task) and event.id == continues and event.status.state.interrupted


def read_json(answer: ClientResponse) -> Any:
    """Return the JSON in the body. Raises ClientError."""
    if not _is_json(answer):
        answer.close()
        kind = answer.media_type if answer.media_type.isascii() and len(answer.media_type) < 60 else "unknown"
        raise ClientError(ClientFault.NOT_JSON, f"the answer is {kind or 'of no type'}, not JSON", status=answer.status)
    return decode_json(answer.read())


def _is_json(answer: ClientResponse) -> bool:
    return answer.media_type in (JSON, "application/json-rpc") or answer.media_type.endswith("+json")


def decode_json(data: bytes) -> Any:
    """Return the JSON value, with U+FFFD for half a surrogate pair. Raises ClientError."""
    try:
        return protojson.decode(data, max_values=_MAX_VALUES)
    except A2AError as error:
        if error.kind is errors.PAYLOAD_TOO_LARGE:
            raise ClientError(ClientFault.TOO_LARGE, f"the answer has more than {_MAX_VALUES} values") from None
        whole = re.sub(_ESCAPE, lambda escape: rb"\ufffd" if escape[1] else escape[0], data)
    try:
        return protojson.decode(whole, max_values=_MAX_VALUES)
    except A2AError:
        raise ClientError(ClientFault.NOT_JSON, "the answer is broken JSON") from None


class EventsOfOneTask:
    """The events of the stream's task: `task_id`, else the first that is named (A2A 1.0.1 §3.1.2).

    What an agent says of another task may be meant for another person. `mixes_tasks` is True after such an event.
    """

    def __init__(self, events: Iterable[Event], *, task_id: str = "") -> None:
        self._events, self._task_id, self.mixes_tasks = events, task_id, False

    def __iter__(self) -> Iterator[Event]:
        for event in self._events:
            named = event.id if isinstance(event, Task) else event.task_id
            if named and self._task_id and named != self._task_id:
                self.mixes_tasks = True
            else:
                self._task_id = self._task_id or named or ""
                yield event


def known_events(endpoint: Endpoint, stream: Iterable[Sequence[bytes]]) -> Iterator[Event]:
    """Yield the events in the messages of a stream, without those of kinds that later versions may have. Chunks of text that came
    together are one event. Raises ClientError, also for a stream that has no events of other kinds.
    """
    knows_one, knows_all = False, True
    for batch in stream:
        for result in text_chunks.merged(read_result(endpoint, decode_json(data)) for data in batch):
            codec = _codec(endpoint, result)
            if codec.knows_event(result):
                knows_one = True
                yield with_working_state(read_tolerantly(codec.read_event, result, codec))
            else:
                knows_all = False
    if not (knows_one or knows_all):
        raise ClientError(ClientFault.NOT_A2A, "the stream has only events of unknown kinds")


def _codec(endpoint: Endpoint, result: Any) -> VersionCodec:
    return next((codec for codec in CODECS.values() if codec.owns_event(result)), CODECS[endpoint.version])


def read_result(endpoint: Endpoint, value: Any) -> Any:
    """Return the result in a body. Raises ClientError."""
    if endpoint.binding is Binding.HTTP_JSON:
        if isinstance(value, dict) and isinstance(value.get("error"), dict):
            raise _rest_error(value["error"])
        return value
    if not isinstance(value, dict):
        raise ClientError(ClientFault.NOT_A2A, "the answer is no JSON-RPC response")
    if value.get("error") is not None:
        raise _rpc_error(value["error"])
    if "result" not in value:
        raise ClientError(ClientFault.NOT_A2A, "the answer has neither result nor error")
    return value["result"]


def _rpc_error(error: Any, status: int | None = None) -> ClientError:
    code = error.get("code") if isinstance(error, dict) else None
    if not isinstance(code, int):
        return ClientError(ClientFault.NOT_A2A, "the answer's error has no code")
    match code:
        case errors.METHOD_NOT_FOUND.code | errors.VERSION_NOT_SUPPORTED.code:
            fault, detail = ClientFault.WRONG_VERSION, "the agent does not speak this version"
        case errors.EXTENSION_SUPPORT_REQUIRED.code:
            fault, detail = ClientFault.EXTENSION_REQUIRED, "the agent requires an extension"
        case errors.INTERNAL.code:
            fault, detail = ClientFault.SERVER_ERROR, "the agent had an internal error"
        case _:
            fault, detail = ClientFault.REFUSED, "the agent refused the request"
    return ClientError(fault, f"{detail} (error {code})", status=status, code=code, fields=_fields(error.get("data")))


def _fields(details: Any) -> tuple[str, ...]:
    """Return the fields in the BadRequest of an error's details (§9.5)."""
    return tuple(
        violation["field"]
        for detail in (details if isinstance(details, list) else ())
        if isinstance(detail, dict) and isinstance(detail.get("fieldViolations"), list)
        for violation in detail["fieldViolations"]
        if isinstance(violation, dict) and isinstance(violation.get("field"), str)
    )


def _rest_error(error: dict[str, Any], status: int | None = None) -> ClientError:
    """Return the error of an HTTP+JSON body, by its reason (§11.6), else by the HTTP status in it."""
    details = error.get("details")
    for detail in details if isinstance(details, list) else ():
        reason = detail.get("reason") if isinstance(detail, dict) else None
        for kind in errors.KINDS:
            if kind.a2a and kind.reason == reason:
                return _rpc_error({"code": kind.code}, status)
    code = error.get("code")
    if status is None and isinstance(code, int):
        status = code
    return error_of_status(status) if status is not None else _rpc_error(error)


def check(endpoint: Endpoint, answer: ClientResponse) -> None:
    """Raise ClientError for an answer that is no success, or not in the requested encoding."""
    if answer.status not in _SUCCEEDED:
        raise _status_error(endpoint, answer)
    if (answer.headers.get("content-encoding") or "identity").lower() != "identity":
        answer.close()
        raise ClientError(ClientFault.NOT_JSON, "the answer is compressed, though the hub asked that it not be")


def _status_error(endpoint: Endpoint, answer: ClientResponse) -> ClientError:
    """Return the error in the body if the agent understood the request, else the status's own."""
    status = answer.status
    if status in (400, 404, 405, 409) and _is_json(answer):
        try:
            value = protojson.decode(answer.read())
        except A2AError:
            value = None
        error = value.get("error") if isinstance(value, dict) else None
        if isinstance(error, dict) and endpoint.binding is Binding.HTTP_JSON:
            return _rest_error(error, status)
        if error is None:
            # 0.3 gives HTTP+JSON no form of errors; the official JavaScript SDK sends JSON-RPC's without an envelope.
            error = value
        if isinstance(error, dict) and "code" in error:
            return _rpc_error(error, status)
    answer.close()
    return error_of_status(status, answer.headers)
