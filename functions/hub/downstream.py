"""Asks a route's agent: credential, discovery, call, circuit breaker; whatever fails is one DownstreamFailed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import msgspec

from functions.hub.breaker import CircuitBreaker
from functions.hub.containment import OF_ONE_USER, TROUBLE, UNDECIDED, contained, resting, unaddressed
from functions.hub.credentials import Credentials
from functions.hub.discovery import Discovery
from functions.hub.failure import DownstreamFailed
from shared.a2a.call import Cancellation
from shared.a2a.client import A2AClient, ClientError, ClientFault, Endpoint
from shared.a2a.discovery import endpoint_of, fetch_card
from shared.a2a.errors import TASK_NOT_FOUND, UNSUPPORTED_OPERATION
from shared.a2a.model import Event, Message, SendMessageConfiguration, SendMessageRequest, Task
from shared.a2a.versions import Version
from shared.http_client import Budget, HttpClient
from shared.routes import Boundary, Route

_OUTPUT_MODES = ("text/plain", "application/json")
_LONGEST_STREAM_SECONDS = 1700.0
_FIRST_POLL_SECONDS = 0.1
_SLOWEST_POLL_SECONDS = 2.0
_TASK_IS_GONE = frozenset({TASK_NOT_FOUND.code, UNSUPPORTED_OPERATION.code})


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
        self._discovery = Discovery(self._discover, clock=http.clock)

    def ask(self, asking: Asking) -> Iterator[Event]:
        """See `Downstream.ask`."""
        wait = self._breaker.seconds_to_wait()
        if wait:
            raise DownstreamFailed(resting(self._route, wait))
        decided = False
        try:
            headers = dict(self._credentials.headers(self._route, authorization=asking.authorization))
            if asking.traceparent:
                headers["traceparent"] = asking.traceparent
            budget = self._budget()
            endpoint = self._discovery.endpoint(headers, budget)
            yield from self._answered(endpoint, asking, headers, budget)
            decided = True
            self._breaker.succeeded()
        except ClientError as error:
            decided = self._decide(error)
            raise DownstreamFailed(contained(error, self._route)) from None
        finally:
            if not decided:
                self._breaker.undecided()

    def _answered(
        self, endpoint: Endpoint, asking: Asking, headers: dict[str, str], budget: Budget
    ) -> Iterator[Event]:
        streaming = asking.streaming and endpoint.streaming
        event: Event | None = None
        try:
            for event in self._sent(endpoint, asking.message, asking, headers, budget):
                yield event
        except ClientError as error:
            if event is not None or asking.message.task_id is None or error.code not in _TASK_IS_GONE:
                raise
            # The task that waited has ended meanwhile, and the agent did nothing: what the user wrote is a new request.
            message = msgspec.structs.replace(asking.message, task_id=None)
            for event in self._sent(endpoint, message, asking, headers, budget):
                yield event
        if isinstance(event, Task):
            if streaming:
                budget = self._stream_budget(budget)
            yield from self._polled(endpoint, event, headers, budget, asking.cancellation)

    def _sent(
        self, endpoint: Endpoint, message: Message, asking: Asking, headers: dict[str, str], budget: Budget
    ) -> Iterator[Event]:
        streaming = asking.streaming and endpoint.streaming
        return self._client.send(
            endpoint,
            SendMessageRequest(
                message=message,
                configuration=SendMessageConfiguration(accepted_output_modes=_OUTPUT_MODES),
            ),
            streaming=streaming,
            headers=headers,
            budget=self._stream_budget(budget) if streaming else budget,
            cancellation=asking.cancellation,
        )

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
            remaining = budget.deadline - self._http.clock()
            if remaining <= 0:
                raise ClientError(ClientFault.TIMEOUT, "its task did not end in time")
            if gone.wait(min(pause, remaining)):
                raise ClientError(ClientFault.CANCELLED, "the caller left")
            pause = min(pause * 1.5, _SLOWEST_POLL_SECONDS)
            task = self._client.get_task(
                endpoint, task.id, headers=headers, budget=budget, cancellation=cancellation
            )
            yield task

    def _discover(self, headers: dict[str, str], budget: Budget) -> Endpoint:
        route = self._route
        version = Version(route.protocol_version) if route.protocol_version else None
        binding = route.binding.value if route.binding else None
        if version and binding:
            return Endpoint(url=route.url, version=version, binding=binding, streaming=True)
        card = fetch_card(self._http, route.url, headers=headers, budget=budget)
        return endpoint_of(card, route.url, version=version, binding=binding)

    def _budget(self) -> Budget:
        """Of everything that happens before the answer, and of an answer that is no stream."""
        route = self._route
        return Budget(
            deadline=self._http.clock() + route.timeout_seconds,
            connect_seconds=route.connect_timeout_seconds,
            idle_seconds=route.timeout_seconds,
            max_bytes=route.max_response_bytes,
            retries=route.retries,
        )

    def _stream_budget(self, budget: Budget) -> Budget:
        return replace(
            budget,
            deadline=self._http.clock() + _LONGEST_STREAM_SECONDS,
            idle_seconds=self._route.stream_idle_timeout_seconds,
        )

    def _decide(self, error: ClientError) -> bool:
        """Whether this error says how the agent is; the circuit breaker has heard of it then."""
        if error.fault in (ClientFault.WRONG_VERSION, ClientFault.NOT_FOUND):
            self._discovery.forget()
        if error.fault in UNDECIDED or (self._route.boundary is Boundary.USER and error.fault in OF_ONE_USER):
            return False
        if error.fault in TROUBLE:
            self._breaker.failed()
        else:
            self._breaker.succeeded()
        return True


class InProcess:
    """An agent that is a function in this process; for measuring the hub alone, and for tests."""

    def __init__(self, answer: Callable[[Asking], Iterator[Event]]) -> None:
        self._answer = answer

    def ask(self, asking: Asking) -> Iterator[Event]:
        """See `Downstream.ask`."""
        return self._answer(asking)


def without_address(route: Route, variable: str) -> Downstream:
    """An agent that cannot be asked, since the variable with its address is not set."""

    def refuse(_: Asking) -> Iterator[Event]:
        raise DownstreamFailed(unaddressed(route, variable))

    return InProcess(refuse)


def addressed(message: Message, *, context_id: str, task_id: str | None) -> Message:
    """The caller's message with the downstream's ids instead of ours; messageId passes through unchanged."""
    return msgspec.structs.replace(message, context_id=context_id, task_id=task_id, reference_task_ids=())
