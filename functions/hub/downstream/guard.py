"""The guard of one route's agent: circuit breaker, time and size limits, credential, and containment of every failure.

A `Transport` speaks to the agent; another protocol is another transport.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from math import inf

from msgspec.structs import replace

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.client import Endpoint
from a2a_hub.a2a.client_errors import ClientError
from a2a_hub.a2a.extensions.development_tool import ExecuteSlashCommandRequest, GetAllSlashCommandsRequest, SlashCommand
from a2a_hub.a2a.model import Event
from a2a_hub.boundaries.boundary import CredentialRequest
from a2a_hub.boundaries.sources import CredentialSources, NoCredential
from a2a_hub.http.client import Budget, Http
from a2a_hub.routing.routes import Route
from a2a_hub.telemetry import tracing
from a2a_hub.telemetry.log import REQUEST_ID
from functions.hub.credentials import AuthorizedHttp
from functions.hub.downstream.breaker import Admission, CircuitBreaker
from functions.hub.downstream.containment import CONCERNS_CALLER_ONLY, COUNTS_AGAINST_AGENT, PROVES_NOTHING, contained
from functions.hub.downstream.interface import AgentRequest, ExecutionReply, Transport, TransportCall
from functions.hub.failure import DownstreamFailed, Failure, resting, without_credential

_LONGEST_STREAM_SECONDS = 1700.0


class Guard:
    """A guarded agent, a `Downstream`: every failure is raised as DownstreamFailed."""

    immediate = False

    def __init__(self, route: Route, transport: Transport, *, http: Http, sources: CredentialSources) -> None:
        self._route = route
        self._transport = transport
        self._http = http
        self._sources = sources
        self._breaker = CircuitBreaker(route.breaker, clock=http.clock)
        self._measured = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": route.name}
        agent = {"gen_ai.agent.id": route.id, "a2a_hub.boundary": route.boundary.kind}
        self._span = partial(
            tracing.span, f"invoke_agent {route.name}", kind="client", attributes=self._measured | agent
        )

    def ask(self, agent_request: AgentRequest) -> Iterator[Event]:
        with (
            self._guarded(agent_request.call) as (guarded, admission),
            closing(self._transport.ask(agent_request, guarded)) as events,
        ):
            for event in events:
                # The agent answers: other requests need not wait for the end of this trial.
                self._breaker.undecided(admission)
                yield event
                break
            yield from events

    def cancel(self, task_id: str, call: Call) -> None:
        # The task has ended here, whether or not the agent learns of it.
        with suppress(ClientError, NoCredential):
            self._transport.cancel(task_id, self._transport_call(call, call.traceparent))

    @property
    def endpoint(self) -> Endpoint | None:
        return self._transport.endpoint

    @property
    def open_circuit(self) -> Failure | None:
        pause = self._breaker.pause()
        return resting(pause.opened_by, pause.seconds_to_wait) if pause and pause.opened_by else None

    def commands(self, request: GetAllSlashCommandsRequest, call: Call, *, seconds: float) -> Sequence[SlashCommand]:
        with self._guarded(call, seconds=seconds) as (guarded, _):
            return self._transport.commands(request, guarded)

    def execute(self, request: ExecuteSlashCommandRequest, call: Call) -> ExecutionReply:
        with self._guarded(call) as (guarded, _):
            return self._transport.execute(request, guarded)

    @contextmanager
    def _guarded(self, call: Call, *, seconds: float = inf) -> Generator[tuple[TransportCall, Admission]]:
        """Run one call within its span, the circuit breaker and `seconds`. Raises DownstreamFailed."""
        started = self._http.clock()
        guarded: TransportCall | None = None
        with self._span(call.traceparent) as span:
            admission, decided = self._breaker.admit(), False
            try:
                if admission.opened_by is not None:
                    raise DownstreamFailed(resting(admission.opened_by, admission.seconds_to_wait))
                guarded = self._transport_call(call, span.traceparent, seconds=seconds)
                yield guarded, admission
                decided = True
                self._breaker.succeeded()
            except NoCredential as missing:
                raise DownstreamFailed(without_credential(missing)) from None
            except ClientError as error:
                assert guarded is not None, "only the call raises it"
                failure = contained(error, self._route, guarded.http.credential)
                decided = self._report(error, failure)
                raise DownstreamFailed(failure) from None
            finally:
                if not decided:
                    self._breaker.undecided(admission)
                took_seconds = self._http.clock() - started
                tracing.measure("gen_ai.invoke_agent.duration", took_seconds, self._measured, span.traceparent)

    def _transport_call(self, call: Call, traceparent: str | None, *, seconds: float = inf) -> TransportCall:
        route, now = self._route, self._http.clock()
        # The route's time-out includes the time to get a token.
        budget = Budget.within(
            min(route.timeout_seconds, seconds),
            now=now,
            max_bytes=route.max_response_bytes,
            connect_seconds=route.connect_timeout_seconds,
            retries=route.retries,
        )
        request = CredentialRequest(
            agent=route, sources=self._sources, authorization=call.authorization, caller=call.principal
        )
        headers = ((REQUEST_ID, call.request_id), ("traceparent", traceparent))
        with tracing.span(f"credential {route.boundary.kind}", traceparent):
            http = AuthorizedHttp(self._http, route.boundary, request)
        return TransportCall(
            http=http,
            headers={name: value for name, value in headers if value},
            budget=budget,
            stream_budget=replace(
                budget, deadline=now + _LONGEST_STREAM_SECONDS, idle_seconds=route.stream_idle_timeout_seconds
            ),
        )

    def _report(self, error: ClientError, failure: Failure) -> bool:
        """Report the error to the circuit breaker; False if it proves nothing about the agent."""
        of_one_caller = self._route.boundary.per_caller and error.fault in CONCERNS_CALLER_ONLY
        if error.fault in PROVES_NOTHING or of_one_caller:
            return False
        if error.fault in COUNTS_AGAINST_AGENT:
            if self._breaker.failed(failure):
                tracing.add("a2a_hub.circuit.opened", 1, **{"a2a_hub.route": self._route.id})
        else:
            self._breaker.succeeded()
        return True
