"""The path from the operator's machine into the hub: network, card, clock, token; then the report from inside."""

import json
import time
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

from a2a_hub.card_rules.card import Severity
from a2a_hub.card_rules.check import check_text
from a2a_hub.diagnosis.gcloud import Service
from a2a_hub.diagnosis.report import (
    PATH,
    Examined,
    Report,
    Step,
    certificate_command,
    error,
    ok,
    read_report,
    skipped,
    warning,
)
from a2a_hub.http.client import Answer, Fault, HttpClient, HttpFailure, fetch
from a2a_hub.http.messages import JSON, seconds_of
from a2a_hub.settings.reader import LOOPBACK_HOSTS

_CARD = "/.well-known/agent-card.json"
_MOST_SKEW_SECONDS = 60.0
# On one machine there is no certificate, and no public address.
_OF_A_PUBLIC_HUB = frozenset({"url-https", "url-public"})
_GATEWAY_MEMBER = "serviceAccount:{}gateway@$(gcloud config get-value project).iam.gserviceaccount.com"


class Entrance:
    """The hub at `url`, called with an operator's `token`. The names of its services begin with `prefix`; `now` is the time of
    day.
    """

    def __init__(
        self, url: str, *, token: str | None, prefix: str, http: HttpClient, now: Callable[[], float] = time.time
    ) -> None:
        self._url = url.rstrip("/")
        self._token = token
        self._prefix = prefix
        self._gate = Service(name=f"{prefix}gate")
        self._http = http
        self._now = now

    def report(self) -> Report:
        """Return the steps of the entrance, and everything that was found behind it."""
        try:
            health, _ = self._get("/health")
        except HttpFailure as failure:
            return Report(examined=(Examined(subject="gateway", steps=(self._no_answer(failure),)),))
        steps = [ok("network", f"{self._way()}: {self._url} answers"), *self._health(health), self._clock(health)]
        steps.append(self._card())
        step, inside = self._inside()
        examined = (Examined(subject="gateway", steps=(*steps, step)),)
        if inside is None:
            return Report(examined=examined)
        return Report(account=inside.account, examined=(*examined, *inside.examined))

    def _get(self, path: str, *, token: str | None = None) -> tuple[Answer, bytes]:
        headers = {"accept": JSON, "a2a-version": "0.3"}
        if token:
            headers["authorization"] = f"Bearer {token}"
        return fetch(self._http, "GET", self._url + path, headers=headers, seconds=60.0, max_bytes=16 << 20)

    def _way(self) -> str:
        return "DNS, connection, TLS" if self._url.startswith("https:") else "connection (no TLS)"

    def _no_answer(self, failure: HttpFailure) -> Step:
        match failure.fault:
            case Fault.UNRESOLVED:
                fix = "is --url right? This shows the gateway's address"
                command = "gcloud api-gateway gateways list --format='value(defaultHostname)'"
            case Fault.TLS:
                fix = "give the host a valid certificate; this shows the current one"
                command = certificate_command(self._url)
            case _ if urlsplit(self._url).hostname in LOOPBACK_HOSTS:
                fix, command = "start it", "make run"
            case _:
                fix = "is --url right, and is the gateway deployed?"
                command = "gcloud api-gateway gateways list"
        return error("network", f"{self._url}: {failure.detail}", fix=fix, command=command)

    def _health(self, answer: Answer) -> Iterator[Step]:
        if answer.status == 200:
            yield ok("gate", "the gate is up")
        elif answer.status in (401, 403):
            yield error(
                "gate",
                f"HTTP {answer.status} at /health: the gateway may not invoke the gate",
                fix="let the gateway's service account invoke it",
                command=self._gate.add_invoker(_GATEWAY_MEMBER.format(self._prefix)),
            )
        else:
            yield error(
                "gate",
                f"HTTP {answer.status} at /health",
                fix="see the gate's log",
                command=self._gate.logs(),
            )

    def _clock(self, answer: Answer) -> Step:
        date = seconds_of(str(answer.headers.get("date", "")))
        if date is None:
            return skipped("clock", "the answer has no date")
        skew = self._now() - date
        if abs(skew) <= _MOST_SKEW_SECONDS:
            return ok("clock", f"this machine's and the gateway's agree ({skew:+.0f} s)")
        return warning(
            "clock",
            f"this machine's clock is {skew:+.0f} s off the gateway's: tokens made here are refused",
            fix="set this machine's clock",
            command="sudo timedatectl set-ntp true",
        )

    def _card(self) -> Step:
        try:
            answer, body = self._get(_CARD)
        except HttpFailure as failure:
            return error(
                "card",
                failure.detail,
                fix="see the log of agent_card",
                command=Service(name=f"{self._prefix}agent-card").logs(),
            )
        if answer.status != 200:
            return error(
                "card",
                f"HTTP {answer.status}: the card has to be readable without a token",
                fix="let the gateway's service account invoke the function of the card",
                command=Service(name=f"{self._prefix}agent-card").add_invoker(_GATEWAY_MEMBER.format(self._prefix)),
            )
        here = urlsplit(self._url).hostname in LOOPBACK_HOSTS
        wrong = [
            each
            for each in check_text(body.decode("utf-8", errors="replace"))
            if each.severity is Severity.ERROR and not (here and each.rule in _OF_A_PUBLIC_HUB)
        ]
        if wrong:
            first = wrong[0]
            return error(
                "card", f"{first.path}: {first.message}", fix=first.fix, command=f"hubctl check --card {self._url}"
            )
        return ok("card", f"{json.loads(body)['name']}, valid for Gemini Enterprise")

    def _inside(self) -> tuple[Step, Report | None]:
        """Present the operator's token and return the step, and the report if the token is accepted."""
        try:
            answer, body = self._get(PATH, token=self._token)
        except HttpFailure as failure:
            return error("token", failure.detail, fix="see the gate's log", command=self._gate.logs()), None
        report = read_report(body) if answer.status == 200 else None
        if report is not None:
            return ok("token", "the hub knows the operator"), report
        check, fix, command = "token", "see the gate's log", None
        match answer.status:
            case 401:
                message = f"HTTP 401: {'the gate does not know the token' if self._token else 'no token was given'}"
                fix = "give a token that the hub knows: --token TOKEN, HUB_DEV_TOKEN, or an ID token for ID_TOKEN_AUDIENCES"
            case 403:
                message = "HTTP 403: the caller is no operator"
                fix = "add the address that you are known by to OPERATORS of the hub"
                hub = Service(name=f"{self._prefix}hub")
                command = hub.set_variable("OPERATORS", "$(gcloud config get-value account)")
            case 404:
                message = f"HTTP 404: there is no {PATH}"
                fix = "deploy this version of the hub and of gateway/openapi.yaml"
            case status:
                check, message, command = "gate", f"HTTP {status} at {PATH}", self._gate.logs()
        return error(check, message, fix=fix, command=command), None
