"""Document QA over a folder: its index, kept up to date, and what it finds for a question."""

import logging
import math
import os
import shutil
import sqlite3
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from pathlib import Path

from a2a_hub.diagnosis.report import Step, error, ok, warning
from a2a_hub.language_models.embeddings import EmbeddingModel
from a2a_hub.text.language import Language, answer_language
from functions.docqa.extractive.answering import answered
from functions.docqa.model import DocAnswer, Document, Skipped
from functions.docqa.retrieval import index
from functions.docqa.retrieval.access import Asker
from functions.docqa.retrieval.index import REFRESH_SECONDS, Watch
from functions.docqa.retrieval.query import synonyms
from functions.docqa.retrieval.search import Search
from functions.docqa.retrieval.vectors import Vectors
from functions.docqa.search_results import MAX_QUESTION_CHARACTERS, SearchResults

_PASSAGES_READ = 15
_ANYBODY = Asker()
_log = logging.getLogger(__name__)


class DocumentQA:
    """The search engine over the files of one folder. Thread-safe, and safe across a fork."""

    def __init__(
        self,
        corpus_dir: Path,
        index_path: Path | None,
        *,
        corpus_link: str | None = None,
        today: Callable[[], date] = date.today,
        refresh_seconds: float = REFRESH_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        embedding: EmbeddingModel | None = None,
    ) -> None:
        """Build or update the index of `corpus_dir`; `embed` adds the vectors.

        It is the file `index_path`, reused by the next start; None keeps it in a temporary folder for the life
        of the engine. Changed files are noticed by the next question after `refresh_seconds`. Raises NotADirectoryError without
        a corpus, sqlite3.Error or OSError when the index cannot be written and is not already up to date.
        """
        if not corpus_dir.is_dir():
            raise NotADirectoryError(f"no corpus folder at {corpus_dir}")
        self._remove_index: Callable[[], object] | None = None
        if index_path is None:
            folder = tempfile.mkdtemp(prefix="docqa-")
            self._remove_index = weakref.finalize(self, _remove, folder, os.getpid())
            index_path = Path(folder) / "index.sqlite3"
        self._index_path = index_path
        self._update = partial(index.update, corpus_dir, index_path, today=today)
        self._watch = Watch(corpus_dir, seconds=refresh_seconds, clock=clock)
        self._vectors = Vectors(index_path, embedding, clock=clock) if embedding else None
        self._corpus_link = corpus_link
        self._rebuilding = threading.Lock()
        self._watch.refresh(self._update)
        synonyms()  # read now, so that the first question need not wait for it

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """The files of the corpus that could not be read, each with its reason."""
        with index.reading(self._index_path) as connection:
            return index.skipped(connection)

    def embed(self) -> None:
        """Add the missing vectors of passages, if there is a model. Raises ModelFailed, sqlite3.Error."""
        self._refresh()
        if self._vectors:
            self._vectors.embed()

    def examine(self, *, knows_askers: bool = True) -> Sequence[Step]:
        """Return a step for the index, its vectors, documents that name their readers, and each file that could not be read."""
        self._refresh()
        with index.reading(self._index_path) as connection:
            count = index.count(connection)
            skipped = index.skipped(connection)
            restricted = index.count(connection, restricted=True)
            vectors = tuple(self._vectors.examine(connection)) if self._vectors else ()
        fix = "set CORPUS_DIR to a folder of documents"
        return [
            ok("corpus", "1 document in the folder" if count == 1 else f"{count} documents in the folder")
            if count
            else error("corpus", "no document in the folder can be read", fix=fix),
            *vectors,
            *([_readers_step(restricted, knows_askers=knows_askers)] if restricted else ()),
            *(
                warning("corpus", f"left out: {each.path}: {each.reason}", fix="fix or remove the file")
                for each in skipped
            ),
        ]

    def close(self) -> None:
        """Remove an index in a temporary folder."""
        if self._remove_index:
            self._remove_index()

    def answer(self, question: str, *, asker: Asker = _ANYBODY, language: Language | None = None) -> DocAnswer:
        """Return the answer in quotes; see `find` and `answered`."""
        return answered(self.find(question, asker=asker, language=language))

    def find(
        self,
        question: str,
        *,
        asker: Asker,
        language: Language | None = None,
        seconds: float = math.inf,  # noqa: ARG002 - another engine waits for services
    ) -> SearchResults:
        """Return the search results for `question` among documents that `asker` may read; `language` defaults to the
        question's.
        """
        self._refresh()
        try:
            return self._find(question, asker, language)
        except sqlite3.DatabaseError as problem:
            if isinstance(problem, sqlite3.OperationalError):
                raise
            _log.error("the index is damaged and is built anew: %s", problem)
        with self._rebuilding:
            self._index_path.unlink(missing_ok=True)
            self._update()
        return self._find(question, asker, language)

    def _find(self, question: str, asker: Asker, language: Language | None) -> SearchResults:
        asked = question[:MAX_QUESTION_CHARACTERS]
        with Search.opened(self._index_path, asked, asker=asker) as search:
            passages = search.find(vectors=self._vectors)
            units = search.rank_units(passages[:_PASSAGES_READ])
        return SearchResults(
            question=asked,
            language=language or answer_language(asked),
            passages=passages,
            units=units,
            texts=self._document,
            corpus_link=self._corpus_link,
        )

    def document(self, uri: str, *, quote: str, asker: Asker) -> Document | str:  # noqa: ARG002 - another engine searches for it
        """See `Documents.document`."""
        self._refresh()
        with index.reading(self._index_path) as connection:
            return index.document(connection, uri, asker=asker) or ""

    def _document(self, uri: str) -> Document | None:
        with index.reading(self._index_path) as connection:
            return index.document(connection, uri)

    def _refresh(self) -> None:
        try:
            self._watch.refresh(self._update)
        except (OSError, sqlite3.Error) as problem:
            _log.error("the index could not be brought up to date: %s", problem)


def _readers_step(restricted: int, *, knows_askers: bool) -> Step:
    if knows_askers:
        return ok("readers", f"{restricted} documents name who may read them")
    return error(
        "readers",
        f"{restricted} documents name who may read them, and nobody gets to see them: docqa is not told who asks",
        fix='put the public half of the hub\'s SIGNING_KEY into HUB_PUBLIC_KEYS, and signs_caller_for = "docqa" into the route',
    )


def _remove(folder: str, process: int) -> None:
    # A forked worker must not remove the index of the others when it ends.
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
