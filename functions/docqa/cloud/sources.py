"""Reads the source text of found documents from Cloud Storage: one generation, of a bounded size, as a Document."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from msgspec import structs

from functions.docqa.cloud.clients import Clients
from functions.docqa.cloud.config import CloudConfig
from functions.docqa.cloud.failure import Cause, CloudFailure, Failure, Step, failure_of
from functions.docqa.documents.sources import SUFFIXES, Unreadable, document_from
from functions.docqa.model import Document

CACHED_CHARACTERS = 32_000_000
_SUFFIX_OF_TYPE = {
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/html": ".html",
    "application/pdf": ".pdf",
}
_RETRY_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Source:
    """A source as it was read: `generation` names the very content that every position refers to."""

    document: Document
    generation: int


class Sources:
    """Reads objects, each generation once while it is kept. Thread-safe. `clock` is the one of every deadline."""

    def __init__(
        self,
        config: CloudConfig,
        clients: Clients,
        *,
        clock: Callable[[], float],
        most_characters: int = CACHED_CHARACTERS,
    ) -> None:
        self._config = config
        self._clients = clients
        self._clock = clock
        self._kept = _Kept(most_characters)

    def read(self, uri: str, *, deadline: float) -> Source:
        """The document at a `gs://` URI, as it is now. Raises CloudFailure."""
        bucket, _, name = uri.removeprefix("gs://").partition("/")
        if not uri.startswith("gs://") or not bucket or not name:
            raise self._failed(Cause.NO_SOURCE, uri, "no object of Cloud Storage")
        try:
            for _ in range(2):
                source = self._read(uri, bucket, name, deadline)
                if source is not None:
                    return source
        except Exception as error:
            raise CloudFailure(failure_of(error, step=Step.SOURCE, resource=uri)) from error
        raise self._failed(Cause.CHANGED, uri, "the object was replaced twice while it was read")

    def _read(self, uri: str, bucket: str, name: str, deadline: float) -> Source | None:
        """None when the object was replaced between the look at it and the read."""
        from google.api_core.exceptions import NotFound

        client = self._clients.storage
        current = client.bucket(bucket).blob(name)
        current.reload(timeout=self._left(uri, deadline), retry=self._retry(uri, deadline))
        generation, size = int(current.generation), int(current.size)
        kept = self._kept.get((uri, generation))
        if isinstance(kept, Document):
            return Source(kept, generation)
        if isinstance(kept, str):
            raise self._failed(Cause.UNREADABLE, uri, kept)
        if size > self._config.max_source_bytes:
            raise self._too_large(uri, size)
        sink = _Sink(self._config.max_source_bytes, clock=self._clock, deadline=deadline)
        try:
            client.bucket(bucket).blob(name, generation=generation).download_to_file(
                sink, timeout=self._left(uri, deadline), retry=self._retry(uri, deadline)
            )
        except NotFound:
            return None
        except _Overflow:
            raise self._too_large(uri, size) from None
        try:
            document = document_from(_path(name, current.content_type), uri, sink.content)
        except Unreadable as error:
            self._kept.put((uri, generation), str(error), len(str(error)))
            raise self._failed(Cause.UNREADABLE, uri, str(error)) from None
        # The bucket's name says nothing of the edition; the path only has to be one of its own in an index.
        document = structs.replace(document, path=uri)
        self._kept.put((uri, generation), document, len(document.text))
        return Source(document, generation)

    def _left(self, uri: str, deadline: float) -> float:
        left = deadline - self._clock()
        if left <= 0:
            raise self._failed(Cause.TIMEOUT, uri, "no time was left to read it")
        return left

    def _retry(self, uri: str, deadline: float) -> Any:
        from google.cloud.storage.retry import DEFAULT_RETRY

        return DEFAULT_RETRY.with_delay(initial=0.1, maximum=0.5).with_timeout(
            min(_RETRY_SECONDS, self._left(uri, deadline))
        )

    def _too_large(self, uri: str, size: int) -> CloudFailure:
        limit = self._config.max_source_bytes
        return self._failed(Cause.TOO_LARGE, uri, f"{size} bytes, and MAX_SOURCE_BYTES is {limit}")

    @staticmethod
    def _failed(cause: Cause, uri: str, detail: str) -> CloudFailure:
        return CloudFailure(Failure(step=Step.SOURCE, cause=cause, resource=uri, detail=detail))


def _path(name: str, content_type: str | None) -> str:
    """The object's name, with a suffix that says its kind where it has none."""
    if PurePosixPath(name).suffix.lower() in SUFFIXES:
        return name
    media_type = (content_type or "").split(";", 1)[0].strip().lower()
    return name + _SUFFIX_OF_TYPE.get(media_type, "")


class _Overflow(Exception):
    pass


class _Sink:
    """A file that takes no more than a limit, whatever the object's metadata said, and nothing after the deadline."""

    def __init__(self, limit: int, *, clock: Callable[[], float], deadline: float) -> None:
        self._limit = limit
        self._clock = clock
        self._deadline = deadline
        self._content = bytearray()

    @property
    def content(self) -> bytes:
        return bytes(self._content)

    def write(self, data: bytes) -> int:
        if self._clock() > self._deadline:
            raise TimeoutError
        if len(self._content) + len(data) > self._limit:
            raise _Overflow
        self._content += data
        return len(data)

    def tell(self) -> int:
        return len(self._content)

    def seek(self, position: int) -> int:
        """A download that starts anew writes from there."""
        del self._content[position:]
        return position

    def flush(self) -> None:
        """Everything is in memory already."""


class _Kept:
    """What was read, by (URI, generation), the least recently used given up first; a text instead of a Document says why not."""

    def __init__(self, characters: int) -> None:
        self._limit = characters
        self._lock = threading.Lock()
        self._entries: OrderedDict[tuple[str, int], tuple[Document | str, int]] = OrderedDict()
        self._size = 0

    def get(self, key: tuple[str, int]) -> Document | str | None:
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            return self._entries[key][0]

    def put(self, key: tuple[str, int], value: Document | str, size: int) -> None:
        with self._lock:
            self._size -= self._entries.pop(key, (value, 0))[1]
            self._entries[key] = (value, size)
            self._size += size
            while self._size > self._limit and len(self._entries) > 1:
                self._size -= self._entries.popitem(last=False)[1][1]
