"""`hubctl doctor`: step by step what works and what does not, with the exact command that fixes it."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import TextIO

import msgspec

from a2a_hub.diagnosis.report import Examined, Outcome, Step, ok
from a2a_hub.http.client import HttpClient
from hubctl.connection import hub_address, hub_token
from hubctl.console import row, table_head, write
from hubctl.entrance import Entrance
from hubctl.main import CommandError
from hubctl.registration.api import Api, api_of
from hubctl.registration.doctor import collect, diagnose
from hubctl.registration.oauth import OAuthClient, read_client
from hubctl.registration.target import LOCATIONS

_WIDTHS = (1, 12, 11, 100)
_MARKS = {Outcome.OK: "✓", Outcome.WARNING: "!", Outcome.ERROR: "✗", Outcome.SKIPPED: "-"}
_PLURALS = {
    Outcome.OK: "well",
    Outcome.WARNING: "could be better",
    Outcome.ERROR: "wrong",
    Outcome.SKIPPED: "not tested",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("--url", help="where the hub is (HUB_URL, HUB_PUBLIC_URL, else this machine at HUB_PORT, 8080)")
    add("--token", help="an operator's bearer token (HUB_DEV_TOKEN)")
    add("--name-prefix", metavar="TEXT", default="a2a-", help="name_prefix of deploy.toml (a2a-)")
    add("--project", help="with --app: the Google Cloud project (GOOGLE_CLOUD_PROJECT)")
    add("--app", help="also examine what is registered in this app (GEMINI_ENTERPRISE_APP)")
    add("--location", choices=LOCATIONS, help="the app's location (GEMINI_ENTERPRISE_LOCATION, else global)")
    add("--authorization", default="a2a-hub", metavar="ID", help="the agent's authorization (a2a-hub)")
    add("--endpoint", metavar="URL", help="a stand-in for Google's hosts: URL with {host} (GOOGLE_ENDPOINT)")
    add("--json", action="store_true", help="write one JSON object")


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
    write(value, _lines(steps), as_json=arguments.json, out=out)
    return 1 if wrong else 0


def _registered(arguments: argparse.Namespace, environment: Mapping[str, str], url: str) -> Examined | None:
    app = arguments.app or environment.get("GEMINI_ENTERPRISE_APP")
    if not app:
        return None
    missing = f"in which project is the app {app}? Give --project PROJECT"
    api = api_of(arguments, environment, missing=missing, authorization_id=arguments.authorization)
    client = read_client(client_id=None, secret_file=None, environment=environment)
    return examine_registration(api, url=url, client=client)


def examine_registration(api: Api, *, url: str, client: OAuthClient) -> Examined:
    """Examine the agent whose card names `url`: its registered card beside the live one, its authorization, its visibility."""
    try:
        options = (f"--url {url}",)
        found = collect(api, card={"url": url}, card_options=options, agent_id=None, client=client, live_card=url)
    except CommandError as problem:
        message, _, fix = str(problem).partition("\n")
        step = Step(check="api", outcome=Outcome.ERROR, message=message, fix=fix or None)
        return Examined(subject="registered", steps=(step,))
    name = found.agent.name.rpartition("/")[2] if found.agent else "none"
    steps = [ok("agent", f"agent {name}, authorization {found.bound or 'none'}")] if found.agent else []
    return Examined(subject="registered", steps=(*steps, *diagnose(found)))


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
