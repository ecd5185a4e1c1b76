"""Labelled questions: a TSV file with a text and the id of the route that it belongs to on each line."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from hubctl.main import CommandError
from hubctl.project_files import read_text

_HEADERS = ("route", "expected", "expected_route", "expected route", "label")


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A question, the route that a person would give it, and the line where it stands."""

    line: int
    text: str
    expected: str


def read_labelled(file: Path, *, known: Collection[str]) -> list[Labelled]:
    """The questions in `file`, in its order; empty lines, "#" lines and a header are skipped.

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
