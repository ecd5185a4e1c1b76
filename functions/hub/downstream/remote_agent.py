"""Asks an agent over HTTP: credential, discovery, call, circuit breaker; whatever fails is one DownstreamFailed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import msgspec

from a2a_hub.a2a.client import A2AClient
from a2a_hub.a2a.client_errors import ClientError, ClientFault
from a2a_hub.a2a.client_response import Endpoint
from a2a_hub.a2a.discovery import endpoint_of, fetch_card
from a2a_hub.a2a.model import Event
from a2a_hub.http.client import Budget, HttpClient
from a2a_hub.routing.routes import Boundary, Route
from functions.hub.credentials import Credentials
from functions.hub.downstream.agent_session import AgentSession
from functions.hub.downstream.breaker import CircuitBreaker
from functions.hub.downstream.containment import OF_ONE_USER, TROUBLE, UNDECIDED, contained
from functions.hub.downstream.discovery import Discovery
from functions.hub.downstream.extension_use import asked_for, settled_for
from functions.hub.downstream.interface import AgentRequest, CallContext, ExecutionReply
from functions.hub.failure import DownstreamFailed, resting

if TYPE_CHECKING:
    from a2a_hub.a2a.extensions.development_tool import (
        ExecuteSlashCommandRequest,
        GetAllSlashCommandsRequest,
        SlashCommand,
    )
    from functions.hub.downstream.call_target import CallTarget
    from functions.hub.downstream.command_line import CommandLine

T = TypeVar("T")
_LONGEST_STREAM_SECONDS = 1700.0


class RemoteAgent:
    """An A2A agent over HTTP."""

    immediate = False

    def __init__(
        self, route: Route, *, http: HttpClient, client: A2AClient, credentials: Credentials
    ) -> None:
        self._route = route
        self._http = http
        self._client = client
        self._credentials = credentials
        self._breaker = CircuitBreaker(clock=http.clock)
        self._discovery = Discovery(self._discover, clock=http.clock)

    def ask(self, agent_request: AgentRequest) -> Iterator[Event]:
        """See `Downstream.ask`."""
        wait = self._breaker.seconds_to_wait()
        if wait:
            raise DownstreamFailed(resting(self._route, wait))
        decided = False
        sent: dict[str, str] = {}

        extensions = self._route.extensions

        def headers() -> dict[str, str]:
            nonlocal sent
            sent = self._headers(agent_request.authorization, agent_request.traceparent, extensions)
            return sent

        try:
            # The route's time includes that of getting a token.
            budget = self._budget()
            first = headers()
            endpoint = self._discovery.endpoint(first, budget)
            extensions = asked_for(self._route, endpoint, agent_request)
            exchange = AgentSession(
                self._client,
                endpoint,
                settled_for(agent_request, extensions),
                headers=headers,
                budget=budget,
                stream_budget=self._stream_budget(budget),
                clock=self._http.clock,
            )
            live = self._command_line.live(agent_request) if agent_request.executes else None
            with closing(exchange.events() if live is None else live) as events:
                for event in events:
                    # The agent speaks again: others need not wait until it has said everything.
                    self._breaker.undecided()
                    yield event
                    break
                yield from events
            decided = True
            self._breaker.succeeded()
        except ClientError as error:
            decided = self._decide(error)
            raise DownstreamFailed(contained(error, self._route, sent=sent)) from None
        finally:
            if not decided:
                self._breaker.undecided()

    def cancel(self, task_id: str, *, authorization: str | None, traceparent: str | None) -> None:
        """See `Downstream.cancel`."""
        try:
            headers = self._headers(authorization, traceparent)
            budget = self._budget()
            endpoint = self._discovery.endpoint(headers, budget)
            self._client.cancel_task(endpoint, task_id, headers=headers, budget=budget)
        except (ClientError, DownstreamFailed):
            # The task has ended here, whether or not the agent can be told.
            pass

    def commands(self, request: GetAllSlashCommandsRequest, calling: CallContext) -> Sequence[SlashCommand]:
        """See `Downstream.commands`."""
        return self._called(calling, lambda agent: self._command_line.commands(agent, request))

    def execute(self, request: ExecuteSlashCommandRequest, calling: CallContext) -> ExecutionReply:
        """See `Downstream.execute`."""
        return self._called(calling, lambda agent: self._command_line.execute(agent, request))

    @cached_property
    def _command_line(self) -> CommandLine:
        from functions.hub.downstream.command_line import CommandLine

        return CommandLine(self._client, self._http)

    def _called(self, calling: CallContext, ask: Callable[[CallTarget], T]) -> T:
        """What `ask` returns; a failure is contained, and the circuit breaker hears of it. Raises DownstreamFailed."""
        # Loaded for the first command.
        from functions.hub.downstream.call_target import CallTarget

        wait = self._breaker.seconds_to_wait()
        if wait:
            raise DownstreamFailed(resting(self._route, wait))
        decided = False
        headers: dict[str, str] = {}
        try:
            budget = self._budget(calling.within_seconds)
            headers = self._headers(calling.authorization, calling.traceparent)
            endpoint = self._discovery.endpoint(headers, budget)
            called = CallTarget(
                endpoint=endpoint,
                headers=headers,
                budget=budget,
                stream_budget=self._stream_budget(budget),
            )
            result = ask(called)
            decided = True
            self._breaker.succeeded()
            return result
        except ClientError as error:
            decided = self._decide(error)
            raise DownstreamFailed(contained(error, self._route, sent=headers)) from None
        finally:
            if not decided:
                self._breaker.undecided()

    def _headers(
        self,
        authorization: str | None,
        traceparent: str | None,
        extensions: Sequence[str] | None = None,
    ) -> dict[str, str]:
        extensions = self._route.extensions if extensions is None else extensions
        headers = dict(self._credentials.headers(self._route, authorization=authorization))
        if traceparent:
            headers["traceparent"] = traceparent
        if extensions:
            headers["a2a-extensions"] = ",".join(extensions)
        return headers

    def _discover(self, headers: dict[str, str], budget: Budget) -> Endpoint:
        route = self._route
        version, binding = route.protocol_version, route.binding
        if version and binding:
            return Endpoint(url=route.url, version=version, binding=binding, streaming=True)
        card = fetch_card(self._http, route.url, headers=headers, budget=budget)
        return endpoint_of(card, route.url, version=version, binding=binding)

    def _budget(self, within_seconds: float | None = None) -> Budget:
        """Of everything that happens before the answer, and of an answer that is no stream."""
        route = self._route
        seconds = min(route.timeout_seconds, within_seconds or route.timeout_seconds)
        return Budget(
            deadline=self._http.clock() + seconds,
            connect_seconds=route.connect_timeout_seconds,
            idle_seconds=seconds,
            max_bytes=route.max_response_bytes,
            retries=route.retries,
        )

    def _stream_budget(self, budget: Budget) -> Budget:
        return msgspec.structs.replace(
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
