"""Sets of labelled questions, and how document QA without a model, or plain BM25, answers them.

A set is a folder with `questions.jsonl` (`hubctl.live.corpus_questions` says what a line holds) and its documents in `corpus`;
without these, the questions are on the sample documents.
"""

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from functions.docqa.engine import DocumentQA
from functions.docqa.extractive.extract import in_context
from functions.docqa.ingestion.blocks import Unreadable
from functions.docqa.ingestion.files import corpus_files, read_bytes
from functions.docqa.ingestion.reader import read
from functions.docqa.model import DocAnswer
from functions.docqa.search_results import RankedUnit
from hubctl.live.corpus_questions import CorpusQuestion, JudgedQuestion, outcome, read_corpus_questions
from local.cloud.data_store import terms
from local.functions import ROOT

_HERE = Path(__file__).parent
SAMPLE_CORPUS = ROOT / "functions" / "docqa" / "corpus"
_QUOTES = 3
Ask = Callable[[str], dict[str, Any]]
"""Return the record of an answer, as a hub gives it."""


def names() -> list[str]:
    """Return the names of all sets."""
    return sorted(file.parent.name for file in _HERE.glob("*/questions.jsonl"))


def corpus_of(name: str) -> Path:
    """Return the folder of the documents of a set."""
    corpus = _HERE / name / "corpus"
    return corpus if corpus.is_dir() else SAMPLE_CORPUS


def questions_of(name: str) -> Sequence[CorpusQuestion]:
    """Return the questions of a set."""
    return read_corpus_questions(_HERE / name / "questions.jsonl")


def record_of(answer: DocAnswer) -> dict[str, Any]:
    """Return the record of an answer of document QA, as a hub gives it."""
    quotes = {name: msgspec.to_builtins(getattr(answer, name)) for name in ("citations", "nearest")}
    return {"answer": answer.text, "data": {"grounded": answer.grounded, **quotes}, **quotes}


def judged(name: str, answering: Callable[[Path], contextlib.AbstractContextManager[Ask]]) -> list[JudgedQuestion]:
    """Return the outcomes of a set's questions, with the set in the place of the route."""
    results = []
    with answering(corpus_of(name)) as ask:
        for question in questions_of(name):
            record = ask(question.question) | {"route": name}
            results.append(JudgedQuestion(question=question, outcome=outcome(question, record), record=record))
    return results


@contextlib.contextmanager
def engine(corpus: Path) -> Iterator[Ask]:
    """Yield the answers of document QA."""
    with contextlib.closing(DocumentQA(corpus, None)) as opened:
        yield lambda question: record_of(opened.answer(question))


@contextlib.contextmanager
def bm25(corpus: Path) -> Iterator[Ask]:
    """Yield the sentences, items and rows that plain BM25 over words (of Japanese, pairs of characters) puts first.

    They are shown with their neighbours, as document QA shows its own.
    """
    with contextlib.closing(sqlite3.connect(":memory:")) as found:
        found.execute("CREATE VIRTUAL TABLE units USING fts5 (words, quote UNINDEXED)")
        for name, path in corpus_files(corpus):
            with contextlib.suppress(Unreadable):
                document = read(name, name, read_bytes(path, corpus_dir=corpus))
                for passage in document.passages:
                    for unit in passage.units:
                        quote = in_context(RankedUnit(passage, unit, 0.0), {name: document}.get).unit.text
                        found.execute("INSERT INTO units VALUES (?, ?)", (" ".join(terms(unit.text)), quote))

        def ask(question: str) -> dict[str, Any]:
            asked = " OR ".join(f'"{word}"' for word in terms(question))
            best = "SELECT quote FROM units WHERE units MATCH ? ORDER BY rank LIMIT ?"
            quotes = [{"quote": quote} for (quote,) in found.execute(best, (asked, _QUOTES))] if asked else []
            return {"answer": "", "data": {"grounded": False, "nearest": quotes}}

        yield ask
