"""`GET /doctor` at the gate: the examination of the path to the hub, and the hub's own report."""

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

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
    id_token_step,
    ok,
    read_report,
    report_response,
)
from a2a_hub.diagnosis.steps import steps_of
from a2a_hub.http.messages import Response
from a2a_hub.identity.authentication import PRINCIPAL_HEADER
from a2a_hub.identity.service_tokens import IdTokenClaims
from a2a_hub.runtime.upstream import OwnTokenUnavailable, RejectedByIam, Upstream

_SUBJECT = "gate"
_HEALTH = "/health"
_STEPS = steps_of(Path(__file__).with_suffix(".toml"))


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
        if answer.status == 401 and is_operator and PRINCIPAL_HEADER in headers:
            return _report_of(*steps, _STEPS.filled("unknown_key"))
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
            command = service_of(self.hub_url, name="hub").keep_instance()
            yield _STEPS.filled("latency", seconds=seconds, command=command)

    def _obstacle(self, problem: A2AError, claims: IdTokenClaims | None) -> Step:
        hub = service_of(self.hub_url, name="hub")
        account = claims.email if claims is not None and claims.email else "EMAIL"
        match problem:
            case OwnTokenUnavailable():
                command = self.service.restart() if self.service else None
                return msgspec.structs.replace(_STEPS.filled("no_token"), command=command)
            case RejectedByIam(status=403):
                command = hub.add_invoker(f"serviceAccount:{account}")
                return _STEPS.filled("no_invoker", account=account, hub=hub.name, command=command)
            case RejectedByIam(status=429):
                return _STEPS.filled("no_instance", command=hub.more_instances())
            case RejectedByIam() if claims is not None and claims.seconds_left(self.now()) <= 0:
                return _STEPS.filled("expired")
            case RejectedByIam():
                audience = claims.audience if claims is not None else self.hub_url
                return _STEPS.filled("audience", audience=audience, command=hub.add_audience(audience))
            case _:
                return _STEPS.filled("no_answer", reason=problem.kind.message, command=hub.describe())


def _report_of(*steps: Step) -> Response:
    return report_response(Report(examined=(Examined(subject=_SUBJECT, steps=steps),)))
