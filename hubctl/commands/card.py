"""`hubctl card`: the hub's agent card, from the route table."""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from a2a_hub.card_rules.check import check_card, has_errors
from hubctl.cards import Form, as_text, built_card
from hubctl.main import CommandError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add(
        "--for",
        dest="form",
        choices=[form.value for form in Form],
        default=Form.GEMINI_ENTERPRISE.value,
        help="who reads it: gemini-enterprise (default), or a client of A2A 0.3, 1.0, or of both",
    )
    add("--url", metavar="HUB_PUBLIC_URL", help="the hub's address (HUB_PUBLIC_URL)")
    add("--routes", type=Path, metavar="FILE", help="the route table (ROUTES_FILE, else routes.toml)")
    add(
        "--protocol-version",
        metavar="TEXT",
        help="what a 0.3 card says in protocolVersion (CARD_PROTOCOL_VERSION, else 0.3.0)",
    )


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
