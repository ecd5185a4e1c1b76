"""Finds evidence with Discovery Engine: `servingConfigs.search`, cloud.google.com/generative-ai-app-builder/docs/reference/rest.

A data store with a chunk configuration returns chunks and refuses to extract; one without refuses chunks, and extracts segments
and answers from documents in the Enterprise edition only; snippets are always there.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from functions.docqa.cloud.clients import Clients
from functions.docqa.cloud.config import CloudConfig
from functions.docqa.cloud.failure import Cause, Failure, Step, failure_of

CHUNKS_READ = 20
DOCUMENTS_READ = 10
_CHUNKS: dict[str, Any] = {"search_result_mode": "CHUNKS"}
_SNIPPETS: dict[str, Any] = {"snippet_spec": {"return_snippet": True}}
_EXTRACTS = _SNIPPETS | {
    "extractive_content_spec": {"max_extractive_segment_count": 3, "max_extractive_answer_count": 3}
}
_SEARCH_SHARE = 0.6
_RETRY_SECONDS = 3.0
_LONGEST_TITLE = 200
_TAG = re.compile(r"</?b>|<br ?/?>")
_PART_OF_CHUNK = re.compile(r"/chunks/[^/]+$")
# The layout parser's marks around what it has written as Markdown.
_LAYOUT_MARKS = re.compile(r"^(?:_(?:START|END)_OF_[A-Z_]+_|[A-Z_]+_IN_MARKDOWN:)[ \t]*$", re.MULTILINE)


class Chunk(Struct, frozen=True, kw_only=True):
    """A chunk, extract or snippet of a document as the search returned it; `fields` are the document's own data.

    `uri` is the document's address, or its resource name where it has none. `page` counts from one, 0 means unknown.
    """

    uri: str
    title: str
    text: str
    page: int = 0
    fields: Mapping[str, Any] = {}
    is_markdown: bool = False


class DiscoverySearch:
    """Searches one serving config. Thread-safe. `clock` is the one of every deadline."""

    def __init__(self, config: CloudConfig, clients: Clients, *, clock: Callable[[], float]) -> None:
        self._config = config
        self._clients = clients
        self._clock = clock
        self._modes: Sequence[Mapping[str, Any]] = (_CHUNKS, _EXTRACTS, _SNIPPETS)

    def find(self, question: str, *, deadline: float, token: str | None = None) -> tuple[Chunk, ...]:
        """Return chunks of at most DOCUMENTS_READ documents, the best first. Raises Failure.

        The search runs with the asker's `token` where the settings say so, else as the function's account. It takes no more than
        its share of the time until `deadline`: the rest is for the sources.
        """
        serving_config = self._config.serving_config
        if not self._config.as_user:
            token = None
        elif not token:
            raise Failure(step=Step.SEARCH, cause=Cause.NOT_SIGNED_IN, resource=serving_config, detail="no token")
        ends = self._clock() + (deadline - self._clock()) * _SEARCH_SHARE
        try:
            running = self._clients.threads.submit(self._find, question, ends, token)
            found = running.result(timeout=max(0.0, ends - self._clock()))
        except Exception as error:
            failure = failure_of(error, step=Step.SEARCH, resource=serving_config)
            if token and (failure.cause is Cause.NO_CREDENTIALS or "SCOPE" in failure.detail):
                failure.cause = Cause.NOT_SIGNED_IN  # the token that is refused is the asker's
            raise failure from error
        uris = list(dict.fromkeys(chunk.uri for chunk in found))[:DOCUMENTS_READ]
        return tuple(chunk for chunk in found if chunk.uri in uris)

    def _find(self, question: str, ends: float, token: str | None) -> list[Chunk]:
        from google.api_core.exceptions import BadRequest

        for at, mode in enumerate(self._modes):
            try:
                page = self._page(mode, question, ends, token)
            except BadRequest:
                if mode is self._modes[-1]:
                    raise
                continue
            if at:
                self._modes = self._modes[at:]
            return [chunk for result in page.results for chunk in _chunks(result)]
        return []

    def _page(self, mode: Mapping[str, Any], question: str, ends: float, token: str | None) -> Any:
        from google.api_core import exceptions
        from google.api_core.retry import Retry, if_exception_type
        from google.cloud import discoveryengine_v1 as api

        remaining = ends - self._clock()
        if remaining <= 0:
            raise Failure(step=Step.SEARCH, cause=Cause.TIMEOUT, resource=self._config.serving_config)
        client = self._clients.search_without_account if token else self._clients.search
        pages = client.search(
            request=api.SearchRequest(
                serving_config=self._config.serving_config,
                query=question,
                page_size=CHUNKS_READ if mode is _CHUNKS else DOCUMENTS_READ,
                content_search_spec=mode,
            ),
            timeout=remaining,
            metadata=[("authorization", f"Bearer {token}")] if token else [],
            retry=Retry(
                predicate=if_exception_type(exceptions.ServiceUnavailable, exceptions.TooManyRequests),
                initial=0.25,
                maximum=1.0,
                timeout=min(_RETRY_SECONDS, remaining / 3),
            ),
        )
        return next(iter(pages.pages))


def _chunks(result: Any) -> Iterator[Chunk]:
    if result.chunk.content:
        chunk = result.chunk
        about = chunk.document_metadata
        fields: Mapping[str, Any] = _plain(about.struct_data or {})
        uri = about.uri or str(dict(chunk.derived_struct_data or {}).get("link") or "")
        uri = uri or _PART_OF_CHUNK.sub("", chunk.name)
        text = _LAYOUT_MARKS.sub("", chunk.content)
        page = chunk.page_span.page_start
        title = _title(fields.get("title") or about.title, uri)
        yield Chunk(uri=uri, title=title, text=text, page=page, fields=fields, is_markdown=True)
        return
    shown: Mapping[str, Any] = dict(result.document.derived_struct_data or {})
    fields = _plain(result.document.struct_data or {})
    uri = str(shown.get("link") or result.document.content.uri or result.document.name)
    title = _title(fields.get("title") or shown.get("title") or result.document.id, uri)
    for text, page in _extracts(shown):
        yield Chunk(uri=uri, title=title, text=text, page=page, fields=fields)


def _plain(value: Any) -> Any:
    """Return a protobuf Struct as dictionaries and lists."""
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, Sequence) and not isinstance(value, str) else value


def _title(given: object, uri: str) -> str:
    return " ".join(str(given or uri.rpartition("/")[2]).split())[:_LONGEST_TITLE]


def _extracts(shown: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield a document's segments, else its answers, else its snippets, with their pages."""
    for name, content in (
        ("extractive_segments", "content"),
        ("extractive_answers", "content"),
        ("snippets", "snippet"),
    ):
        found = False
        for entry in shown.get(name) or ():
            # A document without a match has a snippet that says so, with another status.
            if entry.get("snippet_status", "SUCCESS") == "SUCCESS" and entry.get(content):
                text = html.unescape(_TAG.sub("", str(entry[content]))).strip()
                page = str(entry.get("pageNumber") or 0)
                if text:
                    found = True
                    yield text, int(float(page)) if page.replace(".", "").isdigit() else 0
        if found:
            return
