"""Labelled questions on documents: how many are answered rightly, from the right document, or rightly not at all."""

import csv
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path
from urllib.parse import unquote

from functions.docqa.engine import DocumentQA
from functions.docqa.model import Citation, DocAnswer
from local.functions import ROOT

_DATA = ROOT / "tests" / "data"


def _set(name: str) -> tuple[Path, Path]:
    return _DATA / f"{name}_corpus", _DATA / f"docqa_{name}_questions.tsv"


# Name → the folder of documents and the file of questions.
SETS = {
    "sample": (ROOT / "functions" / "docqa" / "corpus", _DATA / "docqa_questions.tsv"),
    "hospital": (_DATA / "heldout_corpus", _DATA / "docqa_heldout_questions.tsv"),
    "cloud": (_DATA / "second_corpus", _DATA / "docqa_second_questions.tsv"),
    "plant": _set("plant"),
    "university": _set("university"),
    "hotel": _set("hotel"),
    "supplier": _set("supplier"),
    "club": _set("club"),
    "condominium": _set("condominium"),
    "payments": _set("payments"),
    "broadband": _set("broadband"),
    "museum": _set("museum"),
    "bank": _set("bank"),
    "clinic": _set("clinic"),
}
# A third of these are asked in words that their documents do not have, or need more than one step of thought.
HARD_SETS = {
    name: _set(name)
    for name in (
        *("retailer", "town", "software_house", "pharmacy_maker"),
        *("saas_support", "campus", "insurance", "logistics"),
    )
}
# What employees ask of the sample documents in their own words; the second was kept aside while rules were written.
EVERYDAY_SETS = {
    "everyday": (SETS["sample"][0], _set("everyday")[1]),
    "everyday, kept aside": (SETS["sample"][0], _set("everyday_aside")[1]),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Counts of questions that have an answer and of those that have none; of the former, how many answers are `right`, or are
    at least `shown` among the nearest quotes; of the latter, how many were `abstained` from.

    Of all answers `given`, also to what has none, as many as `cited` name the right document first.
    """

    answerable: int = 0
    unanswerable: int = 0
    right: int = 0
    shown: int = 0
    abstained: int = 0
    given: int = 0
    cited: int = 0
    wrong: tuple[str, ...] = ()

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(**{each.name: getattr(self, each.name) + getattr(other, each.name) for each in fields(self)})

    @property
    def shares(self) -> "Shares":
        """The counts as shares."""
        return Shares(
            right=self.right / self.answerable,
            cited=self.cited / self.given,
            shown=self.shown / self.answerable,
            abstained=self.abstained / self.unanswerable,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """The shares of what `Counts` counts, from 0 to 1."""

    right: float
    cited: float
    shown: float
    abstained: float


def counts(corpus: Path, labelled: Path) -> Counts:
    """Count the answers of an engine over `corpus` to the questions in `labelled` (TSV: question, expected or "-", document)."""
    with (
        closing(DocumentQA.open(corpus, None)) as engine,
        labelled.open(encoding="utf-8", newline="") as file,
    ):
        return _judged(engine, list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)))


def _judged(engine: DocumentQA, rows: list[dict[str, str]]) -> Counts:
    return sum((_of_one(row, engine.answer(row["question"])) for row in rows), start=Counts())


def _of_one(row: dict[str, str], answer: DocAnswer) -> Counts:
    expected = row["expected"]
    given = int(answer.grounded)
    wrong = (f"{row['question']} → {answer.text}",)
    if expected == "-":
        return Counts(unanswerable=1, abstained=1 - given, given=given, wrong=wrong if given else ())
    right = _holds(answer.citations, expected)
    return Counts(
        answerable=1,
        right=int(right),
        shown=int(right or _holds(answer.nearest, expected)),
        given=given,
        cited=int([unquote(citation.uri) for citation in answer.citations][:1] == [f"corpus:{row['document']}"]),
        wrong=() if right else wrong,
    )


def _holds(quoted: Sequence[Citation], expected: str) -> bool:
    return any(expected in " ".join(citation.quote.split()) for citation in quoted)
