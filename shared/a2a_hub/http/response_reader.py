"""An answer on a connection (RFC 9112), parsed by llhttp: its head, then its body in pieces."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

_CHUNK_BYTES = 65536
_MOST_HEADERS = 100


class NotHttp(Exception):
    """Input or output that is not HTTP."""


class Headers:
    """The headers of an answer, their names in lower case."""

    def __init__(self, items: Sequence[tuple[str, str]]) -> None:
        self._items = items
        self._first = dict(reversed(items))

    def get(self, name: str, default: str | None = None) -> str | None:
        """Return the first value of a header, its name in any case."""
        return self._first.get(name.lower(), default)

    def items(self) -> Sequence[tuple[str, str]]:
        """Return names and values as received, repeated headers included."""
        return self._items


_NO_HEADERS = Headers(())


class IncomingAnswer:
    """One answer. `receive` returns at most so many received bytes, none if the other side has closed.

    Input that adds neither to the head's end nor to the body is bounded, which bounds the head, trailers and chunk extensions.
    llhttp calls the methods on_….
    """

    def __init__(self, receive: Callable[[int], bytes], *, has_body: bool) -> None:
        self.status = 0
        self.headers = _NO_HEADERS
        self._receive = receive
        self._has_body = has_body
        self._items: list[tuple[str, str]] = []
        self._pieces: list[bytes] = []
        self._allowance = _CHUNK_BYTES
        self._keeps_connection = self._complete = self._broken = False
        self._parser: HttpResponseParser | None = HttpResponseParser(self)
        # RFC 9112 §2.2 and §7.1.1 let a recipient read both, and servers by hand send them.
        self._parser.set_dangerous_leniencies(
            lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
        )

    def read_head(self) -> None:
        """Read `status` and `headers`. Interim answers are skipped. Raises OSError and NotHttp."""
        while not self.status:
            if not self._read_on():
                raise ConnectionResetError
            if self._broken and not self.status:
                raise NotHttp

    def piece(self) -> bytes:
        """Return the next received part of the body, b"" at its end.

        Raises OSError, also for a body that breaks off, and NotHttp for one that is framed wrongly.
        """
        while not self._pieces:
            if self._complete:
                return b""
            if self._broken:
                raise NotHttp
            if not self._read_on():
                if self.headers.get("content-length") or self.headers.get("transfer-encoding"):
                    raise ConnectionResetError
                self._complete = True
        piece = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        return piece

    @property
    def leaves_connection(self) -> bool:
        """True if the answer is complete, nothing came after it, and the other side is ready for another request."""
        return self._complete and self._keeps_connection

    def _read_on(self) -> bool:
        """Parse more input; False at the end of the connection."""
        data = self._receive(self._allowance)
        if not data:
            return False
        assert self._parser is not None, "nothing is read after the end"
        self._allowance -= len(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade):
            self._keeps_connection = False
            self._broken = True
        if not self._allowance:
            self._broken = True
        if self._complete or self._broken:
            # Parser and reader refer to each other: released here, they are freed without the garbage collector.
            self._parser = None
        return True

    def on_message_begin(self) -> None:
        """Note the begin of an answer, interim ones and unexpected ones included."""
        if self._complete:
            self._keeps_connection = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; trailers are ignored."""
        if not self.status:
            self._items.append((name.lower().decode("latin-1"), value.decode("latin-1").strip(" \t")))

    def on_headers_complete(self) -> None:
        """Take the status and headers over, unless the answer is interim. Raises NotHttp for an answer that would end HTTP."""
        assert self._parser is not None, "llhttp is at work"
        status = self._parser.get_status_code()
        if self.status:
            return
        if len(self._items) > _MOST_HEADERS or status < 100 or status == 101:
            raise NotHttp
        if status < 200:
            self._items.clear()
            return
        self.status = status
        self.headers = Headers(self._items)
        self._keeps_connection = self._parser.should_keep_alive()
        self._complete = not self._has_body
        self._allowance = _CHUNK_BYTES

    def on_body(self, piece: bytes) -> None:
        """Keep a piece of the body."""
        if self._complete:
            self._keeps_connection = False
        elif self.status:
            self._pieces.append(piece)
            self._allowance = _CHUNK_BYTES

    def on_message_complete(self) -> None:
        """Note the end of the answer, unless it is interim."""
        self._complete = self.status > 0
