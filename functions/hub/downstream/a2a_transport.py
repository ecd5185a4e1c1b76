"""A2A over HTTP: an agent's endpoint is read from its card, its extensions are negotiated, its operations are called."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager

from msgspec import Struct, field
from msgspec.structs import replace

from a2a_hub.a2a.a2ui import a2ui_in
from a2a_hub.a2a.client import A2AClient, Endpoint
from a2a_hub.a2a.client_errors import ClientError, ClientFault
from a2a_hub.a2a.content import ContentSize
from a2a_hub.a2a.discovery import endpoint_of, fetch_card
from a2a_hub.a2a.extensions.development_tool import (
    URI,
    AgentSettings,
    ExecuteSlashCommandRequest,
    GetAllSlashCommandsRequest,
    SlashCommand,
    Spelling,
    metadata_of,
)
from a2a_hub.a2a.model import Event
from a2a_hub.boundaries.boundary import Credential
from a2a_hub.boundaries.sources import CredentialSources
from a2a_hub.http.client import Http
from a2a_hub.routing.routes import Route
from a2a_hub.runtime.shared_fetch import SingleFlight
from functions.hub.downstream.agent_session import AgentSession
from functions.hub.downstream.command_line import AgentCommandClient
from functions.hub.downstream.containment import CONCERNS_CALLER_ONLY
from functions.hub.downstream.guard import Guard
from functions.hub.downstream.interface import AgentRequest, ExecutionReply, TransportCall

_CARD_SECONDS = 300.0
_WRONG_ENDPOINT = frozenset({ClientFault.WRONG_VERSION, ClientFault.NOT_FOUND})


def a2a_agent(route: Route, *, http: Http, sources: CredentialSources) -> Guard:
    """Return the guarded A2A agent of a route."""
    return Guard(route, A2ATransport(route, clock=http.clock), http=http, sources=sources)


class A2ATransport:
    """A `Transport` for A2A 1.0 and 0.3, over JSON-RPC and HTTP+JSON."""

    def __init__(self, route: Route, *, clock: Callable[[], float]) -> None:
        self._route = route
        self._discovery = Discovery(self._discover, clock=clock)
        self._command_client = AgentCommandClient()

    def ask(self, agent_request: AgentRequest, call: TransportCall) -> Generator[Event]:
        endpoint = self._discovery.endpoint(call)
        with closing(self._events(endpoint, agent_request, call)) as events:
            try:
                first = next(events, None)
            except ClientError as error:
                current = self._endpoint_instead_of(endpoint, error, call)
                if current is None:
                    raise
            else:
                if first is not None:
                    yield first
                yield from events
                return
        # The agent did not accept the request: it has moved, or changed its protocol version.
        yield from self._events(current, agent_request, call)

    def _events(self, endpoint: Endpoint, agent_request: AgentRequest, call: TransportCall) -> Generator[Event]:
        extensions = used_extensions(self._route, endpoint, agent_request)
        call = _with_room_for_history(_with_extensions(call, extensions), agent_request)
        session = AgentSession(endpoint, with_settings(agent_request, extensions), call=call)
        live = self._command_client.live(agent_request) if agent_request.executes else None
        yield from session.events() if live is None else live

    def _endpoint_instead_of(self, endpoint: Endpoint, error: ClientError, call: TransportCall) -> Endpoint | None:
        """Return the endpoint that the card names now if `error` proves `endpoint` wrong; None if it is unchanged."""
        if error.fault not in _WRONG_ENDPOINT:
            return None
        self._discovery.forget()
        current = self._discovery.endpoint(call)
        return None if current == endpoint else current

    @property
    def endpoint(self) -> Endpoint | None:
        return self._discovery.latest

    def cancel(self, task_id: str, call: TransportCall) -> None:
        endpoint, call = self._discovery.endpoint(call), _with_extensions(call, self._route.extensions)
        A2AClient(http=call.http, endpoint=endpoint, headers=call.headers, budget=call.budget).cancel_task(task_id)

    def commands(self, request: GetAllSlashCommandsRequest, call: TransportCall) -> Sequence[SlashCommand]:
        with self._endpoint(call) as endpoint:
            return self._command_client.commands(endpoint, _with_extensions(call, self._route.extensions), request)

    def execute(self, request: ExecuteSlashCommandRequest, call: TransportCall) -> ExecutionReply:
        with self._endpoint(call) as endpoint:
            return self._command_client.execute(endpoint, _with_extensions(call, self._route.extensions), request)

    def _discover(self, call: TransportCall) -> Endpoint:
        route = self._route
        version, binding = route.protocol_version, route.binding
        if version and binding and not route.card_keys:
            return Endpoint(url=route.url, version=version, binding=binding, streaming=True)
        headers = _with_extensions(call, route.extensions).headers
        card = fetch_card(call.http, route.url, headers=headers, budget=call.budget, keys=route.card_keys)
        return endpoint_of(card, route.url, version=version, binding=binding)

    @contextmanager
    def _endpoint(self, call: TransportCall) -> Iterator[Endpoint]:
        """Yield the endpoint, and invalidate it if the call proves it wrong."""
        try:
            yield self._discovery.endpoint(call)
        except ClientError as error:
            if error.fault in _WRONG_ENDPOINT:
                self._discovery.forget()
            raise


class Discovery(Struct):
    """The endpoint of one agent, refreshed every 300 s by one request for all waiting callers. Thread-safe.

    `clock` returns monotonic seconds.
    """

    discover: Callable[[TransportCall], Endpoint]
    clock: Callable[[], float]
    latest: Endpoint | None = None
    _known_until: float = 0.0
    _flight: SingleFlight[None, tuple[Endpoint | ClientError, Credential]] = field(default_factory=SingleFlight)

    def endpoint(self, call: TransportCall) -> Endpoint:
        """Return the endpoint. Raises the ClientError of the shared request.

        If the card cannot be refreshed, the last endpoint stays in use. A refusal applies to callers with the same credential;
        others make their own request.
        """
        credential = call.http.credential
        while self.latest is None or self.clock() >= self._known_until:
            future, is_first = self._flight.claim(None)
            if is_first:
                self._flight.complete(None, future, lambda: self._fetch(call, credential))
            try:
                found, sent = future.result(None if is_first else max(0.0, call.budget.deadline - self.clock()))
            except TimeoutError:
                raise ClientError(ClientFault.TIMEOUT, "its agent card did not come in time") from None
            if not isinstance(found, ClientError):
                return found
            if found.fault not in CONCERNS_CALLER_ONLY or credential == sent:
                raise found
        return self.latest

    def forget(self) -> None:
        """Invalidate the endpoint, so that the next request fetches the card again."""
        self._known_until = 0.0

    def _fetch(self, call: TransportCall, credential: Credential) -> tuple[Endpoint | ClientError, Credential]:
        try:
            endpoint = self.discover(call)
        except ClientError as error:
            if self.latest is None:
                return error, credential
            endpoint = self.latest
        self.latest, self._known_until = endpoint, self.clock() + _CARD_SECONDS
        return endpoint, credential


def used_extensions(route: Route, endpoint: Endpoint, agent_request: AgentRequest) -> tuple[str, ...]:
    """Return the extensions of the route that this turn uses: A2UI where the caller activates it.

    `development-tool` is used only where there is a client of it, or where the agent refuses everybody else: the hub is the
    client then, for people who can only read and write text.
    """
    left_out = {*a2ui_in(route.extensions)} - {*agent_request.call.extensions} - endpoint.required_extensions
    if not (agent_request.development_tool or agent_request.executes or URI in endpoint.required_extensions):
        left_out.add(URI)
    return tuple(uri for uri in route.extensions if uri not in left_out)


def with_settings(agent_request: AgentRequest, extensions: tuple[str, ...]) -> AgentRequest:
    """Add the settings that a session's first message must have; they name no workspace, so the agent chooses one."""
    message = agent_request.message
    of_client = agent_request.development_tool or agent_request.executes
    if URI not in extensions or of_client or message.task_id is not None:
        return agent_request
    metadata = metadata_of(AgentSettings(), Spelling.SNAKE) | (message.metadata or {})
    extended = tuple(dict.fromkeys((*message.extensions, URI)))
    return replace(agent_request, message=replace(message, metadata=metadata, extensions=extended))


def _with_extensions(call: TransportCall, extensions: Sequence[str]) -> TransportCall:
    return replace(call, headers={**call.headers, "a2a-extensions": ",".join(extensions)}) if extensions else call


def _with_room_for_history(call: TransportCall, agent_request: AgentRequest) -> TransportCall:
    """Extend the size limits by the content of the task so far, which agents repeat in its history."""
    size, current = ContentSize(), agent_request.call.task
    if current is not None and current.before is not None:
        size.add(current.before)
    size.add(agent_request.message)
    budget, stream_budget = call.budget, call.stream_budget
    return replace(
        call,
        budget=replace(budget, max_bytes=budget.max_bytes + size.total_bytes),
        stream_budget=replace(stream_budget, max_bytes=stream_budget.max_bytes + size.total_bytes),
    )
