"""Document QA over a folder: search, extraction, evidence check, answer. The only place that puts them together."""

import logging
import os
import shutil
import sqlite3
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from datetime import date
from itertools import chain
from pathlib import Path

from a2a_hub.diagnosis.report import Step, error, ok, warning
from functions.docqa.answers.answering import Search, near_misses, offers
from functions.docqa.answers.choices import Select, chosen
from functions.docqa.answers.citations import cited
from functions.docqa.answers.evidence import EvidenceError, checked
from functions.docqa.answers.extraction import Found
from functions.docqa.answers.wording import abstained, worded
from functions.docqa.model import Candidate, Citation, DocAnswer, Passage, Skipped
from functions.docqa.questions.question import Question, analyse
from functions.docqa.search import index
from functions.docqa.search.corpus import Corpus
from functions.docqa.search.pool import Readers
from functions.docqa.search.refresh import REFRESH_SECONDS, Watch
from functions.docqa.vocabulary.lexicon import lexicon

MAX_QUESTION_CHARACTERS = 2_000
_log = logging.getLogger(__name__)
Update = Callable[[], None]


def _nothing() -> None:
    """What is done for an index that nobody keeps up to date."""


class DocumentQA:
    """Answers questions from one corpus. Safe to share between threads, and across a fork."""

    def __init__(self, index_path: Path, watch: Watch | None = None, update: Update = _nothing) -> None:
        self._index_path = index_path
        self._readers = Readers(index_path)
        self._rebuilding = threading.Lock()
        self._watch, self._update = watch, update

    @classmethod
    def open(
        cls,
        corpus_dir: Path,
        index_path: Path | None,
        *,
        today: Callable[[], date] = date.today,
        refresh_seconds: float = REFRESH_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> "DocumentQA":
        """An engine over the files of `corpus_dir`, its index built or brought up to date.

        The index is the file `index_path`, reused by the next start; None keeps it in a temporary folder for the life
        of the engine. When files change, the next question after `refresh_seconds` is answered from what they say then.
        Raises NotADirectoryError without a corpus, sqlite3.Error or OSError when the index cannot be written and is not
        already up to date.
        """
        if not corpus_dir.is_dir():
            raise NotADirectoryError(f"no corpus folder at {corpus_dir}")
        folder = None if index_path else tempfile.mkdtemp(prefix="docqa-")
        path = index_path or Path(folder or "") / "index.sqlite3"
        watch = Watch(corpus_dir, seconds=refresh_seconds, clock=clock)
        engine = cls(path, watch, lambda: index.update(corpus_dir, path, today=today))
        if folder:
            weakref.finalize(engine, _remove, folder, os.getpid())
        index.update(corpus_dir, path, today=today)
        lexicon()  # read now, so that the first question need not wait for it
        return engine

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """The files of the corpus that could not be read, each with its reason."""
        with self._readers.reader() as corpus:
            return index.skipped(corpus.connection)

    def examine(self) -> Sequence[Step]:
        """What the index holds, and what could not be read."""
        with self._readers.reader() as corpus:
            count = index.count(corpus.connection)
            skipped = index.skipped(corpus.connection)
        steps = [
            ok("corpus", f"{count} documents in the folder")
            if count
            else error(
                "corpus",
                "no document in the folder can be read",
                fix="set CORPUS_DIR to a folder of documents",
            )
        ]
        return [
            *steps,
            *(
                warning("corpus", f"left out: {each.path}: {each.reason}", fix="mend or remove the document")
                for each in skipped
            ),
        ]

    def close(self) -> None:
        """Lets go of the index. Answers that are under way end first."""
        self._readers.close()

    def answer(self, question: str, *, language: str | None = None, select: Select | None = None) -> DocAnswer:
        """The answer to `question`, in its language or in `language` ("en", "ja").

        Every citation has passed the evidence check. Without evidence: `grounded` False, no citations, and a text
        that says so. Text in documents is only ever quoted. Where nothing answers, `select` may choose among quotes.
        """
        self._refresh()
        asked = analyse(question[:MAX_QUESTION_CHARACTERS], language=language)
        try:
            with self._readers.reader() as corpus:
                return answer_from(corpus, asked, select)
        except sqlite3.DatabaseError as problem:
            if isinstance(problem, sqlite3.OperationalError) or self._update is _nothing:
                raise
            _log.error("the index is damaged and is built anew: %s", problem)
        self._rebuild()
        with self._readers.reader() as corpus:
            return answer_from(corpus, asked, select)

    def _rebuild(self) -> None:
        with self._rebuilding:
            self._index_path.unlink(missing_ok=True)
            self._update()
            self._readers.renew()

    def _refresh(self) -> None:
        def update() -> None:
            self._update()
            self._readers.renew()

        try:
            if self._watch:
                self._watch.refresh(update)
        except (OSError, sqlite3.Error) as problem:
            _log.error("the index could not be brought up to date: %s", problem)


def answer_from(corpus: Corpus, asked: Question, select: Select | None = None) -> DocAnswer:
    """The answer to `asked` out of `corpus`; see `DocumentQA.answer`."""
    texts = index.StoredTexts(corpus.connection)
    seen = Search()
    for offer in chain(offers(corpus, asked, seen), chosen(corpus, asked, seen, select)):
        try:
            citations = checked([_cited(found, texts) for found in offer.told], texts)
        except EvidenceError as error:
            _log.error("refused a citation: %s", error)
            continue
        return DocAnswer(
            text=worded(asked, offer.told, labels=offer.labels),
            citations=citations,
            grounded=True,
            candidates=_candidates(seen.passages, seen.found),
        )
    near, quoted = _nearest(corpus, asked, seen, texts)
    return DocAnswer(
        text=abstained(asked.language, near),
        citations=(),
        grounded=False,
        candidates=_candidates(seen.passages, seen.found),
        nearest=quoted,
    )


def _nearest(
    corpus: Corpus, asked: Question, seen: Search, texts: index.StoredTexts
) -> tuple[list[Found], tuple[Citation, ...]]:
    """What is shown beside an abstention: quotes that were checked like any other, but are no evidence."""
    found = near_misses(corpus, asked, seen)
    try:
        return found, checked([_cited(each, texts) for each in found], texts)
    except EvidenceError as error:
        _log.error("refused a quote: %s", error)
        return [], ()


def _cited(found: Found, texts: index.StoredTexts) -> Citation:
    uri = found.passage.uri
    return cited(found, texts.canonical_text(uri) or "", texts.page_starts(uri))


def _candidates(passages: Sequence[Passage], found: Sequence[Found]) -> tuple[Candidate, ...]:
    best: dict[str, float] = {}
    for entry in found:
        best[entry.passage.id] = max(best.get(entry.passage.id, 0.0), entry.score)
    return tuple(
        Candidate(
            passage_id=passage.id,
            uri=passage.uri,
            search_score=passage.score,
            evidence_score=best.get(passage.id, 0.0),
        )
        for passage in passages
    )


def _remove(folder: str, process: int) -> None:
    # A forked worker that ends must not take the index away from the others.
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
