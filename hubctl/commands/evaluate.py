"""`hubctl evaluate`: labelled questions through the router, offline, with what went where (seed 001 §5.2)."""

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from functions.hub.router import Choice, Router
from hubctl.labelled import Labelled, read_labelled
from hubctl.main import CommandError
from hubctl.table import DEFAULT_FILE, read_table
from shared.routes import RouteTable, RouteTableError


@dataclass(frozen=True, slots=True)
class Routed:
    """A labelled question and what the router chose for it."""

    question: Labelled
    choice: Choice

    @property
    def is_right(self) -> bool:
        """Whether the router agrees with the label."""
        return self.choice.route.id == self.question.expected


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("file", type=Path, metavar="FILE", help="lines of: text, tab, route id")
    parser.add_argument("--routes", type=Path, default=DEFAULT_FILE, metavar="FILE", help="the route table")


def run(arguments: argparse.Namespace, *, environment: Mapping[str, str], out: TextIO) -> int:
    """0 when every question took the route of its label, else 1."""
    try:
        table = read_table(arguments.routes, environment=environment).table
    except RouteTableError as error:
        raise CommandError(f"the route table does not hold:\n{error}") from None
    router = Router(table)
    questions = read_labelled(arguments.file, known=tuple(table.by_id))
    routed = [Routed(question, router.choose(question.text)) for question in questions]
    print("\n".join(_report(arguments.file, table, routed)), file=out)
    return 0 if all(each.is_right for each in routed) else 1


def _report(file: Path, table: RouteTable, routed: Sequence[Routed]) -> list[str]:
    right = sum(each.is_right for each in routed)
    return [
        *_confusion([route.id for route in table.routes], routed),
        "",
        *(_misrouted(file, each) for each in routed if not each.is_right),
        f"{right} of {len(routed)} right ({right / len(routed):.1%})",
    ]


def _confusion(ids: Sequence[str], routed: Sequence[Routed]) -> list[str]:
    """One row for each label, one column for each route chosen."""
    counts = Counter((each.question.expected, each.choice.route.id) for each in routed)
    width = max(len("expected"), *map(len, ids)) + 2
    header = "expected".ljust(width) + "".join(name.rjust(width) for name in ids)
    rows = [
        row.ljust(width) + "".join(str(counts[row, column]).rjust(width) for column in ids) for row in ids
    ]
    return [header, *rows]


def _misrouted(file: Path, each: Routed) -> str:
    question, choice = each.question, each.choice
    place = f"{file}:{question.line}"
    return f"{place}: expected {question.expected}, got {choice.route.id} ({choice.reason}): {question.text}"
