"""Labelled questions on documents: how many are answered rightly, from the right document, or rightly not at all."""

import csv
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from functions.docqa.engine import DocumentQA
from local.functions import ROOT

_DATA = ROOT / "tests" / "data"
# Name → the folder of documents and the file of questions.
SETS = {
    "sample": (ROOT / "functions" / "docqa" / "corpus", _DATA / "docqa_questions.tsv"),
    "hospital": (_DATA / "heldout_corpus", _DATA / "docqa_heldout_questions.tsv"),
    "cloud": (_DATA / "second_corpus", _DATA / "docqa_second_questions.tsv"),
    "plant": (_DATA / "plant_corpus", _DATA / "docqa_plant_questions.tsv"),
    "university": (_DATA / "university_corpus", _DATA / "docqa_university_questions.tsv"),
    "hotel": (_DATA / "hotel_corpus", _DATA / "docqa_hotel_questions.tsv"),
    "supplier": (_DATA / "supplier_corpus", _DATA / "docqa_supplier_questions.tsv"),
    "club": (_DATA / "club_corpus", _DATA / "docqa_club_questions.tsv"),
    "condominium": (_DATA / "condominium_corpus", _DATA / "docqa_condominium_questions.tsv"),
    "payments": (_DATA / "payments_corpus", _DATA / "docqa_payments_questions.tsv"),
    "broadband": (_DATA / "broadband_corpus", _DATA / "docqa_broadband_questions.tsv"),
    "museum": (_DATA / "museum_corpus", _DATA / "docqa_museum_questions.tsv"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Of the answerable questions: right answers and right documents; of the others: abstentions."""

    right: float
    cited: float
    abstained: float
    answerable: int
    unanswerable: int
    wrong: list[str]


def shares(corpus: Path, labelled: Path) -> Shares:
    """What an engine over `corpus` makes of the questions in `labelled` (TSV: question, expected or "-", document)."""
    with (
        closing(DocumentQA.open(corpus, None)) as engine,
        labelled.open(encoding="utf-8", newline="") as file,
    ):
        return _judged(engine, list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)))


def _judged(engine: DocumentQA, rows: list[dict[str, str]]) -> Shares:
    right = cited = abstained = answerable = 0
    wrong = []
    for row in rows:
        answer = engine.answer(row["question"])
        if row["expected"] == "-":
            abstained += not answer.grounded
            if answer.grounded:
                wrong.append(f"{row['question']} → {answer.text}")
            continue
        answerable += 1
        quotes = [" ".join(citation.quote.split()) for citation in answer.citations]
        documents = [unquote(citation.uri) for citation in answer.citations]
        cited += documents[:1] == [f"corpus:{row['document']}"]
        if any(row["expected"] in quote for quote in quotes):
            right += 1
        else:
            wrong.append(f"{row['question']} → {answer.text}")
    unanswerable = len(rows) - answerable
    return Shares(
        right=right / answerable,
        cited=cited / answerable,
        abstained=abstained / unanswerable,
        answerable=answerable,
        unanswerable=unanswerable,
        wrong=wrong,
    )
