"""A data store of the Discovery Engine stand-in: its documents, results, and an index over words and Japanese bigrams."""

import datetime
import html
import re
import sqlite3
import threading
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from functions.docqa.ingestion.blocks import Unreadable, joined
from functions.docqa.ingestion.files import MEDIA_TYPES, SUFFIX_OF_TYPE
from functions.docqa.ingestion.reader import read
from functions.docqa.model import Document, Passage, Unit, UnitKind
from hubctl.corpus.documents import MAX_TEXT_BYTES, document_id
from local.cloud.buckets import Bucket
from local.cloud.policies import GET

AGENT = "service-1@gcp-sa-discoveryengine.iam.gserviceaccount.com"
"""The account of the service, which reads the objects."""
_LATIN_WORD = re.compile(r"[a-z0-9]+")
_JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff々ー]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
Json = dict[str, Any]
_WORD = re.compile(r"[A-Za-z0-9]+|[\u3040-\u30ff\u3400-\u9fff]")


class DocumentIndex:
    """Texts by id, ranked by SQLite (BM25). Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sqlite = sqlite3.connect(":memory:", check_same_thread=False)
        self._sqlite.execute("CREATE VIRTUAL TABLE texts USING fts5(key UNINDEXED, text UNINDEXED, terms)")

    def put(self, key: str, title: str, text: str) -> None:
        """Add a text of a new id to the index."""
        words = " ".join(terms(f"{title}\n{text}"))
        with self._lock:
            self._sqlite.execute("INSERT INTO texts VALUES (?, ?, ?)", (key, text, words))

    def remove(self, key: str) -> None:
        """Remove the text from the index."""
        with self._lock:
            self._sqlite.execute("DELETE FROM texts WHERE key = ?", (key,))

    def search(self, query: str) -> list[str]:
        """Return the ids of all texts that hold a word of the query, best first."""
        wanted = " OR ".join(f'"{term}"' for term in set(terms(query)))
        with self._lock:
            found = self._sqlite.execute(
                "SELECT key FROM texts WHERE texts MATCH ? ORDER BY bm25(texts), key", (wanted or '""',)
            )
            return [key for (key,) in found]

    def best_sentences(self, key: str, query: str, most: int) -> list[str]:
        """Return the sentences of a text that share most with the query, best first; none without a common word."""
        with self._lock:
            (text,) = self._sqlite.execute("SELECT text FROM texts WHERE key = ?", (key,)).fetchone() or ("",)
        wanted = set(terms(query))
        sentences = dict.fromkeys(each.strip() for each in _SENTENCE.split(text))
        shared = {each: len(wanted & set(terms(each))) for each in sentences}
        return sorted((each for each in shared if shared[each]), key=lambda each: -shared[each])[:most]


def terms(text: str) -> list[str]:
    """Return the words of a text; of each run of Japanese the pairs of neighbouring characters."""
    normal = unicodedata.normalize("NFKC", text).casefold()
    found = _LATIN_WORD.findall(normal)
    for run in _JAPANESE.findall(normal):
        found += [run[at : at + 2] for at in range(len(run) - 1)] or [run]
    return found


class NotImported(Exception):
    """A document that cannot be indexed; the message is the reason."""


class DataStore:
    """Documents by id, in one branch, read from objects in the buckets. Thread-safe."""

    def __init__(self, buckets: Sequence[Bucket]) -> None:
        self._buckets = {bucket.name: bucket for bucket in buckets}
        self._lock = threading.Lock()
        self._index = DocumentIndex()
        self._documents: dict[str, Json] = {}
        self._titles: dict[str, str] = {}
        self._chunk_index = DocumentIndex()
        self._chunks: dict[str, list[tuple[str, int]]] = {}

    def listed(self) -> list[Json]:
        """Return all documents, by id."""
        with self._lock:
            return [self._documents[key] for key in sorted(self._documents)]

    def get(self, key: str) -> Json | None:
        """Return the document, None where there is none."""
        return self._documents.get(key)

    def delete(self, key: str) -> None:
        """Delete the document, if there is one."""
        with self._lock:
            self._documents.pop(key, None)
            self._index.remove(key)
            for number in range(len(self._chunks.pop(key, ()))):
                self._chunk_index.remove(f"{key}/{number}")

    def contents(self, uris: Iterable[str]) -> list[Json]:
        """Return the documents that an import of `content` makes of objects: their ids come from their URIs. Raises
        NotImported.
        """
        found = []
        for uri in uris:
            bucket, pattern = self._place(uri)
            prefix, star, suffix = pattern.partition("*")
            for name in (each.name for each in bucket.listed(prefix)):
                if name == pattern or (star and name.endswith(suffix.lstrip("*"))):
                    each = f"gs://{bucket.name}/{name}"
                    kind = MEDIA_TYPES.get("." + name.rpartition(".")[2].lower(), "").replace("markdown", "plain")
                    found.append({"id": document_id(each), "content": {"uri": each, "mimeType": kind}})
        return found

    def _place(self, uri: str) -> tuple[Bucket, str]:
        bucket, _, name = uri.removeprefix("gs://").partition("/")
        if bucket not in self._buckets:
            raise NotImported(f"Cloud Storage answered 404 for gs://{bucket}")
        if not self._buckets[bucket].policy.allows(f"serviceAccount:{AGENT}", GET, ""):
            raise NotImported(f"Cloud Storage answered 403 for {uri}")
        return self._buckets[bucket], name

    def put(self, document: Json, *, name: str) -> None:
        """Read the document's content and index it. Raises NotImported; then the document is as it was before."""
        content = document.get("content", {})
        uri, kind = content.get("uri", ""), content.get("mimeType", "")
        if kind not in SUFFIX_OF_TYPE or kind == MEDIA_TYPES[".md"]:
            raise NotImported(f"Unsupported MIME type {kind!r} of {uri}")
        bucket, path = self._place(uri)
        stored_object = bucket.get(path)
        if stored_object is None:
            raise NotImported(f"Cloud Storage answered 404 for {uri}")
        data = stored_object.content
        if len(data) > MAX_TEXT_BYTES and kind.startswith("text/"):
            raise NotImported(f"{uri} is larger than 2.5 MB")
        try:
            # Markdown comes as text: the service has no other name for it.
            source = read("x.md" if uri.endswith(".md") else "x" + SUFFIX_OF_TYPE[kind], uri, data)
        except Unreadable as error:
            raise NotImported(f"{uri}: {error}") from None
        title = (document.get("structData") or {}).get("title") or source.title
        indexed = datetime.datetime.now(tz=datetime.UTC).isoformat()
        stored = {**document, "name": name, "schemaId": "default_schema", "indexTime": indexed}
        stored["indexStatus"] = {"indexTime": indexed}
        key, chunks = document["id"], list(chunks_of(source))
        self.delete(key)
        with self._lock:
            self._documents[key] = stored
            self._titles[key] = title
            self._chunks[key] = chunks
        self._index.put(key, title, source.text)
        for number, (content, _) in enumerate(chunks):
            self._chunk_index.put(f"{key}/{number}", title, content)

    def search(self, query: str) -> list[str]:
        """Return the ids of the documents found, best first."""
        return [key for key in self._index.search(query) if key in self._documents]

    def search_chunks(self, query: str) -> list[str]:
        """Return the ids of the chunks found, best first."""
        return self._chunk_index.search(query)

    def shown_chunk(self, name: str) -> Json:
        """Return a result: the chunk, and the data of its document."""
        key, _, number = name.partition("/")
        document, (content, page) = self._documents[key], self._chunks[key][int(number)]
        about = {"uri": document["content"]["uri"], "title": self._titles[key]}
        about |= {part: document[part] for part in ("structData",) if part in document}
        chunk_id = f"c{int(number) + 1}"
        chunk: Json = {"name": f"{document['name']}/chunks/{chunk_id}", "id": chunk_id, "content": content}
        chunk["documentMetadata"] = about
        if page:
            chunk["pageSpan"] = {"pageStart": page, "pageEnd": page}
        return {"id": chunk_id, "chunk": chunk}

    def shown(self, key: str, query: str, spec: Mapping[str, Any]) -> Json:
        """Return a result: the document, and what was derived from it."""
        document = self._documents[key]
        derived: Json = {"link": document["content"]["uri"], "title": self._titles[key]}
        extracts = spec.get("extractiveContentSpec", {})
        if spec.get("snippetSpec", {}).get("returnSnippet"):
            best = self._index.best_sentences(key, query, 1)
            snippet = _marked(best[0], query) if best else "No snippet is available for this page."
            status = "SUCCESS" if best else "NO_SNIPPET_AVAILABLE"
            derived["snippets"] = [{"snippet": snippet, "snippet_status": status}]
        for name, most in (
            ("extractive_answers", extracts.get("maxExtractiveAnswerCount", 0)),
            ("extractive_segments", extracts.get("maxExtractiveSegmentCount", 0)),
        ):
            if most:
                sentences = self._index.best_sentences(key, query, most)
                derived[name] = [{"content": html.escape(each, quote=False)} for each in sentences]
        shown = {part: document[part] for part in ("name", "id", "structData") if part in document}
        return {"id": key, "document": {**shown, "derivedStructData": derived}}


def chunks_of(document: Document) -> Iterator[tuple[str, int]]:
    """Yield (content, page) of each passage; page 0 where there are no pages."""
    for passage in document.passages:
        if passage.units:
            yield _markdown(passage), bisect_right(document.page_starts, passage.units[0].start)


def _markdown(passage: Passage) -> str:
    headings = [f"{'#' * min(depth, 6)} {name}" for depth, name in enumerate(passage.section, start=1)]
    blocks = [_block(list(units)) for _, units in groupby(passage.units, key=lambda unit: (unit.kind, unit.block))]
    return "\n\n".join([*headings, *blocks])


def _block(units: list[Unit]) -> str:
    match units[0].kind:
        case UnitKind.ROW:
            header = units[0].header
            columns = max(header.count(" | "), *(unit.text.count(" | ") for unit in units), 0) + 1
            rows = "\n".join(f"| {unit.text} |" for unit in units)
            return f"_START_OF_TABLE_\nTABLE_IN_MARKDOWN:\n| {header} |\n|{'-|' * columns}\n{rows}\n_END_OF_TABLE_"
        case UnitKind.ITEM:
            return "\n".join(f"- {unit.text}" for unit in units)
        case _:
            return joined([unit.text for unit in units])


def _marked(sentence: str, query: str) -> str:
    """Return the sentence as HTML, the words of the query in bold."""
    wanted: Sequence[str] = terms(query)
    return _WORD.sub(
        lambda match: f"<b>{match[0]}</b>" if match[0].casefold() in wanted else match[0],
        html.escape(sentence, quote=False),
    )
