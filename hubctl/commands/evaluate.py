"""`hubctl evaluate`: labelled questions through the router, offline, or a running hub's answers with `--live`."""

import argparse
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import urlsplit

from a2a_hub.routing.router import Choice, Router, Rule
from a2a_hub.routing.routes import RouteTableError
from a2a_hub.toml.checked_table import no_such
from hubctl.connection import hub_address, hub_token
from hubctl.console import write
from hubctl.live import corpus_questions, paper
from hubctl.live.hub import LiveHub
from hubctl.log_lines import Fields, in_order, read_lines
from hubctl.main import CommandError
from hubctl.project_files import SOURCE_TREE, project_file, read_table, read_text

_PAPER, _CASES = "evaluation/paper.toml", "evaluation/paper_cases.toml"

_DEFAULT = "(default)"
_HEADERS = ("route", "expected", "expected_route", "expected route", "label")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledQuestion:
    """A question with its labelled route, and its line in the file."""

    line: int
    text: str
    expected: str


def run(arguments: argparse.Namespace, *, environment: Mapping[str, str], out: TextIO) -> int:
    """Return 0 if every question took the route of its label, or was answered rightly, else 1."""
    if arguments.from_feedback:
        print("\n".join(_rated(read_lines(arguments.from_feedback))), file=out)
        return 0
    if arguments.live:
        return _live(arguments, environment, out)
    for option in ("paper", "url", "token", "cloud"):
        if getattr(arguments, option):
            raise CommandError(f"--{option} is about a running hub: add --live")
    if arguments.file is None:
        raise CommandError("name a file of labelled questions, such as evaluation/routing.tsv")
    try:
        table = read_table(arguments.routes, environment=environment).table
    except RouteTableError as error:
        raise CommandError(f"the route table has errors:\n{error}") from None
    router = Router(table)
    questions = read_labelled(arguments.file, known=tuple(table.by_id))
    routed = [(question, router.choose(question.text)) for question in questions]
    wrong = [(question, choice) for question, choice in routed if not choice.reaches(question.expected)]
    value = {"ok": not wrong, "questions": len(routed), "wrong": [_as_value(*each) for each in wrong]}
    lines = [*_confusion([route.id for route in table.routes], routed), ""]
    for question, choice in wrong:
        place = f"{arguments.file}:{question.line}: expected {question.expected}"
        lines.append(f"{place}, got {choice.route.id} ({choice.reason}): {question.text}")
    right = len(routed) - len(wrong)
    lines.append(f"{right} of {len(routed)} right ({right / len(routed):.1%})")
    return write(value, lines, as_json=arguments.json, out=out, ok=not wrong)


def _live(arguments: argparse.Namespace, environment: Mapping[str, str], out: TextIO) -> int:
    if arguments.cloud and not arguments.paper:
        raise CommandError("--cloud is about the paper's evaluation: add --paper")
    url = hub_address(arguments.url, environment, variables=("HUB_URL",))
    hub = LiveHub(url, token=hub_token(arguments.token, environment))
    outcomes: Sequence[corpus_questions.JudgedQuestion | paper.Outcome]
    lines: Iterable[str]
    if arguments.file and arguments.file.suffix == ".jsonl":
        if arguments.paper:
            raise CommandError("--paper has questions of its own: leave out one of the two")
        own = corpus_questions.read_corpus_questions(arguments.file)
        outcomes = judged = [corpus_questions.judged(hub, each) for each in own]
        lines = corpus_questions.report(judged)
    else:
        questions = paper.read_questions(arguments.file or project_file(_PAPER, option="FILE"))
        if arguments.paper:
            run = SOURCE_TREE / ".run" / str(urlsplit(url).port)
            stand_ins = paper.read_stand_ins(arguments.cloud or run / "cloud.json")
            numbered = [question for question in questions if question.paper is not None]
            cases = paper.read_cases(project_file(_CASES, option="FILE"))
            outcomes = findings = list(paper.reproduce(hub, stand_ins, questions=numbered, cases=cases))
            lines = paper.findings_tables(findings)
        else:
            outcomes = answers = [paper.ask(hub, question) for question in questions]
            lines = paper.answers_table(answers)
    wrong = any(each.is_wrong for each in outcomes)
    return write({"ok": not wrong, "outcomes": outcomes}, lines, as_json=arguments.json, out=out, ok=not wrong)


def _confusion(ids: Sequence[str], routed: Sequence[tuple[LabelledQuestion, Choice]]) -> list[str]:
    """Return one row for each label, with one column for each route that a rule chose, and one for the default."""
    counts = Counter(
        (question.expected, _DEFAULT if choice.rule is Rule.DEFAULT else choice.route.id) for question, choice in routed
    )
    columns = (*ids, _DEFAULT)
    width = max(len("expected"), *map(len, columns)) + 2
    header = "expected".ljust(width) + "".join(name.rjust(width) for name in columns)
    rows = [row.ljust(width) + "".join(str(counts[row, column]).rjust(width) for column in columns) for row in ids]
    return [header, *rows]


def _as_value(question: LabelledQuestion, choice: Choice) -> dict[str, object]:
    asked = {"line": question.line, "text": question.text, "expected": question.expected}
    return asked | {"route": choice.route.id, "reason": choice.reason}


def read_labelled(file: Path, *, known: Collection[str]) -> list[LabelledQuestion]:
    """Return the questions in `file`, in its order; empty lines, "#" lines and a header are skipped.

    Raises CommandError with each line that has no label, or one that is not among the `known` route ids, or
    when there are no questions at all.
    """
    questions: list[LabelledQuestion] = []
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
            problems.append(f"{file}:{number}: {no_such('route', expected, known)}")
            continue
        questions.append(LabelledQuestion(line=number, text=text, expected=expected))
    if problems:
        raise CommandError("\n".join(["the questions cannot be read:", *problems]))
    if not questions:
        raise CommandError(f"{file} holds no questions")
    return questions


def _rated(lines: Iterable[Fields]) -> Iterator[str]:
    """Yield one line for each question that was rated in a log, for a person to review: those rated as bad are commented out."""
    turns: dict[str, Fields] = {}
    latest: dict[str, Fields] = {}
    rated: dict[str, dict[str, Any]] = {}
    for line in in_order(lines):
        if verdict := line.get("feedback"):
            # Of another instance's turn, the rating knows only the conversation.
            turn = turns.get(str(line.get("turn"))) or latest.get(str(line.get("conversation")))
            if turn:
                rated.setdefault(str(turn["requestId"]), {}).update(turn, feedback=verdict, comment=line.get("comment"))
        elif line.get("route") and line.get("requestId"):
            turns[str(line["requestId"])] = latest[str(line.get("conversation"))] = line
    with_text = [each for each in rated.values() if each.get("text")]
    yield f"# {len(with_text)} rated questions, for review: check the label, the route id after the tab."
    if without := len(rated) - len(with_text):
        yield f"# {without} more have no text in the log: LOG_TEXT was not true."
    for each in with_text:
        about = [each["feedback"], each["requestId"], each.get("outcome"), each.get("rule"), each.get("comment")]
        yield f"# {', '.join(_flat(part) for part in about if part)}"
        yield f"{'' if each['feedback'] == 'good' else '# '}{_flat(each['text'])}\t{each['route']}"


def _flat(text: object) -> str:
    return " ".join(str(text).split())
