"""`hubctl card`: the hub's agent card, from the route table, for its reader; and the findings on any card as text."""

import argparse
import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, TextIO

import msgspec

from a2a_hub.a2a import protojson
from a2a_hub.a2a.card import AgentCapabilities, AgentCard
from a2a_hub.a2a.compat.v0_3.card import both_versions, to_compat_card
from a2a_hub.a2a.model import Binding, Version
from a2a_hub.card_rules.card import Finding, Severity
from a2a_hub.card_rules.check import check_card, has_errors
from a2a_hub.routing.hub_card import SecurityKind
from a2a_hub.settings import hub
from a2a_hub.settings.reader import Settings, SettingsError
from hubctl.console import counted
from hubctl.main import CommandError
from hubctl.project_files import project_file, read_text


class Form(StrEnum):
    """The readers that a card is made for."""

    GEMINI_ENTERPRISE = "gemini-enterprise"
    V0_3 = "0.3"
    V1_0 = "1.0"
    BOTH = "both"


def run(arguments: argparse.Namespace, *, environment: Mapping[str, str], out: TextIO) -> int:
    """Return 0 after the card was written. Raises CommandError, also for a card that Gemini Enterprise would refuse."""
    form = Form(arguments.form)
    card = built_card(form, arguments, environment)
    if form is Form.GEMINI_ENTERPRISE:
        findings = check_card(card)
        if has_errors(findings):
            raise CommandError(as_text("the card", findings))
    print(json.dumps(card, ensure_ascii=False, indent=2), file=out)
    return 0


def built_card(form: Form, arguments: argparse.Namespace, environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the card of the hub at --url (or HUB_PUBLIC_URL) with this route table (or ROUTES_FILE) and environment, as JSON.

    Raises CommandError when the table or a setting is wrong, or when Gemini Enterprise's card has no address to name.
    """
    routes: Path | None = arguments.routes
    if routes is None and not environment.get("ROUTES_FILE"):
        routes = project_file("routes.toml", option="--routes FILE")
    if routes is not None:
        read_text(routes)
    given = {"ROUTES_FILE": routes and str(routes), "HUB_PUBLIC_URL": arguments.url}
    given["CARD_PROTOCOL_VERSION"] = arguments.protocol_version
    environ = {**environment, **{name: value for name, value in given.items() if value}}
    if form is Form.GEMINI_ENTERPRISE and not environ.get("HUB_PUBLIC_URL"):
        raise CommandError(
            "the card names the address that Gemini Enterprise calls: give --url https://HUB, or set HUB_PUBLIC_URL"
        )
    settings = Settings(environ)
    try:
        read = hub.read(settings, environ, needs_urls=False)
        settings.check()
    except SettingsError as problem:
        raise CommandError(str(problem)) from None
    if read.routes_file.problem:
        raise CommandError(f"ROUTES_FILE cannot be used: {read.routes_file.problem}; name a file with --routes FILE")
    version = read.card_protocol_version
    match form:
        case Form.GEMINI_ENTERPRISE:
            # Google's OAuth whatever the hub itself accepts: a bearer scheme brings no user's token.
            card = hub.public_card(msgspec.structs.replace(read, security=(SecurityKind.GOOGLE,)))
            return _for_gemini_enterprise(card, protocol_version=version)
        case Form.V0_3:
            return to_compat_card(hub.public_card(read), protocol_version=version)
        case Form.BOTH:
            return both_versions(hub.public_card(read), protocol_version=version)
        case Form.V1_0:
            plain: dict[str, Any] = protojson.decode(protojson.encode(hub.public_card(read)))
            return plain


def _for_gemini_enterprise(card: AgentCard, *, protocol_version: str) -> dict[str, Any]:
    """Reduce the card to 0.3, one interface and text: Gemini Enterprise calls JSON-RPC at `url`, shows text, and never reads the
    extended card.
    """
    interfaces = tuple(
        each
        for each in card.supported_interfaces
        if each.protocol_version.startswith(Version.V0_3) and each.protocol_binding == Binding.JSONRPC
    )
    reduced = msgspec.structs.replace(
        card,
        supported_interfaces=interfaces,
        capabilities=AgentCapabilities(streaming=card.capabilities.streaming),
        default_output_modes=("text/plain",),
        signatures=(),
    )
    body = to_compat_card(reduced, protocol_version=protocol_version)
    del body["additionalInterfaces"]
    return body


def as_text(place: str, findings: Sequence[Finding]) -> str:
    """Return three lines for each finding, then the verdict and the count of each severity."""
    lines = []
    for each in findings:
        lines += [
            f"{each.severity}: {each.path}: {each.message}",
            f"    fix:  {each.fix}",
            f"    rule: {each.rule} ({each.source})",
        ]
    counts = [(severity, sum(each.severity is severity for each in findings)) for severity in Severity]
    counts_text = ", ".join(counted(count, severity) for severity, count in counts if count)
    verdict = "Gemini Enterprise would not work with it" if has_errors(findings) else "good for Gemini Enterprise"
    return "\n".join([*lines, f"{place}: {verdict}" + (f" ({counts_text})" if counts_text else "")])
