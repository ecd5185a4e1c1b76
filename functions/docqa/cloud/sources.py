"""Compares search results with their source objects in Cloud Storage.

The metadata tell whether an object is still the content that was indexed, if the data store knows its MD5 (`hubctl corpus push`
says it). A changed object is read, once per generation while it is cached; text that is no longer in it is dropped.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from a2a_hub.text.normalization import normalise
from functions.docqa.cloud.clients import Clients
from functions.docqa.cloud.failure import Cause, Failure, Step, failure_of
from functions.docqa.ingestion.child import read_all
from functions.docqa.ingestion.files import SUFFIX_OF_TYPE
from functions.docqa.ingestion.reader import MAX_FILE_BYTES, SUFFIXES
from functions.docqa.model import Edition, Skipped

if TYPE_CHECKING:
    from typing_extensions import Buffer

CACHED_CHARACTERS = 32_000_000
_RETRY_SECONDS = 2.0
_READS = 2
# Words, numbers and what is part of them stay; a sentence's end becomes a line's end, everything else a blank.
_ENDS = re.compile(r"[!?。\n]|\.(?!\d)|(?<!\d)\.")
_MARKS = re.compile(r"(?:[^\w%$€£¥°+<>=.,:\n-]|_|[,:](?!\d)|(?<!\d)[,:]|-(?!\d)|(?<=\w)-)+")
_BLANKS = re.compile(r"(?<=[\u3040-\u9fff]) | (?=[\u3040-\u9fff])|(?<=\n) | (?=\n)")
_LINE_ENDS = re.compile(r"\n+")


@dataclass(frozen=True, slots=True)
class Source:
    """An object at one `generation`. `text` is None if that is the very content that was indexed."""

    generation: int
    text: str | None = None
    edition: Edition | None = None

    def says(self, text: str) -> bool:
        """Return True if `text` (a sentence, an item or a row) is in the object, regardless of punctuation."""
        words = comparable(text)
        return self.text is None or (bool(words) and f"\n{words}\n" in f"\n{self.text}\n")


def comparable(text: str) -> str:
    """Return the words and numbers of a text, its sentences in lines: two readers of one file write the rest differently."""
    lines = _ENDS.sub("\n", "\n".join(map(normalise, text.split("\n"))))
    return _LINE_ENDS.sub("\n", _BLANKS.sub("", _MARKS.sub(" ", lines))).strip()


@dataclass(frozen=True, slots=True)
class _Unread:
    """A fetched object; the suffix of `path` tells its type."""

    path: str
    generation: int
    content: bytes


class Sources:
    """Compares objects of Cloud Storage with what was indexed. Thread-safe. `clock` is the one of every deadline."""

    def __init__(
        self,
        clients: Clients,
        *,
        clock: Callable[[], float],
        max_characters: int = CACHED_CHARACTERS,
    ) -> None:
        self._clients = clients
        self._clock = clock
        self._kept = _Kept(max_characters)
        self._reading = threading.Lock()

    def look_up(self, indexed: Mapping[str, str | None], *, deadline: float) -> dict[str, Source | Failure]:
        """Return each object as it is now, by its `gs://` URI, or why it cannot be compared.

        `indexed` has the MD5 of the content that was indexed, in base64 as Cloud Storage writes it; None if it is not known.
        """
        running = {
            uri: self._clients.threads.submit(self._fetch, uri, md5, deadline=deadline) for uri, md5 in indexed.items()
        }
        found: dict[str, Source | Failure] = {}
        unread: dict[str, _Unread] = {}
        for uri, future in running.items():
            fetched = self._result(uri, future, deadline)
            if isinstance(fetched, _Unread):
                unread[uri] = fetched
            else:
                found[uri] = fetched
        return found | (self._read(unread, deadline) if unread else {})

    def _result(
        self, uri: str, future: Future[Source | Failure | _Unread], deadline: float
    ) -> Source | _Unread | Failure:
        try:
            return future.result(timeout=max(0.0, deadline - self._clock()))
        except FutureTimeout:
            future.cancel()
            return _failed(Cause.TIMEOUT, uri, "not read in time")
        except Exception as error:
            return failure_of(error, step=Step.SOURCE, resource=uri)

    def _fetch(self, uri: str, md5: str | None, *, deadline: float) -> Source | Failure | _Unread:
        bucket, _, name = uri.removeprefix("gs://").partition("/")
        for _ in range(_READS):
            if found := self._generation(uri, bucket, name, md5, deadline):
                return found
        raise _failed(Cause.CHANGED, uri, "the object was replaced while it was read")

    def _generation(
        self, uri: str, bucket: str, name: str, md5: str | None, deadline: float
    ) -> Source | Failure | _Unread | None:
        """Return None if the object was replaced between the metadata request and the read."""
        from google.api_core.exceptions import NotFound

        client = self._clients.storage
        current = client.bucket(bucket).blob(name)
        current.reload(timeout=self._left(uri, deadline), retry=self._retry(uri, deadline))
        generation, size = int(current.generation), int(current.size)
        if md5 and current.md5_hash == md5:
            return Source(generation)
        if kept := self._kept.get((uri, generation)):
            return kept
        if size > MAX_FILE_BYTES:
            raise _too_large(uri, size)
        sink = _Sink(uri, clock=self._clock, deadline=deadline)
        try:
            client.bucket(bucket).blob(name, generation=generation).download_to_file(
                sink, timeout=self._left(uri, deadline), retry=self._retry(uri, deadline)
            )
        except NotFound:
            return None
        return _Unread(_path(name, current.content_type), generation, sink.getvalue())

    def _read(self, unread: Mapping[str, _Unread], deadline: float) -> dict[str, Source | Failure]:
        """Parse the fetched objects in one resource-limited child process, shared by all questions."""
        with self._reading:
            files = ((each.path, uri, each.content) for uri, each in unread.items())
            documents = list(read_all(files, wall_seconds=max(0.0, deadline - self._clock())))
        found: dict[str, Source | Failure] = {}
        for (uri, fetched), document in zip(unread.items(), documents, strict=True):
            if isinstance(document, Skipped) and self._clock() >= deadline:
                found[uri] = _failed(Cause.TIMEOUT, uri, "not read in time")
                continue
            if isinstance(document, Skipped):
                found[uri] = _failed(Cause.UNREADABLE, uri, document.reason)
            else:
                units = [unit.text for passage in document.passages for unit in passage.units]
                found[uri] = Source(fetched.generation, comparable("\n".join(units)), document.edition)
            self._kept.put((uri, fetched.generation), found[uri])
        return found

    def _left(self, uri: str, deadline: float) -> float:
        left = deadline - self._clock()
        if left <= 0:
            raise _failed(Cause.TIMEOUT, uri, "no time was left to read it")
        return left

    def _retry(self, uri: str, deadline: float) -> Any:
        from google.cloud.storage.retry import DEFAULT_RETRY

        return DEFAULT_RETRY.with_delay(initial=0.1, maximum=0.5).with_timeout(
            min(_RETRY_SECONDS, self._left(uri, deadline))
        )


def _path(name: str, content_type: str | None) -> str:
    """The object's name, with a suffix that says its kind where it has none."""
    if PurePosixPath(name).suffix.lower() in SUFFIXES:
        return name
    media_type = (content_type or "").split(";", 1)[0].strip().lower()
    return name + SUFFIX_OF_TYPE.get(media_type, "")


def _failed(cause: Cause, uri: str, detail: str) -> Failure:
    return Failure(step=Step.SOURCE, cause=cause, resource=uri, detail=detail)


def _too_large(uri: str, size: int) -> Failure:
    return _failed(Cause.TOO_LARGE, uri, f"{size} bytes, more than {MAX_FILE_BYTES}")


class _Sink(BytesIO):
    """A writable file with a size limit, whatever the object's metadata say, and a deadline."""

    def __init__(self, uri: str, *, clock: Callable[[], float], deadline: float) -> None:
        super().__init__()
        self._uri, self._clock, self._deadline = uri, clock, deadline

    def write(self, data: Buffer, /) -> int:
        """Write `data` at the download's position; a download may restart. Raises TimeoutError, Failure."""
        if self._clock() > self._deadline:
            raise TimeoutError
        if (size := self.tell() + len(memoryview(data))) > MAX_FILE_BYTES:
            raise _too_large(self._uri, size)
        return super().write(data)


class _Kept:
    """An LRU cache of the sources that were read, or why they were not, by (URI, generation)."""

    def __init__(self, characters: int) -> None:
        self._left = characters
        self._lock = threading.Lock()
        self._entries: OrderedDict[tuple[str, int], Source | Failure] = OrderedDict()

    def get(self, key: tuple[str, int]) -> Source | Failure | None:
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
            return self._entries.get(key)

    def put(self, key: tuple[str, int], value: Source | Failure) -> None:
        with self._lock:
            self._left += _characters(self._entries.pop(key, None)) - _characters(value)
            self._entries[key] = value
            while self._left < 0 and len(self._entries) > 1:
                self._left += _characters(self._entries.popitem(last=False)[1])


def _characters(value: Source | Failure | None) -> int:
    return len((value.text if isinstance(value, Source) else value.detail if value else "") or "")
