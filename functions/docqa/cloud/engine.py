"""Document QA on Google Cloud: results of Discovery Engine, compared with their source objects in Cloud Storage."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from msgspec import structs

from a2a_hub.diagnosis import report
from a2a_hub.text.language import Language, answer_language
from functions.docqa.cloud import examination, texts
from functions.docqa.cloud.check_grounding import CheckGrounding
from functions.docqa.cloud.clients import Clients
from functions.docqa.cloud.config import CloudConfig
from functions.docqa.cloud.evidence import MD5_FIELD, documents_of
from functions.docqa.cloud.failure import Cause, Failure, Step, hint_of
from functions.docqa.cloud.search import Chunk, DiscoverySearch
from functions.docqa.cloud.sources import Source, Sources
from functions.docqa.ingestion.editions import in_force
from functions.docqa.model import Document, Hint, Passage, ReadSource, Unverified
from functions.docqa.retrieval.access import Asker
from functions.docqa.retrieval.index_writer import searchable
from functions.docqa.retrieval.query import Group, groups_of
from functions.docqa.retrieval.scoring import FORMER, WeightedGroups, serves
from functions.docqa.retrieval.terms import terms_of
from functions.docqa.search_results import MAX_QUESTION_CHARACTERS, RankedUnit, SearchResults

_STORED_PER_FOUND = 20
_NO_WORD = 0.5


class CloudDocumentQA:
    """The search engine over one data store or engine. Connects with the first question. Thread-safe, and safe across a fork.

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
        self._sources = Sources(self._clients, clock=clock)

    def close(self) -> None:
        """Close connections and threads."""
        self._clients.close()

    @property
    def entailment(self) -> CheckGrounding:
        """The judge of composed sentences."""
        return CheckGrounding(self._config, self._clients)

    def examine(self) -> Sequence[report.Step]:
        """Return the doctor's steps on search and storage."""
        return tuple(
            examination.examine(
                self._config,
                clients=self._clients,
                search=self._search,
                sources=self._sources,
                clock=self._clock,
            )
        )

    def find(
        self, question: str, *, asker: Asker, language: Language | None = None, seconds: float = math.inf
    ) -> SearchResults:
        """Return what the store's chunks say of `question`, within the configured time, or fewer `seconds`.

        Every unit out of an object of Cloud Storage still stands there. Where the search or the objects fail, `failed` and
        `notice` say so, and `hints` say why.
        """
        asked = question[:MAX_QUESTION_CHARACTERS]
        language = language or answer_language(asked)
        deadline = self._clock() + min(self._config.timeout_seconds, seconds)
        try:
            chunks = self._search.find(asked, deadline=deadline, token=asker.token)
        except Failure as failure:
            text = texts.search_failed(failure.cause, language)
            return SearchResults(question=asked, language=language, failed=text, hints=self._hints([failure]))
        objects = {chunk.uri: _md5(chunk) for chunk in chunks if chunk.uri.startswith("gs://")}
        looked_up = self._sources.look_up(objects, deadline=deadline)
        sources = {uri: each for uri, each in looked_up.items() if isinstance(each, Source)}
        failures = {uri: each for uri, each in looked_up.items() if isinstance(each, Failure)}
        readable = [chunk for chunk in chunks if chunk.uri not in failures]
        documents = [_standing_in(document, sources.get(document.uri)) for document in documents_of(readable)]
        for gone in (each.uri for each in documents if not each.passages and each.uri in sources):
            failures[gone] = Failure(step=Step.SOURCE, cause=Cause.CHANGED, resource=gone, detail="changed since")
        hints = self._hints(failures.values())
        unverified = _unverified(chunks, failures)
        passages = _in_order(in_force([each for each in documents if each.passages], self._today()), asked)
        if failures and not passages:
            cause = Counter(failure.cause for failure in failures.values()).most_common(1)[0][0]
            text = texts.unverified(cause, unverified, language)
            return SearchResults(question=asked, language=language, failed=text, hints=hints, unverified=unverified)
        notice = texts.others_unread(len(failures), language) if failures else ""
        if any(passage.uri not in sources for passage in passages):
            notice += texts.as_indexed(language)
        return SearchResults(
            question=asked,
            language=language,
            passages=passages,
            units=_ranked(asked, passages),
            texts={document.uri: document for document in documents}.get,
            notice=notice,
            sources=tuple(ReadSource(uri=uri, generation=str(each.generation)) for uri, each in sources.items()),
            unverified=unverified,
            hints=hints,
        )

    def document(self, uri: str, *, quote: str, asker: Asker) -> Document | str:
        """See `Documents.document`: what the asker's search for the quote finds of the document, if some of it still stands."""
        results = self.find(quote, asker=asker)
        is_found = any(passage.uri == uri for passage in results.passages)
        return (results.texts(uri) if is_found else None) or results.failed

    def _hints(self, failures: Iterable[Failure]) -> tuple[Hint, ...]:
        """Return one hint per remedy, however many documents need it."""
        hints: dict[str, Hint] = {}
        for failure in failures:
            hint = hint_of(failure, self._config, account=self._clients.account)
            hints.setdefault(hint.remedy, hint)
        return tuple(hints.values())


def _md5(chunk: Chunk) -> str | None:
    md5 = chunk.fields.get(MD5_FIELD)
    return md5 if isinstance(md5, str) else None


def _standing_in(document: Document, source: Source | None) -> Document:
    """Return the document with those units that are still in its object, and with the edition that was read there."""
    if source is None or source.text is None:
        return document
    kept = (
        structs.replace(passage, units=tuple(unit for unit in passage.units if source.says(unit.text)))
        for passage in document.passages
    )
    passages = tuple(passage for passage in kept if passage.units)
    return structs.replace(document, passages=passages, edition=source.edition or document.edition)


def _in_order(documents: Sequence[Document], question: str) -> list[Passage]:
    """Return the passages in the search's order; editions not in force come last unless they are asked for."""
    asked = frozenset(terms_of(question))
    current, former = [], []
    for document in documents:
        for passage in document.passages:
            if serves(document.edition, asked):
                current.append(structs.replace(passage, edition=document.edition))
            else:
                former.append(structs.replace(passage, edition=document.edition, score=passage.score * FORMER))
    return [*sorted(current, key=_worst), *sorted(former, key=_worst)]


def _worst(passage: Passage) -> float:
    return -passage.score


def _ranked(question: str, passages: Sequence[Passage]) -> list[RankedUnit]:
    """Return the units, best first: by how much of the question they cover, and by the rank of their chunk."""
    groups = groups_of(question)
    said = [set(terms_of(f"{passage.title} {' '.join(passage.section)} {searchable(passage)}")) for passage in passages]
    return WeightedGroups(groups, [_weight(group, said) for group in groups]).ranked(passages)


def _weight(group: Group, said: Sequence[set[str]]) -> float:
    """Return how much a group says of what is asked for: more, the fewer of the passages found have it.

    What is common among them is rare in the store, and a word that none of them has is taken for as rare. A pair of Japanese
    characters that none has may be no word.
    """
    found = sum(any(terms.issuperset(each) for each in group.alternatives if each) for terms in said)
    total, known = _STORED_PER_FOUND * len(said), found or len(said)
    is_word = found or all(term[0] < "\u3041" for term in group.own)
    return (1.0 if is_word else _NO_WORD) * group.weight * math.log(1 + (total - known + 0.5) / (known + 0.5))


def _unverified(chunks: Sequence[Chunk], failures: Mapping[str, Failure]) -> tuple[Unverified, ...]:
    first: dict[str, Chunk] = {}
    for chunk in chunks:
        first.setdefault(chunk.uri, chunk)
    return tuple(
        Unverified(uri=uri, title=chunk.title, text=texts.shortened(chunk.text), cause=failures[uri].cause)
        for uri, chunk in first.items()
        if uri in failures
    )
