"""The data store of the Discovery Engine stand-in: imports, results, and a BM25 index over words and Japanese bigrams."""

import datetime
import hashlib
import html
import json
import math
import re
import secrets
import threading
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from a2a_hub.http.client import HttpClient, HttpFailure
from functions.docqa.documents.sources import Unreadable, document_from
from hubctl.connection import exchange

_LATIN_WORD = re.compile(r"[a-z0-9]+")
_JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff々ー]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_K1, _B = 1.2, 0.75
Json = dict[str, Any]
_SUFFIX = {"text/plain": ".txt", "text/html": ".html", "application/pdf": ".pdf"}
_TYPE = {kind: name for name, kind in _SUFFIX.items()} | {".htm": "text/html", ".md": "text/plain"}
_MOST_TEXT_BYTES = 2_500_000
_SECONDS = 30.0
_MOST_BYTES = 200 << 20
_WORD = re.compile(r"[A-Za-z0-9]+|[\u3040-\u30ff\u3400-\u9fff]")
_TYPES = "type.googleapis.com/google.cloud.discoveryengine.v1"
_INVALID_ARGUMENT = 3
_MOST_SAMPLES = 10


@dataclass(frozen=True, slots=True)
class _Entry:
    sentences: tuple[str, ...]
    terms: Counter[str]
    length: int


class DocumentIndex:
    """Texts by id. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: dict[str, _Entry] = {}

    def put(self, key: str, title: str, text: str) -> None:
        """Add the text to the index."""
        words = terms(f"{title}\n{text}")
        sentences = tuple(each.strip() for each in _SENTENCE.split(text) if each.strip())
        entry = _Entry(sentences, Counter(words), len(words))
        with self._lock:
            self._entries[key] = entry

    def remove(self, key: str) -> None:
        """Remove the text from the index."""
        with self._lock:
            self._entries.pop(key, None)

    def search(self, query: str) -> list[str]:
        """Return the ids of all texts that hold a word of the query, best first."""
        with self._lock:
            entries = dict(self._entries)
        if not entries:
            return []
        average = sum(entry.length for entry in entries.values()) / len(entries)
        scores: dict[str, float] = {}
        for term in set(terms(query)):
            holding = {key: entry for key, entry in entries.items() if term in entry.terms}
            rarity = math.log(1 + (len(entries) - len(holding) + 0.5) / (len(holding) + 0.5))
            for key, entry in holding.items():
                often = entry.terms[term]
                norm = _K1 * (1 - _B + _B * entry.length / average)
                scores[key] = scores.get(key, 0.0) + rarity * often * (_K1 + 1) / (often + norm)
        return sorted(scores, key=lambda key: (-scores[key], key))

    def best_sentences(self, key: str, query: str, most: int) -> list[str]:
        """Return the sentences of a text that share most with the query, best first; none without a common word."""
        with self._lock:
            entry = self._entries.get(key)
        if entry is None:
            return []
        wanted = set(terms(query))
        shared = {each: len(wanted & set(terms(each))) for each in entry.sentences}
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


class StorageReader:
    """Reads objects as the service's own agent. `token` gives the agent's access token."""

    def __init__(self, url: str, *, http: HttpClient, token: Callable[[], str]) -> None:
        self._url = url
        self._http = http
        self._token = token

    def read(self, uri: str) -> bytes:
        """Return the object's content. Raises NotImported."""
        bucket, _, name = uri.removeprefix("gs://").partition("/")
        status, content = self._get(f"/storage/v1/b/{bucket}/o/{quote(name, safe='')}?alt=media")
        if status != 200:
            raise NotImported(f"Cloud Storage answered {status} for {uri}")
        return content

    def names(self, bucket: str, prefix: str) -> list[str]:
        """Return the objects whose names begin so. Raises NotImported."""
        found: list[str] = []
        token = ""
        while True:
            path = f"/storage/v1/b/{bucket}/o?prefix={quote(prefix, safe='')}&pageToken={quote(token, safe='')}"
            status, content = self._get(path)
            if status != 200:
                raise NotImported(f"Cloud Storage answered {status} for gs://{bucket}")
            page = json.loads(content)
            found += [item["name"] for item in page.get("items", ())]
            token = page.get("nextPageToken", "")
            if not token:
                return found

    def _get(self, path: str) -> tuple[int, bytes]:
        url, headers = self._url + path, {"authorization": f"Bearer {self._token()}"}
        try:
            answer = exchange(self._http, "GET", url, headers=headers, seconds=_SECONDS, max_bytes=_MOST_BYTES)
        except HttpFailure as failure:
            raise NotImported(f"Cloud Storage did not answer: {failure.detail}") from None
        return answer.status, answer.body


class DataStore:
    """Documents by id, in one branch. Thread-safe."""

    def __init__(self, *, storage: StorageReader, clock: Callable[[], float] = time.time) -> None:
        self._storage = storage
        self._clock = clock
        self._lock = threading.Lock()
        self._index = DocumentIndex()
        self._documents: dict[str, Json] = {}
        self._titles: dict[str, str] = {}

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

    def contents(self, uris: Iterable[str]) -> list[Json]:
        """Return the documents that an import of `content` makes of objects: their ids come from their URIs. Raises
        NotImported.
        """
        found = []
        for uri in uris:
            bucket, _, pattern = uri.removeprefix("gs://").partition("/")
            prefix, star, suffix = pattern.partition("*")
            names = self._storage.names(bucket, prefix)
            for name in names:
                if name == pattern or (star and name.endswith(suffix.lstrip("*"))):
                    each = f"gs://{bucket}/{name}"
                    kind = _TYPE.get("." + name.rpartition(".")[2].lower(), "")
                    content = {"uri": each, "mimeType": kind}
                    found.append({"id": hashlib.sha256(each.encode()).hexdigest()[:32], "content": content})
        return found

    def put(self, document: Json, *, name: str) -> None:
        """Read the document's content and index it. Raises NotImported; then the document is as it was before."""
        content = document.get("content", {})
        uri, kind = content.get("uri", ""), content.get("mimeType", "")
        if kind not in _SUFFIX:
            raise NotImported(f"Unsupported MIME type {kind!r} of {uri}")
        data = self._storage.read(uri)
        if len(data) > _MOST_TEXT_BYTES and kind != "application/pdf":
            raise NotImported(f"{uri} is larger than 2.5 MB")
        try:
            source = document_from("x" + _SUFFIX[kind], uri, data)
        except Unreadable as error:
            raise NotImported(f"{uri}: {error}") from None
        title = (document.get("structData") or {}).get("title") or source.title
        indexed = datetime.datetime.fromtimestamp(self._clock(), tz=datetime.UTC).isoformat()
        stored = {**document, "name": name, "schemaId": "default_schema", "indexTime": indexed}
        stored["indexStatus"] = {"indexTime": indexed}
        with self._lock:
            self._documents[document["id"]] = stored
            self._titles[document["id"]] = title
        self._index.put(document["id"], title, source.text)

    def search(self, query: str) -> list[str]:
        """Return the ids of the documents found, best first."""
        return [key for key in self._index.search(query) if key in self._documents]

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


def _marked(sentence: str, query: str) -> str:
    """Return the sentence as HTML, the words of the query in bold."""
    wanted: Sequence[str] = terms(query)
    return _WORD.sub(
        lambda match: f"<b>{match[0]}</b>" if match[0].casefold() in wanted else match[0],
        html.escape(sentence, quote=False),
    )


class ImportOperations:
    """The imports of one process. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._operations: dict[str, Json] = {}

    def get(self, name: str) -> Json | None:
        """Return the operation as it is now; None where there is none."""
        with self._lock:
            return self._operations.get(name)

    def start(self, store: DataStore, documents: Sequence[Json], *, branch: str) -> Json:
        """Start an operation that imports `documents` into `store`, and return it."""
        name = f"{branch}/operations/import-documents-{secrets.randbits(64)}"
        operation = self._written(name, documents, good=0, errors=[], done=False)
        threading.Thread(target=self._run, args=(name, store, documents, branch), daemon=True).start()
        return operation

    def run(self, store: DataStore, documents: Sequence[Json], *, branch: str) -> None:
        """Import `documents` before returning."""
        self._run(f"{branch}/operations/first", store, documents, branch)

    def _run(self, name: str, store: DataStore, documents: Sequence[Json], branch: str) -> None:
        good, errors = 0, []
        for document in documents:
            try:
                store.put(document, name=f"{branch}/documents/{document['id']}")
                good += 1
            except NotImported as error:
                errors.append(str(error))
            self._written(name, documents, good=good, errors=errors, done=False)
        self._written(name, documents, good=good, errors=errors, done=True)

    def _written(self, name: str, documents: Sequence[Json], *, good: int, errors: list[str], done: bool) -> Json:
        now = datetime.datetime.now(tz=datetime.UTC).isoformat()
        metadata = {
            "@type": f"{_TYPES}.ImportDocumentsMetadata",
            "createTime": now,
            "updateTime": now,
            "successCount": str(good),
            "failureCount": str(len(errors)),
            "totalCount": str(len(documents)),
        }
        operation: dict[str, Any] = {"name": name, "metadata": metadata, "done": done}
        if done:
            samples = [{"code": _INVALID_ARGUMENT, "message": each} for each in errors[:_MOST_SAMPLES]]
            operation["response"] = {"@type": f"{_TYPES}.ImportDocumentsResponse", "errorSamples": samples}
        with self._lock:
            self._operations[name] = operation
        return operation
