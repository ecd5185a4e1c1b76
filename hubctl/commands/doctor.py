"""`hubctl doctor`: from this machine into the hub, then the report from inside; with the command that fixes each failure."""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TextIO
from urllib.parse import urlsplit

import msgspec

from a2a_hub.card_rules.card import Severity
from a2a_hub.card_rules.check import check_text
from a2a_hub.diagnosis.report import (
    PATH,
    Examined,
    Outcome,
    Report,
    Step,
    certificate_command,
    ok,
    read_report,
    skipped,
)
from a2a_hub.diagnosis.steps import steps_of
from a2a_hub.http.client import ClientResponse, Fault, HttpClient, HttpFailure, fetch
from a2a_hub.http.messages import JSON, seconds_of
from a2a_hub.settings.reader import LOOPBACK_HOSTS
from hubctl.connection import LOCAL_PORT, hub_address, hub_token
from hubctl.console import row, table_head, write
from hubctl.main import CommandError
from hubctl.registration.api import api_of
from hubctl.registration.doctor import Examination
from hubctl.registration.oauth import read_client

_WIDTHS = (1, 12, 11, 100)
_MARKS = {Outcome.OK: "✓", Outcome.WARNING: "!", Outcome.ERROR: "✗", Outcome.SKIPPED: "-"}
_PLURALS = {
    Outcome.OK: "well",
    Outcome.WARNING: "could be better",
    Outcome.ERROR: "wrong",
    Outcome.SKIPPED: "not tested",
}
_CARD = "/.well-known/agent-card.json"
_MAX_SKEW_SECONDS = 60.0
# On one machine there is no certificate, and no public address.
_OF_A_PUBLIC_HUB = frozenset({"url-https", "url-public"})
_STEPS = steps_of(Path(__file__).with_suffix(".toml"))


def run(arguments: argparse.Namespace, *, environment: Mapping[str, str], out: TextIO) -> int:
    """Return 0 if everything works, else 1. Raises CommandError."""
    url = hub_address(arguments.url, environment, variables=("HUB_URL", "HUB_PUBLIC_URL"))
    token = hub_token(arguments.token, environment)
    report = Entrance(url, token=token, prefix=arguments.name_prefix, http=HttpClient()).report()
    registered = _registered(arguments, environment, url)
    if registered is not None:
        report = msgspec.structs.replace(report, examined=(*report.examined, registered))
    steps = [(part.subject, step) for part in report.examined for step in part.steps]
    wrong = any(step.outcome is Outcome.ERROR for _, step in steps)
    findings = [{"subject": subject, **msgspec.structs.asdict(step)} for subject, step in steps]
    value = {"ok": not wrong, "account": report.account, "findings": findings}
    return write(value, _lines(steps), as_json=arguments.json, out=out, ok=not wrong)


def _registered(arguments: argparse.Namespace, environment: Mapping[str, str], url: str) -> Examined | None:
    """Examine the agent whose card names `url`, if an app is named: its registered card beside the live one, its authorization,
    its visibility.
    """
    app = arguments.app or environment.get("GEMINI_ENTERPRISE_APP")
    if not app:
        return None
    missing = f"in which project is the app {app}? Give --project PROJECT"
    api = api_of(arguments, environment, missing=missing, authorization_id=arguments.authorization)
    client = read_client(client_id=None, secret_file=None, environment=environment)
    options = (f"--url {url}",)
    try:
        found = Examination(api, card={"url": url}, card_options=options, agent_id=None, client=client, live_card=url)
    except CommandError as problem:
        message, _, fix = str(problem).partition("\n")
        step = Step(check="api", outcome=Outcome.ERROR, message=message, fix=fix or None)
        return Examined(subject="registered", steps=(step,))
    name = found.agent.name.rpartition("/")[2] if found.agent else "none"
    steps = [ok("agent", f"agent {name}, authorization {found.bound or 'none'}")] if found.agent else []
    return Examined(subject="registered", steps=(*steps, *found.steps))


def _lines(steps: Sequence[tuple[str, Step]]) -> Iterator[str]:
    """Yield a row for each step; under one that failed, the fix. A command stands on a line of its own, whole."""
    yield from table_head(("", "part", "check", "what was seen"), _WIDTHS)
    for subject, step in steps:
        yield from _row(subject, step)
    yield ""
    counts = {outcome: sum(step.outcome is outcome for _, step in steps) for outcome in Outcome}
    yield ", ".join(f"{count} {_PLURALS[outcome]}" for outcome, count in counts.items() if count)


def _row(subject: str, step: Step) -> Iterator[str]:
    if step.outcome in (Outcome.OK, Outcome.SKIPPED):
        yield row((_MARKS[step.outcome], subject, step.check, step.message), _WIDTHS)
        return
    head = row((_MARKS[step.outcome], subject, step.check, "."), (*_WIDTHS[:3], 1))
    yield f"{head[:-1]}{step.message}"
    if step.fix:
        yield f"    fix: {step.fix}"
    if step.command:
        yield f"    run: {step.command}"


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
        self._http = http
        self._now = now

    def report(self) -> Report:
        """Return the steps of the entrance, and everything that was found behind it."""
        try:
            health, _ = self._get("/health")
        except HttpFailure as failure:
            return Report(examined=(Examined(subject="gateway", steps=(self._no_answer(failure),)),))
        way = "DNS, connection, TLS" if self._url.startswith("https:") else "connection (no TLS)"
        steps = [ok("network", f"{way}: {self._url} answers"), self._health(health), self._clock(health), self._card()]
        step, inside = self._inside()
        examined = (Examined(subject="gateway", steps=(*steps, step)),)
        if inside is None:
            return Report(examined=examined)
        return Report(account=inside.account, examined=(*examined, *inside.examined))

    def _get(self, path: str, *, token: str | None = None) -> tuple[ClientResponse, bytes]:
        headers = {"accept": JSON, "a2a-version": "0.3"}
        if token:
            headers["authorization"] = f"Bearer {token}"
        return fetch(self._http, "GET", self._url + path, headers=headers, seconds=60.0, max_bytes=16 << 20)

    def _step(self, name: str, **values: object) -> Step:
        """Return a step that is not well."""
        gateway = f"serviceAccount:{self._prefix}gateway@$(gcloud config get-value project).iam.gserviceaccount.com"
        return _STEPS.filled(name, url=self._url, prefix=self._prefix, gateway=gateway, **values)

    def _no_answer(self, failure: HttpFailure) -> Step:
        names = {Fault.UNRESOLVED: "unresolved", Fault.TLS: "tls"}
        name = names.get(failure.fault, "not_started" if self._is_here() else "unreachable")
        port = urlsplit(self._url).port
        run = "make run" if f"{port}" == LOCAL_PORT else f"HUB_PORT={port or 80} make run"
        return self._step(name, detail=failure.detail, certificate=certificate_command(self._url), run=run)

    def _is_here(self) -> bool:
        return urlsplit(self._url).hostname in LOOPBACK_HOSTS

    def _health(self, answer: ClientResponse) -> Step:
        if answer.status == 200:
            return ok("gate", "the gate is up")
        return self._step("no_invoker" if answer.status in (401, 403) else "gate", status=answer.status, path="/health")

    def _clock(self, answer: ClientResponse) -> Step:
        date = seconds_of(str(answer.headers.get("date", "")))
        if date is None:
            return skipped("clock", "the answer has no date")
        skew = self._now() - date
        if abs(skew) <= _MAX_SKEW_SECONDS:
            return ok("clock", f"this machine's and the gateway's agree ({skew:+.0f} s)")
        return self._step("clock", skew=skew)

    def _card(self) -> Step:
        try:
            answer, body = self._get(_CARD)
        except HttpFailure as failure:
            return self._step("card", detail=failure.detail)
        if answer.status != 200:
            return self._step("private_card", status=answer.status)
        for each in check_text(body.decode("utf-8", errors="replace")):
            if each.severity is Severity.ERROR and not (self._is_here() and each.rule in _OF_A_PUBLIC_HUB):
                return self._step("wrong_card", path=each.path, problem=each.message, fix=each.fix)
        return ok("card", f"{json.loads(body)['name']}, valid for Gemini Enterprise")

    def _inside(self) -> tuple[Step, Report | None]:
        """Present the operator's token and return the step, and the report if the token is accepted."""
        try:
            answer, body = self._get(PATH, token=self._token)
        except HttpFailure as failure:
            return self._step("token", detail=failure.detail), None
        report = read_report(body) if answer.status == 200 else None
        if report is not None:
            return ok("token", "the hub knows the operator"), report
        names = {
            401: "unknown_token" if self._token else "no_token",
            403: "no_operator",
            404: "no_report",
            429: "quota",
        }
        return self._step(names.get(answer.status, "gate"), status=answer.status, path=PATH), None
