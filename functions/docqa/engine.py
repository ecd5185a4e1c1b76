"""Document QA over a folder: search, extraction, evidence check, answer. The only place that puts them together."""

import logging
import os
import tempfile
import threading
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

from functions.docqa import index
from functions.docqa.citations import cited, with_exceptions
from functions.docqa.evidence import EvidenceError, checked
from functions.docqa.extraction import Found, extract
from functions.docqa.model import Candidate, DocAnswer, Passage, Skipped, Standing
from functions.docqa.question import analyse
from functions.docqa.search import Corpus
from functions.docqa.wording import abstained, worded

ENOUGH_COVERAGE = 0.6
MAX_QUESTION_CHARACTERS = 2_000
_log = logging.getLogger(__name__)


class DocumentQA:
    """Answers questions from one corpus. Safe to share between threads, and across a fork."""

    def __init__(self, index_path: Path, *, keep_alive: object = None) -> None:
        self._index_path = index_path
        self._keep_alive = keep_alive
        self._local = threading.local()

    @classmethod
    def open(
        cls, corpus_dir: Path, index_path: Path | None, *, today: Callable[[], date] = date.today
    ) -> "DocumentQA":
        """An engine over the files of `corpus_dir`, its index built or brought up to date.

        The index is the file `index_path`, reused by the next start; None keeps it in a temporary folder for the life
        of the engine. Raises NotADirectoryError without a corpus, sqlite3.Error or OSError when the index cannot be
        written and is not already up to date.
        """
        if not corpus_dir.is_dir():
            raise NotADirectoryError(f"no corpus folder at {corpus_dir}")
        folder = None
        if index_path is None:
            folder = tempfile.TemporaryDirectory(prefix="docqa-")
            index_path = Path(folder.name) / "index.sqlite3"
        index.update(corpus_dir, index_path, today=today)
        return cls(index_path, keep_alive=folder)

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """The files of the corpus that could not be read, each with its reason."""
        return index.skipped(self._corpus().connection)

    def answer(self, question: str, *, language: str | None = None) -> DocAnswer:
        """The answer to `question`, in its language or in `language` ("en", "ja").

        Every citation has passed the evidence check. Without evidence: `grounded` False, no citations, and a text
        that says so. Text in documents is only ever quoted.
        """
        asked = analyse(question[:MAX_QUESTION_CHARACTERS], language=language)
        corpus = self._corpus()
        passages = corpus.search(asked)
        found = extract(asked, passages, corpus.rarity)
        candidates = _candidates(passages, found)
        texts = index.StoredTexts(corpus.connection)
        for best in found[:3]:
            if best.coverage < ENOUGH_COVERAGE:
                continue
            told = with_exceptions(best)
            uri = best.passage.uri
            text = texts.canonical_text(uri) or ""
            try:
                citations = checked([cited(part, text, texts.page_starts(uri)) for part in told], texts)
            except EvidenceError as error:
                _log.error("refused a citation: %s", error)
                continue
            superseded = best.passage.edition.standing is Standing.SUPERSEDED
            return DocAnswer(
                text=worded(asked, told, superseded=superseded),
                citations=citations,
                grounded=True,
                candidates=candidates,
            )
        return DocAnswer(text=abstained(asked.language), citations=(), grounded=False, candidates=candidates)

    def _corpus(self) -> Corpus:
        corpus: Corpus | None = getattr(self._local, "corpus", None)
        if corpus is None or self._local.process != os.getpid():
            corpus = Corpus(index.reading(self._index_path))
            self._local.corpus, self._local.process = corpus, os.getpid()
        return corpus


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
