"""The server's HTTP/1.1 protocol with limits for what comes before a request, or between pieces of its body.

uvicorn has none: without them one endless header takes all memory and, since the parser joins its pieces, all time of the loop.

An offer to go on in another protocol is ignored (RFC 9110 §7.8): curl and Java's HttpClient make one with each request to an
http:// address. For its parser, such a request ends with its head, and its body is of the other protocol.
"""

import asyncio
from functools import partial
from typing import Any

from httptools import HttpParserUpgrade, HttpRequestParser
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn_worker import UvicornWorker

_MAX_BYTES = 131_072


class _Parser(HttpRequestParser):
    """A parser in whose place another one reads a request with an ignored offer again, without the offer."""

    def __init__(self, protocol: "BoundedProtocol") -> None:
        super().__init__(protocol)
        self._protocol = protocol
        # As uvicorn has set it for its own.
        self.set_dangerous_leniencies(lenient_data_after_close=True)

    def feed_data(self, data: Any) -> None:
        """See HttpParser. Raises HttpParserUpgrade for a WebSocket, and for CONNECT."""
        parser, rest = self, memoryview(data)
        while True:
            try:
                HttpRequestParser.feed_data(parser, rest)
                return
            except HttpParserUpgrade as upgrade:
                if not self._protocol.ignores_offer:
                    raise
                rest, head = rest[upgrade.args[0] :], self._protocol.head_without_offer()
                parser = self._protocol.parser = _Parser(self._protocol)
                HttpRequestParser.feed_data(parser, head)


class BoundedProtocol(HttpToolsProtocol):
    """A connection that ends if a head, a chunk's extension or trailers are endless, or if a head is not complete in time.

    That of a request behind one that is being answered has until its answer ends.
    """

    def __init__(self, *args: Any, head_seconds: float, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.parser = _Parser(self)
        self._head_seconds = head_seconds
        self._is_in_head = True
        self._deadline: asyncio.TimerHandle | None = None
        self._outside_bytes = 0

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol. Counts the bytes since the last head was complete, or the last piece of a body came."""
        self._outside_bytes += len(data)
        super().data_received(data)
        if self._outside_bytes > _MAX_BYTES:
            self._refuse("The request's head is too large")
        elif self._is_in_head and self._outside_bytes and self._deadline is None and self._is_idle:
            self._deadline = self.loop.call_later(self._head_seconds, self._refuse, "The request's head is incomplete")

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_head()
        super().connection_lost(exc)

    def on_header(self, name: bytes, value: bytes) -> None:
        # Trailers are no headers (RFC 9110 §6.5.1): a proxy in front has not checked them as such.
        if self._is_in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._end_head()
        self._outside_bytes, self._is_in_head = 0, False
        if not self.ignores_offer:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._outside_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._outside_bytes, self._is_in_head = 0, True
        if not self.ignores_offer:
            super().on_message_complete()

    @property
    def ignores_offer(self) -> bool:
        """True if the request offers another protocol than WebSocket."""
        parser = self.parser
        return parser.should_upgrade() and parser.get_method() != b"CONNECT" and not self._should_upgrade()

    def head_without_offer(self) -> bytes:
        """Return the head that was read last, without the field `Upgrade`."""
        line = b"%b %b HTTP/%b\r\n" % (self.parser.get_method(), self.url, self.parser.get_http_version().encode())
        fields = [b"%b: %b\r\n" % (name, value) for name, value in self.headers if name != b"upgrade"]
        return b"".join((line, *fields, b"\r\n"))

    @property
    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _end_head(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _refuse(self, reason: str) -> None:
        if self.transport.is_closing():
            return
        if self._is_idle:
            self.send_400_response(reason)
        else:
            # An answer may have begun.
            self.transport.close()


def bound_heads(*, seconds: float) -> None:
    """Make the framework's server use this protocol; a head may take up to `seconds`.

    The framework names its worker's class; CONFIG_KWARGS is that class's place for settings of uvicorn.
    """
    UvicornWorker.CONFIG_KWARGS = {
        **UvicornWorker.CONFIG_KWARGS,
        "http": partial(BoundedProtocol, head_seconds=seconds),
    }
