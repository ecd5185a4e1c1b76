"""`hubctl check`: the errors of the route table and the route of a text, or the errors of a card for Gemini Enterprise."""

import argparse
from collections.abc import Collection, Mapping
from typing import Any, TextIO

from a2a_hub.card_rules import check
from a2a_hub.http.client import HttpClient
from a2a_hub.routing.router import Router
from a2a_hub.routing.routes import RouteTable, RouteTableError
from a2a_hub.toml.checked_table import no_such
from hubctl.commands.card import as_text
from hubctl.connection import read_card
from hubctl.console import counted, write
from hubctl.main import CommandError
from hubctl.project_files import ReadTable, read_table


def run(arguments: argparse.Namespace, *, environment: Mapping[str, str], out: TextIO) -> int:
    """Return 0 if the table is valid, its examples reach their routes and the text could be routed, or if the card has no errors;
    else 1.
    """
    if arguments.card is not None:
        return _check_card(arguments, out)
    if arguments.text is None and (arguments.skill or arguments.last_route):
        raise CommandError("--skill and --last-route say how a text is routed: add --text TEXT")
    if arguments.text is not None and not arguments.text.strip():
        raise CommandError("--text is empty: write the text to route, as in --text 'QUESTION'")
    try:
        read = read_table(arguments.routes, environment=environment)
    except RouteTableError as error:
        problems = [{"line": problem.line, "message": problem.message} for problem in error.problems]
        value = {"routes": [], "problems": problems}
        return write(value, [str(error)], as_json=arguments.json, out=out, ok=False)
    router = Router(read.table)
    strays = _stray_examples(read.table, router)
    warnings = [f"{name} is not set: its address was not checked" for name in read.unset]
    warnings += _idle_keywords(read.table, router)
    result: dict[str, Any] = {
        "routes": [route.id for route in read.table.routes],
        "problems": [{"message": stray} for stray in strays],
        "warnings": warnings,
    }
    lines = [*_summary(read), *(f"warning: {warning}" for warning in warnings), *strays]
    wrong = bool(strays)
    if arguments.text is not None:
        result["choice"] = _choice(router, arguments, known=read.table.by_id)
        lines += [f"{key:7} {value}" for key, value in result["choice"].items() if key != "words"]
        wrong = wrong or "error" in result["choice"]
        if arguments.skill is None:
            result["also"] = list(router.passed_over(arguments.text).values())
            lines += [f"also    {reason}" for reason in result["also"]]
    return write(result, lines, as_json=arguments.json, out=out, ok=not wrong)


def _check_card(arguments: argparse.Namespace, out: TextIO) -> int:
    if arguments.text is not None or arguments.skill or arguments.last_route:
        raise CommandError("--card checks a card, and --text a text's route: give one of them")
    findings = check.check_text(read_card(arguments.card, http=HttpClient()))
    shown = check.as_json if arguments.json else as_text
    print(shown(arguments.card, findings), file=out)
    return 1 if check.has_errors(findings) else 0


def _summary(read: ReadTable) -> list[str]:
    lines = [f"{read.file}: {counted(len(read.table.routes), 'route')}, best first"]
    for route in sorted(read.table.routes, key=lambda route: -route.priority):
        rules = f"{counted(len(route.keywords), 'keyword')}, {counted(len(route.patterns), 'pattern')}"
        marks = ", ".join(["default"] * route.default + ["sticky"] * route.sticky + ["follow-ups"] * route.follow_ups)
        lines.append(f"  {route.priority:4}  {route.id:12} {route.boundary.kind:10} {rules}{marks and ', ' + marks}")
    return lines


def _idle_keywords(table: RouteTable, router: Router) -> list[str]:
    """Return the keywords that decide nothing: each text with one of them goes to another route by a shorter one."""
    return [
        f'keyword "{keyword}" of "{route.id}" decides nothing: {choice.reason}, whose priority is higher'
        for route in table.routes
        for keyword in route.keywords
        if (choice := router.choose(keyword)).route is not route and not choice.route.unless
    ]


def _stray_examples(table: RouteTable, router: Router) -> list[str]:
    return [
        f'"{example}", an example of "{route.id}", goes to "{choice.route.id}" ({choice.reason})'
        for route in table.routes
        for example in route.examples
        if not (choice := router.choose(example)).reaches(route.id)
    ]


def _choice(router: Router, arguments: argparse.Namespace, *, known: Collection[str]) -> dict[str, Any]:
    for thing, name in (("route", arguments.last_route or None), ("skill", arguments.skill)):
        if name is not None and name not in known:
            return {"error": no_such(thing, name, known)}
    choice = router.choose(arguments.text, skill=arguments.skill, last_route=arguments.last_route)
    return {"route": choice.route.id, "rule": choice.rule, "words": list(choice.words), "reason": choice.reason}
