"""The doctor's examination of one agent: network, clock, IAM, card, and the agent's report on itself."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from a2a_hub.a2a import protojson
from a2a_hub.a2a.card import AgentCard
from a2a_hub.a2a.client import A2AClient
from a2a_hub.a2a.client_errors import ClientError, ClientFault
from a2a_hub.a2a.compat.v0_3.card import to_core_card_of_agent
from a2a_hub.a2a.discovery import CalledCard, endpoint_of, read_card
from a2a_hub.a2a.errors import A2AError
from a2a_hub.boundaries.boundary import Examination
from a2a_hub.boundaries.kinds import KINDS
from a2a_hub.diagnosis import report
from a2a_hub.diagnosis.gcloud import Service, service_of
from a2a_hub.diagnosis.steps import steps_of
from a2a_hub.http.client import Budget, Fault, HttpFailure
from a2a_hub.http.messages import JSON, seconds_of
from a2a_hub.mcp.client import MAX_TOOLS, McpClient, Tool, offered
from a2a_hub.routing.routes import Kind, Route
from functions.hub.credentials import AuthorizedHttp

_CARD = "/.well-known/agent-card.json"
_NO_TASK = "doctor"
_MAX_NAMES = 50
_SECONDS = 20.0
_MAX_BYTES = 4 << 20
_MAX_SKEW_SECONDS = 60.0
_STEPS = steps_of(Path(__file__).with_suffix(".toml"))


class _Answer(Struct, frozen=True, kw_only=True):
    status: int
    body: bytes
    date: str
    seconds: float


class AgentExamination:
    """The doctor's examination of one agent. `now` is the time of day in seconds since the epoch."""

    def __init__(self, route: Route, http: AuthorizedHttp, *, hub: Service | None, now: float) -> None:
        self._route = route
        self._http = http
        self._hub = hub
        self._now = now
        self._service = service_of(route.url, name=route.id)

    @property
    def _examination(self) -> Examination:
        return Examination(agent=self._route, credential=self._http.credential, hub=self._hub, now=self._now)

    def steps(self) -> Iterator[report.Step]:
        """Yield the steps from the hub to the agent, in order; they end where a request goes no further."""
        boundary = self._route.boundary
        credential = boundary.credential_step(self._examination)
        yield credential
        try:
            answer = _get(self._route, _CARD, self._http)
        except HttpFailure as failure:
            yield self._no_answer(failure)
            return
        encrypted = self._route.url.startswith("https:")
        way = "DNS, connection, TLS" if encrypted else "DNS, connection (no TLS: this machine)"
        yield report.ok("network", f"{way}: the agent answers")
        yield self._clock(answer)
        if answer.seconds > report.SLOW_SECONDS:
            yield _STEPS.filled("latency", seconds=answer.seconds, command=self._service.keep_instance())
        if refusal := self._refusal(answer.status):
            # Who refuses a credential that is known to be wrong says nothing new.
            if credential.outcome is not report.Outcome.ERROR:
                yield refusal
            return
        if admission := boundary.admission_step(self._examination):
            yield admission
        if self._route.kind is Kind.MCP:
            yield self._tools()
            return
        yield from self._card(answer)
        yield from self._self_examination()

    def _tools(self) -> report.Step:
        """Return the step on an MCP server, whose tools are listed."""
        route, http = self._route, self._http
        try:
            with closing(McpClient(http, route.url, budget=_budget(route, http))) as client:
                tools = client.tools(limit=MAX_TOOLS)
        except ClientError as failure:
            if failure.status in (401, 403):
                return route.boundary.refusal_step(failure.status, self._examination)
            return _STEPS.filled("no_tools", detail=failure.detail)
        names = _names(tools)
        if route.tool and not any(tool.name == route.tool for tool in tools):
            return _STEPS.filled("unknown_tool", tool=route.tool, names=names or "none", route=route.id)
        for_model = offered(tools)
        if not route.tool and (client.has_more or len(for_model) < len(tools)):
            count = f"> {len(tools)}" if client.has_more else f"{len(tools)}"
            left_out = _names([tool for tool in tools if tool not in for_model]) or "…"
            return _STEPS.filled("many_tools", count=count, offered=len(for_model), left_out=left_out, route=route.id)
        return report.ok("tools", f"MCP {client.version}: {names or 'none'}")

    def _no_answer(self, failure: HttpFailure) -> report.Step:
        detail = failure.detail
        match failure.fault:
            case Fault.UNRESOLVED | Fault.UNREACHABLE:
                check = "dns" if failure.fault is Fault.UNRESOLVED else "connection"
                variable = f"{self._route.id.upper().replace('-', '_')}_URL"
                command = self._service.describe()
                return _STEPS.filled("unreachable", check=check, detail=detail, variable=variable, command=command)
            case Fault.TLS:
                return _STEPS.filled("tls", detail=detail, command=report.certificate_command(self._route.url))
            case _:
                return _STEPS.filled("answer", detail=detail, command=self._service.logs())

    def _clock(self, answer: _Answer) -> report.Step:
        date = seconds_of(answer.date)
        if date is None:
            return report.skipped("clock", "the agent's answer has no date")
        skew = self._now - date
        if abs(skew) <= _MAX_SKEW_SECONDS:
            return report.ok("clock", f"the hub's and the agent's agree ({skew:+.0f} s)")
        return _STEPS.filled("clock", skew=skew, command=self._service.restart())

    def _refusal(self, status: int) -> report.Step | None:
        """Return the step on an agent that refuses the request for its card; None where it serves it."""
        if status in (401, 403):
            return self._route.boundary.refusal_step(status, self._examination)
        if status == 429:
            return _STEPS.filled("quota", command=self._service.more_instances())
        if status >= 500:
            return _STEPS.filled("server_error", status=status, command=self._service.logs())
        return None

    def _card(self, answer: _Answer) -> Iterator[report.Step]:
        """Examine the card, compare the credential with its security requirements, and try it where the card needs none."""
        called = None
        if answer.status == 200:
            try:
                called = read_card(answer.body)
                card, lacking = to_core_card_of_agent(protojson.decode(answer.body))
            except A2AError as problem:
                yield _STEPS.filled("odd_card" if called else "unreadable_card", reason=problem.message)
                return
            yield _STEPS.filled("odd_card", reason=lacking) if lacking else _card_step(called, card, self._route)
            if step := _scheme_step(card, self._route):
                yield step
        else:
            yield _STEPS.filled("no_card", status=answer.status, path=_CARD, route=self._route.id)
        if self._route.boundary.is_probed:
            yield self._probe(called)

    def _probe(self, card: CalledCard | None) -> report.Step:
        """Request an unknown task: an agent that searches for it has accepted the credential."""
        route, http = self._route, self._http
        try:
            endpoint = endpoint_of(card, route.url, version=route.protocol_version, binding=route.binding)
            A2AClient(http=http, endpoint=endpoint, headers={}, budget=_budget(route, http)).get_task(_NO_TASK)
        except ClientError as failure:
            match failure.fault:
                case ClientFault.UNAUTHENTICATED | ClientFault.FORBIDDEN:
                    status = 401 if failure.fault is ClientFault.UNAUTHENTICATED else 403
                    return route.boundary.refusal_step(status, self._examination)
                case ClientFault.REFUSED | ClientFault.NOT_FOUND | ClientFault.WRONG_VERSION:
                    pass
                case _:
                    return report.skipped("access", f"it cannot be told whether the agent accepts it: {failure.detail}")
        return report.ok("access", "the agent accepts the credential")

    def _self_examination(self) -> Iterator[report.Step]:
        if self._route.boundary.per_caller:
            yield report.skipped("agent", "it is not asked what it finds of itself: the token would be the caller's")
            return
        try:
            answer = _get(self._route, report.PATH, self._http)
        except HttpFailure as failure:
            yield _STEPS.filled("agent", detail=failure.detail, command=self._service.logs())
            return
        found = report.read_report(answer.body) if answer.status == 200 else None
        if found is None:
            yield report.skipped("agent", "it does not say what it finds of itself")
            return
        for examined in found.examined:
            yield from examined.steps


def _budget(route: Route, http: AuthorizedHttp) -> Budget:
    connect_seconds = route.connect_timeout_seconds
    return Budget.within(_SECONDS, now=http.clock(), max_bytes=_MAX_BYTES, connect_seconds=connect_seconds, retries=0)


def _get(route: Route, path: str, http: AuthorizedHttp) -> _Answer:
    started = http.clock()
    url = route.url.rstrip("/") + path
    answer = http.request("GET", url, headers={"accept": JSON}, body=None, budget=_budget(route, http))
    seconds = http.clock() - started
    date = str(answer.headers.get("date", ""))
    return _Answer(status=answer.status, body=answer.read(), date=date, seconds=seconds)


def _card_step(called: CalledCard, card: AgentCard, route: Route) -> report.Step:
    extensions = card.capabilities.extensions
    missing = [each.uri for each in extensions if each.required and each.uri not in route.extensions]
    if missing:
        return _STEPS.filled("required_extension", uris=", ".join(missing), route=route.id)
    declared = {each.uri for each in extensions}
    if unknown := [uri for uri in route.extensions if uri not in declared]:
        return _STEPS.filled("undeclared_extension", uris=", ".join(unknown), route=route.id)
    versions = sorted({interface.protocol_version for interface in called.supported_interfaces})
    return report.ok("card", f"{called.name}, A2A {', '.join(versions)}")


def _scheme_step(card: AgentCard, route: Route) -> report.Step | None:
    """Return a warning where the card asks for a credential that some kind of boundary has, and the route has not."""
    schemes = card.security_schemes or {}
    suggestions: list[str] = []
    for requirement in card.security_requirements:
        declared = [(schemes[name], item.list) for name, item in requirement.schemes.items() if name in schemes]
        if all(route.boundary.serves(scheme, scopes) for scheme, scopes in declared):
            return None
        for scheme, scopes in declared:
            suggestions += [", ".join(lines) for kind in KINDS.values() if (lines := kind.route_lines(scheme, scopes))]
    if not suggestions:
        return None
    listed = " or: ".join(suggestions)
    return _STEPS.filled("security", boundary=route.boundary.kind, route=route.id, suggestions=listed)


def _names(tools: Sequence[Tool]) -> str:
    return ", ".join(tool.name for tool in tools[:_MAX_NAMES]) + (", …" if len(tools) > _MAX_NAMES else "")
