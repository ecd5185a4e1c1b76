"""Document QA on Google Cloud: search, read the sources, then the extraction and the evidence check of the embedded corpus."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import closing
from datetime import date
from functools import partial
from typing import Any

from msgspec import structs

from a2a_hub.diagnosis import report
from functions.docqa.answers.choices import Select
from functions.docqa.cloud import examination, texts
from functions.docqa.cloud.clients import Clients
from functions.docqa.cloud.config import CloudConfig
from functions.docqa.cloud.failure import Cause, CloudFailure, Failure, Step, failure_of
from functions.docqa.cloud.remedies import remedy
from functions.docqa.cloud.search import DiscoverySearch, SearchResult
from functions.docqa.cloud.sources import Source, Sources
from functions.docqa.engine import MAX_QUESTION_CHARACTERS, answer_from
from functions.docqa.model import DocAnswer, Hint, ReadSource, Unverified
from functions.docqa.questions.question import Question, analyse
from functions.docqa.search import index
from functions.docqa.search.corpus import Corpus


class CloudDocumentQA:
    """Answers questions from one data store or engine. Opens nothing before the first question. Thread-safe, across a fork too.

    `credentials` gives google-auth credentials, by default Application Default Credentials; `clock` counts seconds.
    """

    def __init__(
        self,
        config: CloudConfig,
        *,
        credentials: Callable[[], Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
        today: Callable[[], date] = date.today,
    ) -> None:
        self._config = config
        self._clock = clock
        self._today = today
        self._clients = Clients(config, credentials=credentials)
        self._search = DiscoverySearch(config, self._clients, clock=clock)
        self._sources = Sources(config, self._clients, clock=clock)

    def close(self) -> None:
        """Lets go of connections and threads."""
        self._clients.close()

    def examine(self) -> Sequence[report.Step]:
        """What works of search and storage, and what does not."""
        return tuple(
            examination.examine(
                self._config,
                clients=self._clients,
                search=self._search,
                sources=self._sources,
                clock=self._clock,
            )
        )

    def answer(self, question: str, *, language: str | None = None, select: Select | None = None) -> DocAnswer:
        """The answer to `question`, in its language or in `language` ("en", "ja"), within the configured time.

        Grounded answers cite what stands in the sources. Where the search or the sources fail, the text says so, and
        `hints` say why. Where nothing answers, `select` may choose among quotes, in what is left of the time.
        """
        asked = analyse(question[:MAX_QUESTION_CHARACTERS], language=language)
        deadline = self._clock() + self._config.timeout_seconds
        try:
            results = self._search.find(asked.text, deadline=deadline)
        except CloudFailure as error:
            text = texts.search_failed(error.failure.cause, asked.language)
            return _ungrounded(text, hints=self._hints([error.failure]))
        if not results:
            return _ungrounded(texts.nothing_found(asked.language))
        read, failures = self._read(results, deadline)
        left = select and partial(select, seconds=deadline - self._clock())
        answer = self._answer_from(read, asked, left)
        hints = self._hints(failures.values())
        sources = tuple(ReadSource(uri=source.document.uri, generation=str(source.generation)) for source in read)
        if answer.grounded or not failures:
            cited = {citation.uri for citation in answer.citations}
            text = answer.text
            if failures:
                text += texts.others_unread(len(failures), asked.language)
            kept = tuple(source for source in sources if source.uri in cited)
            return structs.replace(answer, text=text, sources=kept, hints=hints)
        unread = [result for result in results if result.uri in failures]
        cause = _commonest(failures.values())
        return _ungrounded(
            texts.unverified(cause, unread, asked.language),
            unverified=tuple(
                Unverified(
                    uri=result.uri,
                    title=result.title,
                    text=texts.shortened(result.texts[0]) if result.texts else "",
                    cause=failures[result.uri].cause,
                )
                for result in unread
            ),
            hints=hints,
        )

    def _read(self, results: Sequence[SearchResult], deadline: float) -> tuple[list[Source], dict[str, Failure]]:
        """The sources of `results` in their order, and why the others could not be read, by URI."""
        running: dict[str, Future[Source]] = {
            result.uri: self._clients.threads.submit(self._sources.read, result.uri, deadline=deadline)
            for result in results
        }
        read: list[Source] = []
        failures: dict[str, Failure] = {}
        for uri, future in running.items():
            try:
                read.append(future.result(timeout=max(0.0, deadline - self._clock())))
            except FutureTimeout:
                future.cancel()
                failures[uri] = Failure(step=Step.SOURCE, cause=Cause.TIMEOUT, resource=uri, detail="not read in time")
            except CloudFailure as error:
                failures[uri] = error.failure
            except Exception as error:
                failures[uri] = failure_of(error, step=Step.SOURCE, resource=uri)
        return read, failures

    def _answer_from(self, read: Sequence[Source], asked: Question, select: Select | None) -> DocAnswer:
        with closing(index.in_memory([source.document for source in read], self._today())) as connection:
            return answer_from(Corpus(connection), asked, select)

    def _hints(self, failures: Iterable[Failure]) -> tuple[Hint, ...]:
        """One hint for each thing to be done, however many documents it stands in the way of."""
        account = self._clients.account
        hints: dict[str, Hint] = {}
        for failure in failures:
            mends = remedy(failure, self._config, account=account)
            hints.setdefault(
                mends,
                Hint(
                    step=failure.step,
                    cause=failure.cause,
                    resource=failure.resource,
                    detail=failure.detail,
                    remedy=mends,
                ),
            )
        return tuple(hints.values())


def _commonest(failures: Iterable[Failure]) -> Cause:
    return Counter(failure.cause for failure in failures).most_common(1)[0][0]


def _ungrounded(text: str, *, unverified: tuple[Unverified, ...] = (), hints: tuple[Hint, ...] = ()) -> DocAnswer:
    return DocAnswer(text=text, citations=(), grounded=False, unverified=unverified, hints=hints)
