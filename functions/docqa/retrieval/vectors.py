"""The vectors of passages: made by an embedding model where they are missing, and compared with that of a question.

A vector belongs to a text: the same text is embedded once, wherever it occurs. The signs of all vectors, 96 bytes each, are in
memory and choose the passages whose whole vectors are compared (binary quantization).
"""

import heapq
import logging
import math
import sqlite3
import threading
import time
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from operator import mul
from pathlib import Path

import msgspec

from a2a_hub.diagnosis import report
from a2a_hub.gemini.failure import Cause, Failure, ModelFailed
from a2a_hub.language_models.embeddings import EmbeddingModel, Purpose, Vector
from functions.docqa.model import Passage
from functions.docqa.retrieval.index import marks
from functions.docqa.retrieval.index_writer import embedded_text

_LOCK_SECONDS = 120
_TEXTS_STORED_TOGETHER, _CALLS_AT_ONCE = 256, 4
_COMPARED, _NEAREST = 200, 60
_QUESTION_SECONDS, _PAUSE_SECONDS = 3.0, 30.0
_LARGEST_SHARE_OF_LOADING = 0.02
# A component of a unit vector is rarely larger than four times its root mean square.
_LARGEST, _RANGE = 127, 4
_SIGNS = bytes(ord("0") if value <= _LARGEST else ord("1") for value in range(256))
_MISSING = """
SELECT number, digest, passage FROM passages
WHERE number > ? AND NOT EXISTS (SELECT 1 FROM passage_vectors WHERE passage_vectors.digest = passages.digest)
ORDER BY number LIMIT ?"""
_STORED = """
SELECT passages.number, readers.number, vector FROM passages
JOIN passage_vectors USING (digest) JOIN files USING (path) JOIN readers ON readers.name = files.readers
WHERE vector <> x''"""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Loaded:
    """The signs of the vectors by the readers of their passages; `state` changes whenever the index or its vectors do."""

    state: tuple[object, ...]
    dimensions: int
    passages: Mapping[int, tuple[Sequence[int], Sequence[int]]]


class Vectors:
    """The vectors of one index and one model. Safe to share between threads, and across a fork."""

    def __init__(self, index_path: Path, model: EmbeddingModel, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._index_path, self._model, self._clock = index_path, model, clock
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None
        self._next_load = self._asked_again = -math.inf
        self._complete: tuple[object, ...] | None = None

    def embed(self) -> None:
        """Embed all passages without a vector; finished ones are kept if the model fails. Raises ModelFailed, sqlite3.Error."""
        connecting = sqlite3.connect(self._index_path, timeout=_LOCK_SECONDS, isolation_level=None)
        with closing(connecting) as connection, ThreadPoolExecutor(_CALLS_AT_ONCE) as pool:
            state = _state(connection, self._model.name)
            if state and state == self._complete:
                return
            if state is None:
                with connection:
                    connection.execute("BEGIN IMMEDIATE")
                    connection.execute("DELETE FROM passage_vectors")
                    row = (self._model.name,)
                    connection.execute("INSERT OR REPLACE INTO embedding_model VALUES (1, ?, 0)", row)
            last = 0
            while rows := connection.execute(_MISSING, (last, _TEXTS_STORED_TOGETHER)).fetchall():
                last = rows[-1][0]
                decode = msgspec.msgpack.Decoder(Passage).decode
                texts = {digest: embedded_text(decode(blob)) for _, digest, blob in rows}
                found = [each for vectors in pool.map(self._embedded, self._batches(texts)) for each in vectors]
                self._store(connection, dict(zip(texts, found, strict=True)))
            connection.execute("DELETE FROM passage_vectors WHERE digest NOT IN (SELECT digest FROM passages)")
            self._complete = _state(connection, self._model.name)

    def _batches(self, texts: Mapping[bytes, str]) -> Iterator[Sequence[str]]:
        written, most = list(texts.values()), self._model.max_texts
        yield from (written[start : start + most] for start in range(0, len(written), most))

    def _embedded(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the vectors; an empty one for a text that the model rejects on its own, so that it holds up no other."""
        try:
            return self._model.embed(texts, purpose=Purpose.DOCUMENT)
        except ModelFailed as failed:
            if failed.failure.cause is not Cause.REJECTED:
                raise
        half = len(texts) // 2
        return [*self._embedded(texts[:half]), *self._embedded(texts[half:])] if half else [()]

    def _store(self, connection: sqlite3.Connection, vectors: Mapping[bytes, Vector]) -> None:
        rows = [(digest, _quantized(vector)) for digest, vector in vectors.items()]
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            known = connection.execute(
                "SELECT length(vector) FROM passage_vectors WHERE vector <> x'' LIMIT 1"
            ).fetchall()
            _check_dimensions({*(length for (length,) in known), *(len(vector) for _, vector in rows if vector)})
            connection.executemany("INSERT OR REPLACE INTO passage_vectors VALUES (?, ?)", rows)
            connection.execute("UPDATE embedding_model SET changes = changes + 1")

    def nearest(self, connection: sqlite3.Connection, question: str, readers: Iterable[int]) -> list[tuple[float, int]]:
        """Return the similarity and number of the passages of these readers that are nearest to the question, the best first.

        Empty while the model does not answer.
        """
        tables, loaded = list(readers), self._load(connection)
        if not loaded or not loaded.dimensions or self._clock() < self._asked_again:
            return []
        try:
            (asked,) = self._model.embed([question], purpose=Purpose.QUESTION, timeout_seconds=_QUESTION_SECONDS)
            _check_dimensions({len(asked), loaded.dimensions})
        except ModelFailed as failed:
            self._asked_again = self._clock() + _PAUSE_SECONDS
            _log.warning("%s does not answer, documents are found by words alone: %s", self._model.name, failed)
            return []
        signs = _signs(_quantized(asked))
        near: list[tuple[int, int]] = []
        for table in tables:
            numbers, others = loaded.passages.get(table, ((), ()))
            near += heapq.nsmallest(
                _COMPARED, zip([(other ^ signs).bit_count() for other in others], numbers, strict=True)
            )
        chosen = [number for _, number in heapq.nsmallest(_COMPARED, near)]
        # What is in memory may be older than the index: the readers are those that the passage has now.
        query = f"{_STORED} AND passages.number IN ({marks(chosen)}) AND readers.number IN ({marks(tables)})"
        rows = connection.execute(query, (*chosen, *tables))
        compared = ((sum(map(mul, array("b", vector), asked)), number) for number, _, vector in rows)
        return heapq.nlargest(_NEAREST, compared)

    def _load(self, connection: sqlite3.Connection) -> _Loaded | None:
        with self._lock:
            start, state = self._clock(), _state(connection, self._model.name)
            if state is None:
                return None
            if (self._loaded and self._loaded.state == state) or start < self._next_load:
                return self._loaded
            dimensions = 0
            passages: defaultdict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
            for number, readers, vector in connection.execute(_STORED):
                numbers, signs = passages[readers]
                numbers.append(number)
                signs.append(_signs(vector))
                dimensions = len(vector)
            self._loaded = _Loaded(state, dimensions, passages)
            self._next_load = self._clock() + (self._clock() - start) / _LARGEST_SHARE_OF_LOADING
            return self._loaded

    def examine(self, connection: sqlite3.Connection) -> Iterator[report.Step]:
        """Yield the step of the model, which embeds a word, and of the passages that have a vector."""
        try:
            self._model.embed(["ready"], purpose=Purpose.QUESTION, timeout_seconds=_QUESTION_SECONDS)
        except ModelFailed as failed:
            message = f"{self._model.name}: {failed}; documents are found by words alone"
            yield report.failed("embeddings", message, remedy=self._model.remedy(failed.failure))
            return
        has_vectors = _state(connection, self._model.name) is not None
        (count,) = connection.execute("SELECT count(*) FROM passages").fetchone()
        (found,) = connection.execute(f"SELECT count(*) FROM ({_STORED})").fetchone() if has_vectors else (0,)
        message = f"{found} of {count} passages have a vector of {self._model.name}"
        fix = "wait until all are embedded; until then, those without are found by words alone"
        yield report.ok("embeddings", message) if found == count else report.warning("embeddings", message, fix=fix)


def _state(connection: sqlite3.Connection, model: str) -> tuple[object, ...] | None:
    """Return what changes with the index and its vectors; None without any of this model."""
    query = "SELECT changes, files FROM embedding_model LEFT JOIN settled WHERE model = ?"
    found: tuple[object, ...] | None = connection.execute(query, (model,)).fetchone()
    return found


def _quantized(vector: Vector) -> bytes:
    """Return a vector as signed bytes; all have the same scale, so that their products with another have the same order."""
    scale = _LARGEST * math.sqrt(len(vector)) / _RANGE / (math.hypot(*vector) or 1.0)
    return array("b", (max(-_LARGEST, min(_LARGEST, round(value * scale))) for value in vector)).tobytes()


def _check_dimensions(found: set[int]) -> None:
    if len(found) > 1:
        detail = "the model has changed its number of dimensions: remove the index"
        raise ModelFailed(Failure(cause=Cause.BROKEN, detail=detail))


def _signs(quantized: bytes) -> int:
    return int(quantized.translate(_SIGNS), 2)
