"""`python -m server`: A2A 1.0 over gRPC on `PORT`, in front of the HTTP+JSON of the hub at `HUB_URL`.

Each call becomes the request that its method's `google.api.http` annotation names (A2A 1.0.1 §10). It holds no credential and
decides nothing: the caller's own metadata goes on to the hub, which authenticates and answers.
"""

import asyncio
import json
import logging
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

import grpc
import httpx
from a2a.types import a2a_pb2
from google.api import annotations_pb2
from google.protobuf import json_format
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.rpc import error_details_pb2, status_pb2

SERVICE = a2a_pb2.DESCRIPTOR.services_by_name["A2AService"]
_LARGEST_MESSAGE_BYTES = 10_000_000
_MAX_CALLS, _LONGEST_CALL_SECONDS, _CONNECT_SECONDS, _GRACE_SECONDS = 500, 3600.0, 10.0, 5.0
_UNAVAILABLE = "The hub cannot be reached; try again in a moment"
_log = logging.getLogger("grpc")
_FIELD = re.compile(r"\{(\w+)(?:=\*)?\}")
# Of the caller's metadata; a name that is not here does not reach the hub.
_FORWARDED = ("authorization", "a2a-version", "a2a-extensions", "traceparent", "tracestate", "accept-language")
_RETURNED = ("a2a-extensions", "a2a-version", "retry-after")
# What a load balancer, or a proxy between here and the hub, answers without a google.rpc.Status.
_CODES = {
    400: grpc.StatusCode.INVALID_ARGUMENT,
    401: grpc.StatusCode.UNAUTHENTICATED,
    403: grpc.StatusCode.PERMISSION_DENIED,
    404: grpc.StatusCode.UNIMPLEMENTED,
    413: grpc.StatusCode.INVALID_ARGUMENT,
    429: grpc.StatusCode.RESOURCE_EXHAUSTED,
    504: grpc.StatusCode.DEADLINE_EXCEEDED,
}
# HTTP has one name for these and the failed preconditions; gRPC has two (§5.4).
_UNIMPLEMENTED = ("PUSH_NOTIFICATION_NOT_SUPPORTED", "UNSUPPORTED_OPERATION", "VERSION_NOT_SUPPORTED")
_STATUS_DETAILS = "grpc-status-details-bin"
_A_SENTENCE = "The hub did not answer as expected"


class CallFailed(Exception):
    """A call that ends with a status other than OK; `trailers` carry the google.rpc.Status with its details."""

    def __init__(self, code: grpc.StatusCode, message: str, trailers: Sequence[tuple[str, str | bytes]] = ()) -> None:
        super().__init__(message)
        self.code, self.message, self.trailers = code, message, tuple(trailers)


class Rule:
    """The HTTP form of one method, read from its annotation."""

    def __init__(self, method: MethodDescriptor) -> None:
        rule = method.GetOptions().Extensions[annotations_pb2.http]
        pattern = rule.WhichOneof("pattern")
        self.verb = pattern.upper()
        self._has_body = bool(rule.body)
        (with_tenant,) = (getattr(each, each.WhichOneof("pattern")) for each in rule.additional_bindings)
        self._template, self._template_with_tenant = getattr(rule, pattern), with_tenant

    def call(self, request: Message) -> tuple[str, str, bytes | None]:
        """Return the method, target and body of the request to the hub. Raises CallFailed when a field of the path is missing."""
        fields = json_format.MessageToDict(request)
        template = self._template_with_tenant if fields.get("tenant") else self._template
        names = request.DESCRIPTOR.fields_by_name
        path = _FIELD.sub(lambda found: _taken(fields, names[found[1]].json_name), template)
        if self._has_body:
            return self.verb, path, json.dumps(fields).encode()
        query = urlencode({name: json.dumps(each) if isinstance(each, bool) else each for name, each in fields.items()})
        return self.verb, f"{path}?{query}" if query else path, None


def _taken(fields: dict[str, Any], name: str) -> str:
    """Return a field for the path, and take it out of the rest."""
    value = fields.pop(name, "")
    if not value:
        raise CallFailed(grpc.StatusCode.INVALID_ARGUMENT, f"{name} is required")
    if value in (".", ".."):
        # No escape keeps them from naming another path.
        raise CallFailed(grpc.StatusCode.INVALID_ARGUMENT, f"{name} is not one segment of a path")
    return quote(str(value), safe="")


def headers_of(metadata: Sequence[tuple[str, str | bytes]], *, accept: str) -> dict[str, str]:
    """Return the HTTP headers of a call. Without a version it is 1.0: the package of the service says so."""
    sent: dict[str, str] = {}
    for name, value in metadata:
        if name in _FORWARDED and isinstance(value, str):
            # One name may come several times, such as for each extension.
            sent[name] = f"{sent[name]}, {value}" if name in sent else value
    return {"a2a-version": "1.0"} | sent | {"accept": accept, "content-type": "application/json"}


def metadata_of(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the metadata of an answer."""
    return tuple((name, headers[name]) for name in _RETURNED if name in headers)


def read(content: bytes | str, output: type[Message]) -> Message:
    """Return an answer as the message that it is. Raises CallFailed."""
    if not content.strip():
        return output()
    try:
        return json_format.Parse(content, output(), ignore_unknown_fields=True)
    except (json_format.ParseError, UnicodeDecodeError):
        raise CallFailed(grpc.StatusCode.INTERNAL, _A_SENTENCE) from None


def read_event(data: bytes, output: type[Message]) -> Message:
    """Return an event of a stream. Raises CallFailed for an error in its place."""
    if data.startswith(b'{"error"'):
        raise failure(0, data, {})
    return read(data, output)


def data_of(event: bytes) -> bytes:
    """Return the data of a server-sent event; empty for a comment."""
    return b"\n".join(line[5:].removeprefix(b" ") for line in event.split(b"\n") if line.startswith(b"data:"))


def failure(status: int, content: bytes, headers: Mapping[str, str]) -> CallFailed:
    """Return the failure that an HTTP error stands for: its google.rpc.Status with all details (§10.6, §11.6)."""
    try:
        error = json.loads(content)["error"]
        code, message = grpc.StatusCode[error["status"]], str(error["message"])
        details = list(error.get("details", ()))
        if any(each.get("reason") in _UNIMPLEMENTED for each in details):
            code = grpc.StatusCode.UNIMPLEMENTED
    except (ValueError, LookupError, TypeError, AttributeError):
        code = _CODES.get(status, grpc.StatusCode.UNAVAILABLE if status >= 500 else grpc.StatusCode.UNKNOWN)
        message, details = _A_SENTENCE, []
    if headers.get("retry-after", "").isdigit():
        delay = f"{headers['retry-after']}s"
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})
    detailed = status_pb2.Status(code=code.value[0], message=message)
    for detail in details:
        try:
            json_format.ParseDict(detail, detailed.details.add(), descriptor_pool=error_details_pb2.DESCRIPTOR.pool)
        except (json_format.ParseError, TypeError):
            del detailed.details[-1]
    return CallFailed(code, message, ((_STATUS_DETAILS, detailed.SerializeToString()),))


class Method:
    """One method of the service, called over HTTP."""

    def __init__(self, name: str, client: httpx.AsyncClient) -> None:
        descriptor = SERVICE.methods_by_name[name]
        self._rule, self._client, self._name = Rule(descriptor), client, name
        self._output: type[Message] = GetMessageClass(descriptor.output_type)
        inputs: type[Message] = GetMessageClass(descriptor.input_type)
        make = (
            grpc.unary_stream_rpc_method_handler if descriptor.server_streaming else grpc.unary_unary_rpc_method_handler
        )
        self.handler = make(
            self._stream if descriptor.server_streaming else self._unary,
            request_deserializer=inputs.FromString,
            response_serializer=self._output.SerializeToString,
        )

    async def _unary(self, request: Message, context: grpc.aio.ServicerContext) -> Message:
        try:
            async with self._asked(request, context, accept="application/json") as answer:
                content = await answer.aread()
                _check(answer, content)
                await context.send_initial_metadata(metadata_of(answer.headers))
                return read(content, self._output)
        except (CallFailed, httpx.HTTPError) as problem:
            await self._abort(context, problem)
            raise

    async def _stream(self, request: Message, context: grpc.aio.ServicerContext) -> AsyncIterator[Message]:
        try:
            async with self._asked(request, context, accept="text/event-stream") as answer:
                if answer.status_code != httpx.codes.OK:
                    _check(answer, await answer.aread())
                await context.send_initial_metadata(metadata_of(answer.headers))
                rest = b""
                # Not by lines of httpx, which end at U+2028, too.
                async for chunk in answer.aiter_bytes():
                    *events, rest = (rest + chunk).split(b"\n\n")
                    for data in filter(None, map(data_of, events)):
                        yield read_event(data, self._output)
        except (CallFailed, httpx.HTTPError) as problem:
            await self._abort(context, problem)

    def _asked(self, request: Message, context: grpc.aio.ServicerContext, *, accept: str) -> Any:
        method, target, body = self._rule.call(request)
        left = context.time_remaining()
        seconds = _LONGEST_CALL_SECONDS if left is None else min(left, _LONGEST_CALL_SECONDS)
        return self._client.stream(
            method,
            target,
            content=body,
            headers=headers_of(context.invocation_metadata() or (), accept=accept),
            timeout=httpx.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS)),
        )

    async def _abort(self, context: grpc.aio.ServicerContext, problem: Exception) -> None:
        if isinstance(problem, CallFailed):
            await context.abort(problem.code, problem.message, problem.trailers)
        _log.warning("%s: the hub did not answer: %s", self._name, type(problem).__name__)
        await context.abort(grpc.StatusCode.UNAVAILABLE, _UNAVAILABLE)


def _check(answer: httpx.Response, content: bytes) -> None:
    if not answer.is_success:
        raise failure(answer.status_code, content, answer.headers)


async def serve(hub_url: str, address: str) -> None:
    """Serve at `address` until SIGTERM or SIGINT; calls that are under way then have five seconds."""
    limits = httpx.Limits(max_connections=_MAX_CALLS, max_keepalive_connections=_MAX_CALLS)
    async with httpx.AsyncClient(base_url=hub_url.rstrip("/"), limits=limits, trust_env=False) as client:
        server = grpc.aio.server(
            maximum_concurrent_rpcs=_MAX_CALLS,
            options=[("grpc.max_receive_message_length", _LARGEST_MESSAGE_BYTES)],
        )
        handlers = {method.name: Method(method.name, client).handler for method in SERVICE.methods}
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE.full_name, handlers),))
        server.add_insecure_port(address)
        await server.start()
        ending = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, ending.set)
        await ending.wait()
        await server.stop(_GRACE_SECONDS)


def main() -> None:
    """Serve as the environment says. Exit with 1 without HUB_URL."""
    # httpx logs each request at INFO; the hub has a line for it.
    logging.basicConfig(level=logging.WARNING, format='{"severity":"%(levelname)s","message":"%(message)s"}')
    hub_url = os.environ.get("HUB_URL", "")
    if not hub_url.startswith(("http://", "https://")):
        sys.exit("HUB_URL must be the hub's address, such as https://hub.example.com")
    asyncio.run(serve(hub_url, f"{os.environ.get('HOST', '[::]')}:{os.environ.get('PORT', '8080')}"))


if __name__ == "__main__":
    main()
