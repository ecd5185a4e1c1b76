"""`hubctl evaluate`: labelled questions through the router, offline, or a running hub's answers with `--live`."""

import argparse
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO
from urllib.parse import urlsplit

from a2a_hub.routing.router import Choice, Router
from a2a_hub.routing.routes import RouteTable, RouteTableError
from hubctl.connection import hub_address, hub_token
from hubctl.live import report
from hubctl.live.hub import HubUnavailable, LiveHub, LocalCloud, read_cases
from hubctl.live.paper import Question, ask, read_questions, reproduce
from hubctl.main import CommandError
from hubctl.project_files import SOURCE_TREE, project_file, read_table, read_text

_PAPER, _CASES = "evaluation/paper.toml", "evaluation/paper_cases.toml"

_HEADERS = ("route", "expected", "expected_route", "expected route", "label")


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A question, the route that a person gives it, and its line."""

    line: int
    text: str
    expected: str


@dataclass(frozen=True, slots=True)
class Routed:
    """A labelled question and the choice of the router."""

    question: Labelled
    choice: Choice

    @property
    def is_right(self) -> bool:
        """True if the router agrees with the label."""
        return self.choice.route.id == self.question.expected


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "file",
        type=Path,
        nargs="?",
        metavar="FILE",
        help="lines of: text, tab, route id; with --live, a questions file",
    )
    parser.add_argument("--routes", type=Path, metavar="FILE", help="the route table (routes.toml)")
    parser.add_argument("--live", action="store_true", help="ask a running hub, over the UI path and /tools/query")
    parser.add_argument("--url", help="where the hub is (HUB_URL, else this machine at HUB_PORT, 8080)")
    parser.add_argument("--token", help="a bearer token (HUB_DEV_TOKEN)")
    parser.add_argument(
        "--paper",
        action="store_true",
        help="with --live, over make run CLOUD=local: the paper's evaluation, with each of its faults",
    )
    parser.add_argument(
        "--cloud", type=Path, metavar="FILE", help="with --paper: the run's cloud.json (.run/PORT/cloud.json)"
    )
    parser.add_argument("--markdown", action="store_true", help="with --paper: write docs/paper.md")


def run(arguments: argparse.Namespace, *, environment: Mapping[str, str], out: TextIO) -> int:
    """Return 0 if every question took the route of its label, or was answered rightly, else 1."""
    if arguments.live:
        return _live(arguments, environment, out)
    for option in ("paper", "url", "token", "cloud", "markdown"):
        if getattr(arguments, option):
            raise CommandError(f"--{option} is about a running hub: add --live")
    if arguments.file is None:
        raise CommandError("name a file of labelled questions, such as evaluation/routing.tsv")
    try:
        table = read_table(arguments.routes, environment=environment).table
    except RouteTableError as error:
        raise CommandError(f"the route table has errors:\n{error}") from None
    router = Router(table)
    questions = _read_labelled(arguments.file, known=tuple(table.by_id))
    routed = [Routed(question, router.choose(question.text)) for question in questions]
    print("\n".join(_report(arguments.file, table, routed)), file=out)
    return 0 if all(each.is_right for each in routed) else 1


def _live(arguments: argparse.Namespace, environment: Mapping[str, str], out: TextIO) -> int:
    for option in ("cloud", "markdown"):
        if getattr(arguments, option) and not arguments.paper:
            raise CommandError(f"--{option} is about the paper's evaluation: add --paper")
    url = hub_address(arguments.url, environment, variables=("HUB_URL",))
    questions = read_questions(arguments.file or project_file(_PAPER, option="FILE"))
    hub = LiveHub(url, token=hub_token(arguments.token, environment))
    if arguments.paper:
        return _reproduce(arguments, hub, url, questions, out)
    try:
        outcomes = [ask(hub, question) for question in questions]
    except HubUnavailable as error:
        raise CommandError(str(error)) from None
    print("\n".join(report.answers_table(outcomes)), file=out)
    return 1 if any(each.wrong for each in outcomes) else 0


def _reproduce(
    arguments: argparse.Namespace, hub: LiveHub, url: str, questions: Sequence[Question], out: TextIO
) -> int:
    file = arguments.cloud or SOURCE_TREE / ".run" / str(urlsplit(url).port) / "cloud.json"
    numbered = [question for question in questions if question.paper is not None]
    try:
        cloud = LocalCloud.of_run(file)
        cases = read_cases(project_file(_CASES, option="FILE"))
        findings = list(reproduce(hub, cloud, questions=numbered, cases=cases))
    except HubUnavailable as error:
        raise CommandError(str(error)) from None
    write = report.findings_page if arguments.markdown else report.findings_table
    print("\n".join(write(findings)), file=out)
    return 1 if any(each.wrong for each in findings) else 0


def _report(file: Path, table: RouteTable, routed: Sequence[Routed]) -> list[str]:
    right = sum(each.is_right for each in routed)
    return [
        *_confusion([route.id for route in table.routes], routed),
        "",
        *(_misrouted(file, each) for each in routed if not each.is_right),
        f"{right} of {len(routed)} right ({right / len(routed):.1%})",
    ]


def _confusion(ids: Sequence[str], routed: Sequence[Routed]) -> list[str]:
    """Return one row for each label, with one column for each chosen route."""
    counts = Counter((each.question.expected, each.choice.route.id) for each in routed)
    width = max(len("expected"), *map(len, ids)) + 2
    header = "expected".ljust(width) + "".join(name.rjust(width) for name in ids)
    rows = [row.ljust(width) + "".join(str(counts[row, column]).rjust(width) for column in ids) for row in ids]
    return [header, *rows]


def _misrouted(file: Path, each: Routed) -> str:
    question, choice = each.question, each.choice
    place = f"{file}:{question.line}"
    return f"{place}: expected {question.expected}, got {choice.route.id} ({choice.reason}): {question.text}"


def _read_labelled(file: Path, *, known: Collection[str]) -> list[Labelled]:
    """Return the questions in `file`, in its order; empty lines, "#" lines and a header are skipped.

    Raises CommandError with each line that has no label, or one that is not among the `known` route ids, or
    when there are no questions at all.
    """
    questions: list[Labelled] = []
    problems: list[str] = []
    for number, raw in enumerate(read_text(file).splitlines(), start=1):
        if not raw.strip() or raw.startswith("#"):
            continue
        text, tab, label = raw.rstrip().partition("\t")
        expected = label.strip()
        if not tab or not text.strip():
            problems.append(f"{file}:{number}: write a text, a tab, and a route id")
            continue
        if not questions and expected in _HEADERS and expected not in known:
            continue
        if expected not in known:
            problems.append(f"{file}:{number}: there is no route {expected!r}; known: {', '.join(known)}")
            continue
        questions.append(Labelled(line=number, text=text, expected=expected))
    if problems:
        raise CommandError("\n".join(["the questions cannot be read:", *problems]))
    if not questions:
        raise CommandError(f"{file} holds no questions")
    return questions
