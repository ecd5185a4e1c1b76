"""`hubctl register`: the hub's agent in Gemini Enterprise, created or updated, listed, deleted, or examined."""

import argparse
import json
import shlex
from collections.abc import Iterable, Mapping
from typing import Any, TextIO

from a2a_hub.card_rules.card import Severity
from a2a_hub.card_rules.check import NEEDS_AUTHORIZATION, check_text, has_errors
from a2a_hub.diagnosis.report import Outcome
from a2a_hub.http.client import HttpClient
from hubctl.commands.card import Form, as_text, built_card
from hubctl.connection import read_card
from hubctl.console import counted, write
from hubctl.main import CommandError
from hubctl.registration import oauth
from hubctl.registration.api import Api, api_of
from hubctl.registration.apply import DesiredRegistration, apply, chosen_agent, delete, dry_deletion, dry_run
from hubctl.registration.doctor import Examination
from hubctl.registration.target import Call, RegisteredAgent, read_agent

_SEVERITIES = {Outcome.ERROR: Severity.ERROR, Outcome.WARNING: Severity.WARNING, Outcome.SKIPPED: Severity.NOTE}


def run(arguments: argparse.Namespace, *, environment: Mapping[str, str], out: TextIO) -> int:
    """Return 0 if it is done, or nothing is wrong; 1 if the card or the registration is wrong. Raises CommandError."""
    api = api_of(
        arguments,
        environment,
        missing="which app? Give --project PROJECT and --app APP_ID (and --location, if it is not global)",
        authorization_id=None if arguments.no_authorization else arguments.authorization,
        authorization_location=arguments.authorization_location,
    )
    if arguments.agent_id and arguments.action in ("apply", "list"):
        raise CommandError(f"{arguments.agent_id!r}: to choose an agent, write --agent {arguments.agent_id}")
    if arguments.dry_run and arguments.action in ("list", "doctor"):
        raise CommandError(f"{arguments.action} changes nothing: leave --dry-run out")
    return _ACTIONS[arguments.action](api, arguments, environment, out)


def _apply(api: Api, arguments: argparse.Namespace, environment: Mapping[str, str], out: TextIO) -> int:
    card, text = _card(arguments, environment, api.http)
    findings = [
        each for each in check_text(text) if not arguments.no_authorization or each.rule not in NEEDS_AUTHORIZATION
    ]
    if findings and not arguments.json:
        print(as_text(arguments.card or "the card", findings), file=out)
    if has_errors(findings):
        refused = {"ok": False, "findings": findings, "steps": []}
        return write(refused, (), as_json=arguments.json, out=out, ok=False)
    oauth_content, shared = _oauth(arguments, environment), not arguments.not_shared
    wanted = DesiredRegistration(card=card, oauth=oauth_content, shared=shared, agent_id=arguments.agent)
    if arguments.dry_run:
        return _show(api, dry_run(wanted, api.target), arguments, out)
    steps = apply(api, wanted)
    value = {"ok": True, "findings": findings, "steps": list(steps)} if arguments.json else None
    return write(value, steps, as_json=arguments.json, out=out)


def _show(api: Api, planned: Iterable[tuple[str, Call]], arguments: argparse.Namespace, out: TextIO) -> int:
    shown = [(when, call.shown(api.endpoints, project=api.target.project)) for when, call in planned]
    value = {"dryRun": True, "requests": [{"when": when, "request": request} for when, request in shown]}
    return write(value, [f"# {when}\n{request}\n" for when, request in shown], as_json=arguments.json, out=out)


def _oauth(arguments: argparse.Namespace, environment: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the content of the authorization; None where it is bound as it is, or where there is none."""
    if arguments.no_authorization:
        return None
    client = _client(arguments, environment)
    if client.id is None and client.secret is None:
        return None
    return oauth.server_side_oauth2(client, more_scopes=arguments.scope)


def _list(api: Api, arguments: argparse.Namespace, _: Mapping[str, str], out: TextIO) -> int:
    rows = [_row(read_agent(each)) for each in api.agents()]
    lines = []
    for row in rows:
        marks = f"{'shared' if row['shared'] else 'not shared'}, {'streaming' if row['streaming'] else 'no streaming'}"
        lines.append(f"{row['id']}  {row['displayName']}  {row['url'] or '-'}  {marks}")
        lines.append(f"    authorization: {row['authorization'] or 'none'}")
    lines.append(f"{counted(len(rows), 'agent')} in the app {api.target.app}")
    return write(rows, lines, as_json=arguments.json, out=out)


def _row(agent: RegisteredAgent) -> dict[str, Any]:
    card = agent.card or {}
    return {
        "id": agent.id,
        "name": agent.name,
        "displayName": agent.display_name,
        "url": card.get("url"),
        "streaming": (card.get("capabilities") or {}).get("streaming", False),
        "shared": agent.shared,
        "authorization": agent.authorization,
    }


def _delete(api: Api, arguments: argparse.Namespace, environment: Mapping[str, str], out: TextIO) -> int:
    agent_id = arguments.agent_id or arguments.agent
    if arguments.dry_run:
        return _show(api, dry_deletion(api.target, agent_id), arguments, out)
    card = {} if agent_id else _card(arguments, environment, api.http)[0]
    agent = chosen_agent(api, card, agent_id=agent_id)
    if agent is None:
        message = "there is no agent with this card's name or url: nothing to delete"
        return write({"ok": True, "deleted": None}, [message], as_json=arguments.json, out=out)
    delete(api, agent)
    note = f"; its authorization {agent.authorization} is kept" if agent.authorization else ""
    value = {"ok": True, "deleted": agent.name}
    return write(value, [f"agent {agent.name}: deleted{note}"], as_json=arguments.json, out=out)


def _doctor(api: Api, arguments: argparse.Namespace, environment: Mapping[str, str], out: TextIO) -> int:
    agent_id = arguments.agent_id or arguments.agent
    given = {"--card": arguments.card, "--url": arguments.url, "--routes": arguments.routes}
    found = Examination(
        api,
        card={} if agent_id else _card(arguments, environment, api.http)[0],
        card_options=tuple(f"{name} {shlex.quote(str(value))}" for name, value in given.items() if value),
        agent_id=agent_id,
        client=_client(arguments, environment),
        live_card=arguments.live_card,
    )
    wrong = any(each.outcome is Outcome.ERROR for each in found.steps)
    name = found.agent.name if found.agent else None
    lines = [f"agent: {name or 'none'}", f"authorization: {found.bound or 'none'}"]
    for each in found.steps:
        lines += [f"{_SEVERITIES[each.outcome]}: {each.check}: {each.message}", f"    fix: {each.fix}"]
        lines += [f"    run: {each.command}"] if each.command else []
    lines.append("something is wrong" if wrong else "nothing that can be seen from outside is wrong")
    names = ("check", "message", "fix", "command")
    findings = [
        {"severity": _SEVERITIES[each.outcome], **{name: getattr(each, name) for name in names}} for each in found.steps
    ]
    value = {"ok": not wrong, "agent": name, "findings": findings}
    return write(value, lines, as_json=arguments.json, out=out, ok=not wrong)


def _client(arguments: argparse.Namespace, environment: Mapping[str, str]) -> oauth.OAuthClient:
    return oauth.read_client(
        client_id=arguments.client_id, secret_file=arguments.client_secret_file, environment=environment
    )


def _card(
    arguments: argparse.Namespace, environment: Mapping[str, str], http: HttpClient
) -> tuple[dict[str, Any], str]:
    """Return the card to register, as a value and as text."""
    if arguments.card is None:
        if arguments.action in ("delete", "doctor") and not (arguments.url or environment.get("HUB_PUBLIC_URL")):
            raise CommandError("which agent? Give --url https://HUB, or its id, which `hubctl register list` shows")
        card = built_card(Form.GEMINI_ENTERPRISE, arguments, environment)
        return card, json.dumps(card)
    text = read_card(arguments.card, http=http)
    try:
        value = json.loads(text)
    except ValueError:
        value = {}
    return (value if isinstance(value, dict) else {}), text


_ACTIONS = {"apply": _apply, "list": _list, "delete": _delete, "doctor": _doctor}
