"""A line to a gRPC server that refuses some calls by itself, as a busy service does."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import grpc

_CALLS_AT_ONCE = 32
_ANY_SIZE = [("grpc.max_receive_message_length", -1)]
_OF_THE_CONNECTION = ("grpc-", "user-agent")


class GrpcProxy:
    """Forwards what comes to `address` to `target`. Of the calls of a method in `refuses`, every so manieth ends with the status
    there, and nothing has been done.
    """

    def __init__(self, target: str, refuses: dict[str, tuple[int, grpc.StatusCode]]) -> None:
        self._refuses = refuses
        self._counts = dict.fromkeys(refuses, 0)
        self._channel = grpc.insecure_channel(target, options=_ANY_SIZE)
        self._server = grpc.server(ThreadPoolExecutor(_CALLS_AT_ONCE), options=_ANY_SIZE)
        self._server.add_generic_rpc_handlers([self])
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop(grace=None).wait()
        self._channel.close()

    def service(self, handler_call_details: Any) -> Any:
        """Yield how a call is answered: bytes in, bytes out, whatever they mean."""
        method = handler_call_details.method
        name = method.rpartition("/")[2]

        def forward(requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
            self._refuse_some(name, context)
            metadata = [each for each in context.invocation_metadata() if not each[0].startswith(_OF_THE_CONNECTION)]
            try:
                asked = (self.pass_on(name, request) for request in requests)
                for response in self._channel.stream_stream(method)(asked, metadata=metadata):
                    self.look_at(name, response)
                    yield response
            except grpc.RpcError as error:
                context.abort(error.code(), error.details())

        return grpc.stream_stream_rpc_method_handler(forward)

    def pass_on(self, name: str, request: bytes) -> bytes:  # noqa: ARG002 - for those who look
        """Return the request of this method."""
        return request

    def look_at(self, name: str, response: bytes) -> None:
        """Take note of a response of this method."""

    def _refuse_some(self, name: str, context: Any) -> None:
        if name in self._refuses:
            every, status = self._refuses[name]
            self._counts[name] += 1
            if self._counts[name] % every == 0:
                context.abort(status, "try again")
