"""`GET /doctor` at the gate: the examination of the path to the hub, and the hub's own report."""

import time
from collections.abc import Callable, Iterator, Mapping

import msgspec
from msgspec import Struct

from a2a_hub.a2a.errors import A2AError
from a2a_hub.diagnosis.gcloud import Service, service_of
from a2a_hub.diagnosis.report import (
    PATH,
    SLOW_SECONDS,
    Examined,
    Report,
    Step,
    error,
    id_token_step,
    ok,
    read_report,
    report_response,
    warning,
)
from a2a_hub.http.messages import Response
from a2a_hub.identity.authentication import HEADER
from a2a_hub.identity.service_tokens import IdTokenClaims
from a2a_hub.runtime.upstream import OwnTokenUnavailable, RejectedByIam, Upstream

_SUBJECT = "gate"
_HEALTH = "/health"
_UNKNOWN_KEY = error(
    "hub",
    "HTTP 401: the hub does not accept the gate's signature",
    fix="add the public half of the gate's SIGNING_KEY to GATE_PUBLIC_KEYS of the hub, and start new instances of both",
)


class Doctor(Struct, frozen=True):
    """The examination of the path to `hub`. `service` is the gate itself on Cloud Run, None elsewhere."""

    hub: Upstream
    hub_url: str
    service: Service | None
    now: Callable[[], float] = time.time
    clock: Callable[[], float] = time.monotonic

    def report(self, headers: Mapping[str, str], *, is_operator: bool) -> Response:
        """Return the whole report; without an answer of the hub, the steps up to the failure; the hub's own rejection unchanged.

        `headers` identify the caller. The steps name accounts and addresses: for others than operators a failure raises A2AError.
        """
        steps: list[Step] = []
        claims: IdTokenClaims | None = None
        try:
            claims = self.hub.id_token_claims()
            steps.append(self._credential(claims))
            steps.extend(self._latency(headers))
            answer = self.hub.send("GET", PATH, headers=headers, body=b"")
        except A2AError as problem:
            if not is_operator:
                raise
            return _report_of(*steps, self._obstacle(problem, claims))
        if answer.status == 401 and is_operator and HEADER in headers:
            return _report_of(*steps, _UNKNOWN_KEY)
        found = read_report(answer.body) if answer.status == 200 and isinstance(answer.body, bytes) else None
        if found is None:
            return answer
        path = Examined(subject=_SUBJECT, steps=(*steps, ok("hub", "the hub lets the gate in, and answers")))
        return report_response(msgspec.structs.replace(found, examined=(path, *found.examined)))

    def _credential(self, claims: IdTokenClaims | None) -> Step:
        if claims is None:
            return ok("credential", "none is sent: IAM_CREDENTIALS=none, and the hub is on this machine")
        return id_token_step(claims, self.now(), holder="gate", service=self.service)

    def _latency(self, headers: Mapping[str, str]) -> Iterator[Step]:
        started = self.clock()
        self.hub.send("GET", _HEALTH, headers=headers, body=b"")
        seconds = self.clock() - started
        if seconds > SLOW_SECONDS:
            yield warning(
                "latency",
                f"the hub's first answer took {seconds:.1f} s: no instance was there, or it is slow",
                fix="keep one instance of the hub warm",
                command=service_of(self.hub_url, name="hub").keep_instance(),
            )

    def _obstacle(self, problem: A2AError, claims: IdTokenClaims | None) -> Step:
        hub = service_of(self.hub_url, name="hub")
        account = claims.email if claims is not None and claims.email else "EMAIL"
        match problem:
            case OwnTokenUnavailable():
                return error(
                    "credential",
                    "the gate got no token of its own from Application Default Credentials",
                    fix="start new instances of the gate; where it has no service account, deploy it with --service-account",
                    command=self.service.restart() if self.service else None,
                )
            case RejectedByIam(status=403):
                return error(
                    "hub",
                    f"HTTP 403: {account} lacks roles/run.invoker on {hub.name}",
                    fix="let the gate invoke the hub; it takes effect within minutes",
                    command=hub.add_invoker(f"serviceAccount:{account}"),
                )
            case RejectedByIam(status=429):
                return error(
                    "hub",
                    "HTTP 429: the hub has no instance left for the request",
                    fix="let it have more instances",
                    command=hub.more_instances(),
                )
            case RejectedByIam() if claims is not None and claims.seconds_left(self.now()) <= 0:
                return error("hub", "HTTP 401: the ID token has expired", fix="see the credential, above")
            case RejectedByIam():
                audience = claims.audience if claims is not None else self.hub_url
                return error(
                    "hub",
                    f"HTTP 401: the hub takes no ID token for the audience {audience}",
                    fix="make it take this audience, or set HUB_URL of the gate to the hub's own address",
                    command=hub.add_audience(audience),
                )
            case _:
                return error(
                    "hub",
                    f"the hub does not answer the gate: {problem.kind.message}",
                    fix="is the hub deployed, and is HUB_URL of the gate its address? This shows the address that it has",
                    command=hub.describe(),
                )


def _report_of(*steps: Step) -> Response:
    return report_response(Report(examined=(Examined(subject=_SUBJECT, steps=steps),)))
