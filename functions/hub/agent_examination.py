"""One agent as the hub reaches it: its card, what stands in front of it, the clock, and what it finds of itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct, structs

from a2a_hub.a2a import protojson
from a2a_hub.a2a.compat.v0_3.card import to_core_card
from a2a_hub.a2a.discovery import read_card
from a2a_hub.a2a.errors import A2AError
from a2a_hub.diagnosis.gcloud import EVERYBODY, Service, service_of
from a2a_hub.diagnosis.report import (
    PATH,
    SLOW_SECONDS,
    Step,
    certificate_command,
    error,
    ok,
    read_report,
    skipped,
    warning,
)
from a2a_hub.http.client import Budget, Fault, HttpClient, HttpFailure
from a2a_hub.http.messages import JSON, seconds_of
from a2a_hub.identity.service_tokens import IdTokenClaims
from a2a_hub.routing.routes import Boundary, Route
from functions.hub.credentials import Credentials, audience_of
from functions.hub.failure import DownstreamFailed

_CARD = "/.well-known/agent-card.json"
_SECONDS = 20.0
_MOST_BYTES = 4 << 20
_MOST_SKEW_SECONDS = 60.0
_ON_THE_WAY = {Fault.UNRESOLVED: "dns", Fault.UNREACHABLE: "connection", Fault.TLS: "tls"}


class Visit(Struct, frozen=True, kw_only=True):
    """With what agents are visited. `now` is the time of day in seconds since the epoch."""

    http: HttpClient
    credentials: Credentials
    now: Callable[[], float]


class _Answer(Struct, frozen=True, kw_only=True):
    status: int
    body: bytes
    date: str
    seconds: float


def examine_agent(
    route: Route, headers: Mapping[str, str], visit: Visit, facts: IdTokenClaims | None
) -> Iterator[Step]:
    """The steps, in the order of the way; they end where it goes no further. `facts` are those of the ID token that is sent."""
    service = service_of(route.url, name=route.id)
    try:
        answer = _asked(route, _CARD, headers, visit)
    except HttpFailure as failure:
        yield _no_answer(route, failure, service)
        return
    secure = (
        "DNS, connection, TLS" if route.url.startswith("https:") else "DNS, connection (no TLS: this machine)"
    )
    yield ok("network", f"{secure}: the agent answers")
    yield _clock(answer, visit, service)
    if answer.seconds > SLOW_SECONDS:
        yield warning(
            "latency",
            f"the first answer took {answer.seconds:.1f} s: no instance was there, or the agent is slow",
            fix="keep one instance warm",
            command=service.keep_instance(),
        )
    refused = _refusal(route, answer, visit, facts, service)
    if refused is not None:
        yield refused
        return
    if facts is not None:
        yield ok("iam", "Cloud Run, or whatever stands in front of the agent, lets the hub in")
    yield _card(answer, route)
    yield from _self_examination(route, headers, visit, service)


def _asked(route: Route, path: str, headers: Mapping[str, str], visit: Visit) -> _Answer:
    http = visit.http
    started = http.clock()
    budget = Budget(
        deadline=started + _SECONDS,
        connect_seconds=route.connect_timeout_seconds,
        idle_seconds=_SECONDS,
        max_bytes=_MOST_BYTES,
    )
    url = route.url.rstrip("/") + path
    answer = http.request("GET", url, headers={**headers, "accept": JSON}, body=None, budget=budget)
    seconds = http.clock() - started
    date = str(answer.headers.get("date", ""))
    return _Answer(status=answer.status, body=answer.read(), date=date, seconds=seconds)


def _no_answer(route: Route, failure: HttpFailure, service: Service) -> Step:
    check = _ON_THE_WAY.get(failure.fault, "answer")
    variable = f"{route.id.upper().replace('-', '_')}_URL"
    match failure.fault:
        case Fault.UNRESOLVED | Fault.UNREACHABLE:
            fix = f"is the agent deployed, and is its address ({variable}) right? This shows the address that it has"
            command = service.describe()
        case Fault.TLS:
            fix = "whoever runs the agent gives it a certificate that holds; this shows the one that it has"
            command = certificate_command(route.url)
        case _:
            fix = "see in its log why the agent does not answer"
            command = service.logs()
    return error(check, failure.detail, fix=fix, command=command)


def _clock(answer: _Answer, visit: Visit, service: Service) -> Step:
    date = seconds_of(answer.date)
    if date is None:
        return skipped("clock", "the agent's answer has no date")
    skew = visit.now() - date
    if abs(skew) <= _MOST_SKEW_SECONDS:
        return ok("clock", f"the hub's and the agent's agree ({skew:+.0f} s)")
    return error(
        "clock",
        f"the hub's clock is {skew:+.0f} s off the agent's: tokens are taken for expired, or for not yet valid",
        fix="set the clock of the machine that is wrong; on Cloud Run, start new instances",
        command=service.restart(),
    )


def _refusal(
    route: Route, answer: _Answer, visit: Visit, facts: IdTokenClaims | None, service: Service
) -> Step | None:
    """What stands in the hub's way, by the status of the agent's card; None where nothing does."""
    match answer.status:
        case 401 | 403 if route.boundary is Boundary.PUBLIC:
            return error(
                "iam",
                f"HTTP {answer.status}: the agent wants a credential, and its route says that it is public",
                fix='let everybody invoke it, or set boundary = "iam" in routes.toml',
                command=service.add_invoker(EVERYBODY),
            )
        case 401 if facts is not None and facts.seconds_left(visit.now()) <= 0:
            return error("iam", "HTTP 401: the ID token has expired", fix="see the credential, above")
        case 401:
            return _wrong_audience(route, visit, service)
        case 403:
            account = facts.email if facts is not None and facts.email else "the hub's service account"
            member = (
                f"serviceAccount:{account}" if facts is not None and facts.email else "serviceAccount:EMAIL"
            )
            return error(
                "iam",
                f"HTTP 403: {account} lacks roles/run.invoker on {service.name}",
                fix="whoever owns the agent's project lets the hub invoke it; it takes effect within minutes",
                command=service.add_invoker(member),
            )
        case 429:
            return error(
                "quota",
                "HTTP 429: the agent has no instance left for the request",
                fix="let it have more instances",
                command=service.more_instances(),
            )
        case status if status >= 500:
            return error("answer", f"HTTP {status}", fix="see the agent's log", command=service.logs())
        case _:
            return None


def _wrong_audience(route: Route, visit: Visit, service: Service) -> Step:
    audience = audience_of(route)
    message = f"HTTP 401: the agent takes no ID token for the audience {audience}"
    by_default = structs.replace(route, audience=None)
    if audience_of(by_default) != audience:
        try:
            headers = visit.credentials.headers(by_default, authorization=None)
            if _asked(route, _CARD, headers, visit).status not in (401, 403):
                return error(
                    "iam",
                    f"{message}, but one for {audience_of(by_default)}",
                    fix=f"delete `audience` of route {route.id} in routes.toml",
                )
        except (HttpFailure, DownstreamFailed):
            pass
    return error(
        "iam",
        message,
        fix="make it take this audience, or set the route's audience to the one that it takes",
        command=service.add_audience(audience),
    )


def _card(answer: _Answer, route: Route) -> Step:
    if answer.status != 200:
        return warning(
            "card",
            f"HTTP {answer.status} at {_CARD}: the agent is taken to speak A2A 0.3 over JSON-RPC",
            fix=f"publish a card, or set protocol_version and binding of route {route.id} in routes.toml",
        )
    try:
        card = read_card(answer.body)
    except A2AError as problem:
        return error("card", f"it cannot be read: {problem.message}", fix="mend the card at the agent")
    try:
        whole = to_core_card(protojson.decode(answer.body))
    except A2AError as problem:
        return warning(
            "card",
            f"the hub reads it, but another client may not: {problem.message}",
            fix="mend the card at the agent",
        )
    missing = [
        each.uri
        for each in whole.capabilities.extensions
        if each.required and each.uri not in route.extensions
    ]
    if missing:
        return error(
            "card",
            f"it requires an extension that the hub does not ask for: {', '.join(missing)}",
            fix=f"name it in `extensions` of route {route.id} in routes.toml",
        )
    declared = {each.uri for each in whole.capabilities.extensions}
    if unknown := [uri for uri in route.extensions if uri not in declared]:
        return warning(
            "card",
            f"it does not declare an extension that the hub asks for: {', '.join(unknown)}",
            fix="is it another version that the card declares? Else the agent may not know what callers send for it: it is to "
            f"be deleted from `extensions` of route {route.id} in routes.toml; Gemini CLI's server knows it and declares nothing",
        )
    versions = sorted({interface.protocol_version for interface in card.supported_interfaces})
    return ok("card", f"{card.name}, A2A {', '.join(versions)}")


def _self_examination(
    route: Route, headers: Mapping[str, str], visit: Visit, service: Service
) -> Iterator[Step]:
    if route.boundary is Boundary.USER:
        yield skipped("agent", "it is not asked what it finds of itself: the token would be the caller's")
        return
    try:
        answer = _asked(route, PATH, headers, visit)
    except HttpFailure as failure:
        yield error("agent", failure.detail, fix="see the agent's log", command=service.logs())
        return
    report = read_report(answer.body) if answer.status == 200 else None
    if report is None:
        yield skipped("agent", "it does not say what it finds of itself")
        return
    for examined in report.examined:
        yield from examined.steps
