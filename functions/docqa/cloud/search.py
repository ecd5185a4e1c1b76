"""Finds documents with Discovery Engine: `servingConfigs.search`, cloud.google.com/generative-ai-app-builder/docs/reference/rest.

What comes back is what the search says of a document, never evidence.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from functions.docqa.cloud.clients import Clients
from functions.docqa.cloud.config import CloudConfig
from functions.docqa.cloud.failure import Cause, CloudFailure, Failure, Step, failure_of

PAGE_SIZE = 10
MOST_DOCUMENTS = 10
_MOST_PAGES = 3
_SEARCH_SHARE = 0.6
_RETRY_SECONDS = 3.0
_LONGEST_TITLE = 200
_TAG = re.compile(r"</?b>|<br ?/?>")


class SearchResult(Struct, frozen=True, kw_only=True):
    """A document as the search shows it. `texts` are its extractive answers, segments and snippets, best first, as plain text."""

    uri: str
    title: str
    texts: tuple[str, ...]


class DiscoverySearch:
    """Searches one serving config. Thread-safe. `clock` is the one of every deadline."""

    def __init__(self, config: CloudConfig, clients: Clients, *, clock: Callable[[], float]) -> None:
        self._config = config
        self._clients = clients
        self._clock = clock
        self._extracts = True

    def find(self, question: str, *, deadline: float) -> tuple[SearchResult, ...]:
        """At most MOST_DOCUMENTS documents, best first; several hits in one document are one result. Raises CloudFailure.

        Takes no more than its share of the time until `deadline`: the rest is for reading the sources.
        """
        ends = self._clock() + (deadline - self._clock()) * _SEARCH_SHARE
        try:
            running = self._clients.threads.submit(self._find, question, ends)
            return running.result(timeout=max(0.0, ends - self._clock()))
        except Exception as error:
            raise CloudFailure(failure_of(error, step=Step.SEARCH, resource=self._config.serving_config)) from error

    def _find(self, question: str, ends: float) -> tuple[SearchResult, ...]:
        from google.api_core.exceptions import BadRequest

        client = self._clients.search
        if self._extracts:
            try:
                return self._pages(client, question, ends, extracts=True)
            except BadRequest:
                # Extractive answers and segments are of the Enterprise edition: a Standard engine refuses the request.
                found = self._pages(client, question, ends, extracts=False)
                self._extracts = False
                return found
        return self._pages(client, question, ends, extracts=False)

    def _pages(self, client: Any, question: str, ends: float, *, extracts: bool) -> tuple[SearchResult, ...]:
        found: dict[str, SearchResult] = {}
        token = ""
        for _ in range(_MOST_PAGES):
            page = self._page(client, question, ends, extracts=extracts, token=token)
            for result in map(_result, page.results):
                known = found.get(result.uri)
                texts = tuple(dict.fromkeys((*known.texts, *result.texts))) if known else result.texts
                found[result.uri] = SearchResult(uri=result.uri, title=result.title, texts=texts)
            token = page.next_page_token
            if not token or len(found) >= MOST_DOCUMENTS:
                break
        return tuple(found.values())[:MOST_DOCUMENTS]

    def _page(self, client: Any, question: str, ends: float, *, extracts: bool, token: str) -> Any:
        from google.api_core import exceptions
        from google.api_core.retry import Retry, if_exception_type
        from google.cloud import discoveryengine_v1 as api

        spec = api.SearchRequest.ContentSearchSpec(
            snippet_spec=api.SearchRequest.ContentSearchSpec.SnippetSpec(return_snippet=True)
        )
        if extracts:
            spec.extractive_content_spec = api.SearchRequest.ContentSearchSpec.ExtractiveContentSpec(
                max_extractive_answer_count=2, max_extractive_segment_count=1
            )
        remaining = ends - self._clock()
        if remaining <= 0:
            raise CloudFailure(Failure(step=Step.SEARCH, cause=Cause.TIMEOUT, resource=self._config.serving_config))
        pages = client.search(
            request=api.SearchRequest(
                serving_config=self._config.serving_config,
                query=question,
                page_size=PAGE_SIZE,
                page_token=token,
                content_search_spec=spec,
            ),
            timeout=remaining,
            retry=Retry(
                predicate=if_exception_type(exceptions.ServiceUnavailable, exceptions.TooManyRequests),
                initial=0.25,
                maximum=1.0,
                timeout=min(_RETRY_SECONDS, remaining / 3),
            ),
        )
        return next(iter(pages.pages))


def _result(hit: Any) -> SearchResult:
    shown: Mapping[str, Any] = dict(hit.document.derived_struct_data or {})
    own: Mapping[str, Any] = dict(hit.document.struct_data or {})
    uri = str(shown.get("link") or hit.document.content.uri or "")
    title = str(own.get("title") or shown.get("title") or uri.rpartition("/")[2] or hit.document.id)
    title = " ".join(title.split())[:_LONGEST_TITLE]
    return SearchResult(uri=uri or hit.document.name, title=title, texts=tuple(dict.fromkeys(_texts(shown))))


def _texts(shown: Mapping[str, Any]) -> Iterator[str]:
    for name, content in (
        ("extractive_answers", "content"),
        ("extractive_segments", "content"),
        ("snippets", "snippet"),
    ):
        for entry in shown.get(name) or ():
            # A document without a match has a snippet that says so, with another status.
            if entry.get("snippet_status", "SUCCESS") == "SUCCESS" and entry.get(content):
                text = " ".join(html.unescape(_TAG.sub("", str(entry[content]))).split())
                if text:
                    yield text
