"""`python -m server`: A2A 1.0 over gRPC on `PORT`, in front of the HTTP+JSON of the hub at `HUB_URL`.

It holds no credential and decides nothing: the caller's own metadata goes on to the hub, which authenticates and answers.
"""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator
from typing import Any

import grpc
import httpx
from a2a.types import a2a_pb2
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from transcoder import CallFailed, HttpCall, Rule, data_of, failure, headers_of, metadata_of, read, read_event

SERVICE = a2a_pb2.DESCRIPTOR.services_by_name["A2AService"]
_LARGEST_MESSAGE_BYTES = 10_000_000
_MOST_CALLS, _LONGEST_CALL_SECONDS, _CONNECT_SECONDS, _GRACE_SECONDS = 500, 3600.0, 10.0, 5.0
_UNAVAILABLE = "The hub cannot be reached; try again in a moment"
_log = logging.getLogger("grpc")


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
        call: HttpCall = self._rule.call(request)
        left = context.time_remaining()
        seconds = _LONGEST_CALL_SECONDS if left is None else min(left, _LONGEST_CALL_SECONDS)
        return self._client.stream(
            call.method,
            call.target,
            content=call.body,
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
    limits = httpx.Limits(max_connections=_MOST_CALLS, max_keepalive_connections=_MOST_CALLS)
    async with httpx.AsyncClient(base_url=hub_url.rstrip("/"), limits=limits, trust_env=False) as client:
        server = grpc.aio.server(
            maximum_concurrent_rpcs=_MOST_CALLS,
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
