"""Who is notified of a task: a server that keeps what it is told, and answers as the test says."""

import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self

from tests.fakes.http_server import Exchange, HttpServer, Received

PATIENCE_SECONDS = 20.0


class Receiver:
    """Answers with `statuses`, the last of them again and again, or as `behave` does; `url` is what to register."""

    def __init__(self, *statuses: int, behave: Callable[[Exchange], None] | None = None, **headers: str) -> None:
        self._statuses: Iterator[int] = itertools.chain(statuses[:-1], itertools.repeat((statuses or (200,))[-1]))
        self._headers = headers
        self._server = HttpServer(behave or self._answer)

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.__exit__(*exception)

    @property
    def port(self) -> int:
        return self._server.port

    @property
    def url(self) -> str:
        return f"{self._server.url}/hook?for=me"

    @property
    def received(self) -> list[Received]:
        return self._server.received

    @property
    def events(self) -> list[Any]:
        """The bodies of everything that came."""
        return [received.json for received in self.received]

    @property
    def sequences(self) -> list[int]:
        """The numbers of the entries that came, each as often as it did."""
        return [int(received.headers["x-a2a-notification-id"].rpartition("/")[2]) for received in self.received]

    def answers(self, *statuses: int) -> None:
        """From now on."""
        self._statuses = itertools.chain(statuses[:-1], itertools.repeat(statuses[-1]))

    def await_sequences(self, expected: Iterable[int]) -> None:
        """Returns when every one of these entries has come."""
        missing = set(expected)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while missing - set(self.sequences):
            assert time.monotonic() < deadline, f"only {self.sequences} came"
            time.sleep(0.005)

    def _answer(self, exchange: Exchange) -> None:
        exchange.answer(next(self._statuses), b"noted", **self._headers)
