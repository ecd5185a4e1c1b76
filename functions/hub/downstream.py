"""Asks a route's agent: credential, discovery, call, circuit breaker; whatever fails is one DownstreamFailed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import msgspec

from functions.hub.breaker import CircuitBreaker
from functions.hub.containment import TROUBLE, contained, resting
from functions.hub.credentials import Credentials
from functions.hub.failure import DownstreamFailed
from shared.a2a.call import Cancellation
from shared.a2a.client import A2AClient, ClientError, ClientFault, Endpoint
from shared.a2a.discovery import endpoint_of, fetch_card
from shared.a2a.model import Event, Message, SendMessageConfiguration, SendMessageRequest, Task
from shared.a2a.versions import Version
from shared.http_client import Budget, HttpClient
from shared.routes import Route

_OUTPUT_MODES = ("text/plain", "application/json")
_CARD_SECONDS = 300.0
_LONGEST_STREAM_SECONDS = 1700.0
_FIRST_POLL_SECONDS = 0.2
_SLOWEST_POLL_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One turn as it goes to an agent. `message` has the downstream's own context and task ids."""

    message: Message
    streaming: bool
    authorization: str | None
    traceparent: str | None
    cancellation: Cancellation


class Downstream(Protocol):
    """A route's agent."""

    def ask(self, asking: Asking) -> Iterator[Event]:
        """The agent's events of one turn. Raises DownstreamFailed."""
        ...


class RemoteAgent:
    """An A2A agent over HTTP."""

    def __init__(
        self, route: Route, *, http: HttpClient, client: A2AClient, credentials: Credentials
    ) -> None:
        self._route = route
        self._http = http
        self._client = client
        self._credentials = credentials
        self._breaker = CircuitBreaker(clock=http.clock)
        self._discovering = threading.Lock()
        self._endpoint: Endpoint | None = None
        self._known_until = 0.0

    def ask(self, asking: Asking) -> Iterator[Event]:
        """See `Downstream.ask`."""
        wait = self._breaker.seconds_to_wait()
        if wait:
            raise DownstreamFailed(resting(self._route, wait))
        headers = dict(self._credentials.headers(self._route, authorization=asking.authorization))
        if asking.traceparent:
            headers["traceparent"] = asking.traceparent
        try:
            endpoint = self._discovered(headers)
            streaming = asking.streaming and endpoint.streaming
            request = SendMessageRequest(
                message=asking.message,
                configuration=SendMessageConfiguration(accepted_output_modes=_OUTPUT_MODES),
            )
            event: Event | None = None
            budget = self._budget(streaming)
            for event in self._client.send(
                endpoint,
                request,
                streaming=streaming,
                headers=headers,
                budget=budget,
                cancellation=asking.cancellation,
            ):
                yield event
            if isinstance(event, Task):
                yield from self._polled(endpoint, event, headers, budget, asking.cancellation)
            self._breaker.succeeded()
        except ClientError as error:
            self._note(error)
            raise DownstreamFailed(contained(error, self._route)) from None

    def _polled(
        self,
        endpoint: Endpoint,
        task: Task,
        headers: dict[str, str],
        budget: Budget,
        cancellation: Cancellation,
    ) -> Iterator[Event]:
        """The task again and again, until it ends or waits: some agents answer at once and work on."""
        pause = _FIRST_POLL_SECONDS
        gone = threading.Event()
        cancellation.on_cancel(gone.set)
        while not (task.status.state.terminal or task.status.state.interrupted):
            if gone.wait(pause) or self._http.clock() >= budget.deadline:
                raise ClientError(ClientFault.TIMEOUT, "its task did not end in time")
            pause = min(pause * 1.5, _SLOWEST_POLL_SECONDS)
            task = self._client.get_task(endpoint, task.id, headers=headers, budget=budget)
            yield task

    def _discovered(self, headers: dict[str, str]) -> Endpoint:
        if self._endpoint is not None and self._http.clock() < self._known_until:
            return self._endpoint
        with self._discovering:
            if self._endpoint is None or self._http.clock() >= self._known_until:
                self._endpoint = self._discover(headers)
                self._known_until = self._http.clock() + _CARD_SECONDS
            return self._endpoint

    def _discover(self, headers: dict[str, str]) -> Endpoint:
        route = self._route
        version = Version(route.protocol_version) if route.protocol_version else None
        binding = route.binding.value if route.binding else None
        if version and binding:
            return Endpoint(url=route.url, version=version, binding=binding, streaming=True)
        card = fetch_card(self._http, route.url, headers=headers, budget=self._budget(streaming=False))
        return endpoint_of(card, route.url, version=version, binding=binding)

    def _budget(self, streaming: bool) -> Budget:
        route = self._route
        seconds = _LONGEST_STREAM_SECONDS if streaming else route.timeout_seconds
        return Budget(
            deadline=self._http.clock() + seconds,
            connect_seconds=route.connect_timeout_seconds,
            idle_seconds=route.stream_idle_timeout_seconds if streaming else route.timeout_seconds,
            max_bytes=route.max_response_bytes,
            retries=route.retries,
        )

    def _note(self, error: ClientError) -> None:
        if error.fault in TROUBLE:
            self._breaker.failed()
        if error.fault in (ClientFault.WRONG_VERSION, ClientFault.NOT_FOUND, ClientFault.UNREACHABLE):
            self._known_until = 0.0


class InProcess:
    """An agent that is a function in this process; for measuring the hub alone, and for tests."""

    def __init__(self, answer: Callable[[Asking], Iterator[Event]]) -> None:
        self._answer = answer

    def ask(self, asking: Asking) -> Iterator[Event]:
        """See `Downstream.ask`."""
        return self._answer(asking)


def addressed(message: Message, *, context_id: str, task_id: str | None) -> Message:
    """The caller's message with the downstream's ids instead of ours; messageId passes through unchanged."""
    return msgspec.structs.replace(message, context_id=context_id, task_id=task_id, reference_task_ids=())
