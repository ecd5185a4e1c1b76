"""How a route's agent is called, found out from its card once in a while: by one request, for all that wait for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future

from a2a_hub.a2a.client_errors import ClientError, ClientFault
from a2a_hub.a2a.client_response import Endpoint
from a2a_hub.http.client import Budget
from functions.hub.downstream.containment import OF_ONE_USER

_CARD_SECONDS = 300.0

Discover = Callable[[dict[str, str], Budget], Endpoint]


class Discovery:
    """Remembers what `discover` found. Thread-safe; `clock` gives seconds that never go back."""

    def __init__(self, discover: Discover, *, clock: Callable[[], float]) -> None:
        self._discover = discover
        self._clock = clock
        self._lock = threading.Lock()
        self._endpoint: Endpoint | None = None
        self._known_until = 0.0
        self._running: tuple[Future[Endpoint], str | None] | None = None

    def endpoint(self, headers: dict[str, str], budget: Budget) -> Endpoint:
        """The endpoint. Raises the ClientError of the one request that asked, whoever asked it.

        When a card cannot be fetched again, what is known stays in use. A refusal of the card holds for all who waited with the
        same credential; the others ask for themselves.
        """
        credential = headers.get("authorization")
        while self._endpoint is None or self._clock() >= self._known_until:
            with self._lock:
                running = self._running
                if running is None:
                    mine: Future[Endpoint] = Future()
                    self._running = (mine, credential)
            if running is None:
                return self._asked(mine, headers, budget)
            others, their_credential = running
            try:
                return self._awaited(others, budget)
            except ClientError as error:
                if error.fault not in OF_ONE_USER or credential == their_credential:
                    raise
        return self._endpoint

    def forget(self) -> None:
        """The agent is not as its card said: the next request asks for the card again."""
        self._known_until = 0.0

    def _asked(self, mine: Future[Endpoint], headers: dict[str, str], budget: Budget) -> Endpoint:
        try:
            endpoint = self._found(headers, budget)
        except BaseException as error:
            self._running = None
            mine.set_exception(error)
            raise
        self._running = None
        mine.set_result(endpoint)
        return endpoint

    def _found(self, headers: dict[str, str], budget: Budget) -> Endpoint:
        try:
            endpoint = self._discover(headers, budget)
        except ClientError:
            if self._endpoint is None:
                raise
            endpoint = self._endpoint
        self._endpoint, self._known_until = endpoint, self._clock() + _CARD_SECONDS
        return endpoint

    def _awaited(self, running: Future[Endpoint], budget: Budget) -> Endpoint:
        try:
            return running.result(timeout=max(0.0, budget.deadline - self._clock()))
        except TimeoutError:
            raise ClientError(ClientFault.TIMEOUT, "its agent card did not come in time") from None
