"""Calls an A2A agent in its own version and binding; whatever goes wrong is one ClientError with one fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from enum import StrEnum
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct

from shared.a2a import errors, operations, protojson
from shared.a2a.bindings import sse
from shared.a2a.call import Cancellation
from shared.a2a.compat.v0_3.dialect import Dialect
from shared.a2a.compat.v0_3.event import to_core_event
from shared.a2a.compat.v0_3.request import to_compat_send
from shared.a2a.compat.v0_3.task import to_core_task
from shared.a2a.errors import A2AError
from shared.a2a.model import (
    Event,
    Message,
    SendMessageRequest,
    StreamResponse,
    Task,
    TaskStatusUpdateEvent,
)
from shared.a2a.operations import Operation
from shared.a2a.versions import Version
from shared.a2a.wrap import unwrapped
from shared.http import EVENT_STREAM, JSON
from shared.http_client import Answer, Budget, Fault, HttpClient, HttpFailure

_LINGER_SECONDS = 0.5


class ClientFault(StrEnum):
    """What went wrong between us and the agent."""

    UNRESOLVED = "unresolved"
    UNREACHABLE = "unreachable"
    TLS = "tls"
    TIMEOUT = "timeout"
    CUT = "cut"
    TOO_LARGE = "too_large"
    CANCELLED = "cancelled"
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    UNEXPECTED_STATUS = "unexpected_status"
    NOT_JSON = "not_json"
    NOT_A2A = "not_a2a"
    WRONG_VERSION = "wrong_version"
    REFUSED = "refused"


class ClientError(Exception):
    """`detail` is a sentence for the operator; `status` and `code` are the HTTP and JSON-RPC ones, where there were any."""

    def __init__(
        self, fault: ClientFault, detail: str, *, status: int | None = None, code: int | None = None
    ) -> None:
        super().__init__(detail)
        self.fault = fault
        self.detail = detail
        self.status = status
        self.code = code


class Endpoint(Struct, frozen=True, kw_only=True):
    """Where and how an agent is called."""

    url: str
    version: Version
    binding: str
    streaming: bool
    tenant: str | None = None


_STATUS_FAULTS = {
    401: ClientFault.UNAUTHENTICATED,
    403: ClientFault.FORBIDDEN,
    404: ClientFault.NOT_FOUND,
    429: ClientFault.RATE_LIMITED,
}


class A2AClient:
    """Sends messages to agents. Thread-safe."""

    def __init__(self, http: HttpClient, *, new_id: Callable[[], str]) -> None:
        self._http = http
        self._new_id = new_id

    def send(
        self,
        endpoint: Endpoint,
        request: SendMessageRequest,
        *,
        streaming: bool,
        headers: Mapping[str, str],
        budget: Budget,
        cancellation: Cancellation | None = None,
    ) -> Iterator[Event]:
        """The agent's events: the one result, or its stream as it arrives. Raises ClientError.

        A stream ends with a Message or a terminal or interrupted state; one that ends before is a CUT.
        """
        operation = operations.SEND_STREAMING_MESSAGE if streaming else operations.SEND_MESSAGE
        with _as_client_error():
            answer = self._post(
                endpoint, operation, _params(endpoint, request), headers, budget, cancellation
            )
            with closing(answer):
                if streaming and answer.media_type == EVENT_STREAM:
                    yield from self._stream(endpoint, answer, budget)
                else:
                    answer.complete_within(budget.idle_seconds)
                    yield _event(endpoint, _json(answer))

    def get_task(
        self,
        endpoint: Endpoint,
        task_id: str,
        *,
        headers: Mapping[str, str],
        budget: Budget,
        cancellation: Cancellation | None = None,
    ) -> Task:
        """The task as it is now. Raises ClientError."""
        return self._of_task(endpoint, operations.GET_TASK, task_id, headers, budget, cancellation)

    def cancel_task(
        self, endpoint: Endpoint, task_id: str, *, headers: Mapping[str, str], budget: Budget
    ) -> Task:
        """The task after its cancellation. Raises ClientError."""
        return self._of_task(endpoint, operations.CANCEL_TASK, task_id, headers, budget, None)

    def _of_task(
        self,
        endpoint: Endpoint,
        operation: Operation,
        task_id: str,
        headers: Mapping[str, str],
        budget: Budget,
        cancellation: Cancellation | None,
    ) -> Task:
        with _as_client_error():
            if endpoint.binding == Dialect.REST:
                way = operation.rest[0]
                path = way.path.replace("{id}", quote(task_id, safe=""))
                sends = way.method == "POST"
                answer = self._http.request(
                    way.method,
                    _rest_base(endpoint) + path,
                    headers=_headers(endpoint, headers)
                    | {"accept": JSON}
                    | ({"content-type": JSON} if sends else {}),
                    body=b"{}" if sends else None,
                    budget=budget,
                    cancellation=cancellation,
                )
                if answer.status != 200:
                    raise _status_error(endpoint, answer)
            else:
                params = {"id": task_id} | ({"tenant": endpoint.tenant} if endpoint.tenant else {})
                answer = self._post(endpoint, operation, params, headers, budget, cancellation)
            result = _result(endpoint, _json(answer))
            if endpoint.version is Version.V0_3:
                result = to_core_task(result, "result")
            return protojson.read(Task, result, "result")

    def _post(
        self,
        endpoint: Endpoint,
        operation: Operation,
        params: Any,
        headers: Mapping[str, str],
        budget: Budget,
        cancellation: Cancellation | None,
    ) -> Answer:
        accept = EVENT_STREAM if operation.streaming else JSON
        url, body = endpoint.url, params
        if endpoint.binding == Dialect.REST:
            url = _rest_base(endpoint) + operation.rest[0].path
        else:
            method = operation.name if endpoint.version is Version.V1_0 else operation.jsonrpc_v0_3
            body = {"jsonrpc": "2.0", "id": self._new_id(), "method": method, "params": params}
        answer = self._http.request(
            "POST",
            url,
            headers=_headers(endpoint, headers) | {"content-type": JSON, "accept": accept},
            body=protojson.encode(body),
            budget=budget,
            cancellation=cancellation,
        )
        if answer.status != 200:
            raise _status_error(endpoint, answer)
        return answer

    def _stream(self, endpoint: Endpoint, answer: Answer, budget: Budget) -> Iterator[Event]:
        complete = False
        for data in _stream_data(answer, budget):
            event = _event(endpoint, _decoded(data))
            complete = _may_be_last(event)
            yield event
            if complete and not isinstance(event, Task):
                # Some agents cancel what they do when the connection closes: let them close it.
                answer.finish(within_seconds=_LINGER_SECONDS)
                return
        if not complete:
            raise ClientError(ClientFault.CUT, "the stream ended before the task did")


class _as_client_error:  # noqa: N801 - reads as a statement
    """Turns what the layers below raise into ClientError."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, _type: object, error: BaseException | None, _traceback: object) -> None:
        match error:
            case HttpFailure(fault=Fault() as fault, detail=detail):
                raise ClientError(ClientFault(fault.value), detail) from None
            case A2AError():
                raise ClientError(ClientFault.NOT_A2A, f"the answer is no A2A: {error.message}") from None


def _stream_data(answer: Answer, budget: Budget) -> Iterator[bytes]:
    try:
        yield from sse.read(answer.chunks(), limit_bytes=budget.max_bytes)
    except ValueError:
        raise ClientError(ClientFault.TOO_LARGE, "an event of the stream is too large") from None


def _params(endpoint: Endpoint, request: SendMessageRequest) -> Any:
    if endpoint.version is Version.V0_3:
        return to_compat_send(request, Dialect(endpoint.binding))
    return msgspec.structs.replace(request, tenant=endpoint.tenant) if endpoint.tenant else request


def _headers(endpoint: Endpoint, headers: Mapping[str, str]) -> dict[str, str]:
    if endpoint.version is Version.V1_0:
        return {**headers, "a2a-version": Version.V1_0.value}
    return dict(headers)


def _rest_base(endpoint: Endpoint) -> str:
    base = endpoint.url.rstrip("/")
    if endpoint.version is Version.V0_3:
        return base if base.endswith("/v1") else base + "/v1"
    return f"{base}/{quote(endpoint.tenant, safe='')}" if endpoint.tenant else base


def _json(answer: Answer) -> Any:
    if not _is_json(answer):
        answer.close()
        kind = answer.media_type if answer.media_type.isascii() and len(answer.media_type) < 60 else "unknown"
        raise ClientError(
            ClientFault.NOT_JSON, f"the answer is {kind or 'of no type'}, not JSON", status=answer.status
        )
    return _decoded(answer.read())


def _is_json(answer: Answer) -> bool:
    return answer.media_type in (JSON, "application/json-rpc") or answer.media_type.endswith("+json")


def _decoded(data: bytes) -> Any:
    try:
        return protojson.decode(data)
    except A2AError:
        raise ClientError(ClientFault.NOT_JSON, "the answer is broken JSON") from None


def _event(endpoint: Endpoint, value: Any) -> Event:
    result = _result(endpoint, value)
    if endpoint.version is Version.V0_3:
        result = to_core_event(result)
    return unwrapped(protojson.read(StreamResponse, result, "result"))


def _result(endpoint: Endpoint, value: Any) -> Any:
    if endpoint.binding == Dialect.REST:
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
        case errors.INTERNAL.code:
            fault, detail = ClientFault.SERVER_ERROR, "the agent had an internal error"
        case _:
            fault, detail = ClientFault.REFUSED, "the agent refused the request"
    return ClientError(fault, f"{detail} (error {code})", status=status, code=code)


def _rest_error(error: dict[str, Any], status: int | None = None) -> ClientError:
    """The error of an HTTP+JSON body, by its reason (§11.6), else by the HTTP status that it repeats."""
    details = error.get("details")
    for detail in details if isinstance(details, list) else ():
        reason = detail.get("reason") if isinstance(detail, dict) else None
        for kind in errors.KINDS:
            if kind.a2a and kind.reason == reason:
                return _rpc_error({"code": kind.code}, status)
    code = error.get("code")
    if status is None and isinstance(code, int):
        status = code
    return _plain_status_error(status) if status is not None else _rpc_error(error)


def _status_error(endpoint: Endpoint, answer: Answer) -> ClientError:
    """The error that the body describes, where the agent understood the request; else what the status says."""
    status = answer.status
    if status in (400, 404, 405, 409) and _is_json(answer):
        try:
            value = protojson.decode(answer.read())
        except A2AError:
            value = None
        error = value.get("error") if isinstance(value, dict) else None
        if isinstance(error, dict) and endpoint.binding == Dialect.REST:
            return _rest_error(error, status)
        if isinstance(error, dict) and "code" in error:
            return _rpc_error(error, status)
    answer.close()
    return _plain_status_error(status)


def _plain_status_error(status: int) -> ClientError:
    other = ClientFault.SERVER_ERROR if status >= 500 else ClientFault.UNEXPECTED_STATUS
    return ClientError(_STATUS_FAULTS.get(status, other), f"the agent answered HTTP {status}", status=status)


def _may_be_last(event: Event) -> bool:
    """A stream may end here. After a Task it may also go on: a follow-up's stream starts with the task as it was."""
    match event:
        case Message():
            return True
        case TaskStatusUpdateEvent(status=status) | Task(status=status):
            return status.state.terminal or status.state.interrupted
        case _:
            return False
