"""From a question to the units that answer it: one fact, a topic's main sentences, or both sides of a comparison."""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct, structs

from functions.docqa.answers.citations import with_exceptions, with_what_follows
from functions.docqa.answers.comparison import for_each_level, sides
from functions.docqa.answers.extraction import Found, extract, nearest, siblings
from functions.docqa.answers.named_sources import documents_named, named_in
from functions.docqa.answers.topics import Treated, asked_by_heading, headed, main_sentences, treating
from functions.docqa.model import Passage
from functions.docqa.questions.expressions import ACTED_ON
from functions.docqa.questions.question import Question, analyse
from functions.docqa.search.corpus import FIRST_PASSAGES, Corpus
from functions.docqa.vocabulary.words import normalise

_SECOND_PART = re.compile(
    r",? and (?=(?:by |for |from |to |until |at |with |in )?(?:what|which|who|whom|when|where|why|how)\b)",
    re.IGNORECASE,
)
ENOUGH_COVERAGE, _SURE_COVERAGE = 0.6, 0.85
_OFFERS = 3
_NEAR_MISSES, _NEAR_COVERAGE, _NEAR_CHARACTERS = 3, 0.18, 600


class Offer(Struct, frozen=True):
    """Units that answer together; `labels` name, for each, the side of a comparison it stands for."""

    told: list[Found]
    labels: tuple[str, ...] = ()


class Search(Struct):
    """What was looked at on the way to an answer."""

    passages: list[Passage] = []
    found: list[Found] = []


def offers(corpus: Corpus, asked: Question, seen: Search) -> Iterator[Offer]:
    """The answers that may be given, the best first; `seen` is filled with what was found for `asked` itself."""
    compared = sides(asked.text)
    if compared:
        each = [next(_of_one(corpus, analyse(side, language=asked.language), Search()), None) for side in compared]
        if each[0] and each[1] and not _differ(each[0], each[1]):
            yield each[0]
        elif each[0] and each[1]:
            labels = [side for side, offer in zip(compared, each, strict=True) if offer for _ in offer.told]
            yield Offer([*each[0].told, *each[1].told], tuple(labels))
    yield from _of_one(corpus, asked, seen)
    yield from _of_each_level(corpus, asked)
    first = _SECOND_PART.split(asked.text, maxsplit=1)[0]
    if first != asked.text:
        yield from _of_one(corpus, analyse(first, language=asked.language), seen)


def _of_each_level(corpus: Corpus, asked: Question) -> Iterator[Offer]:
    """What answers a question on several levels: on each of them, or not at all."""
    levels = [analyse(text, language=asked.language) for text in for_each_level(asked.text)]
    told: list[Found] = []
    for level in levels:
        offer = next(_of_one(corpus, level, Search()), None)
        if offer is None:
            return
        told.extend(offer.told)
    if told:
        yield Offer(told)


def near_misses(corpus: Corpus, asked: Question, seen: Search) -> list[Found]:
    """The few units that say most of a question that nothing answers; none where nothing is near."""
    near = nearest(corpus.adapted(asked), seen.passages, corpus.rarity)
    shown: list[Found] = []
    for entry in near:
        if len(entry.unit.text) <= _NEAR_CHARACTERS and not any(_is_told_by(entry, other) for other in shown):
            shown.append(entry)
        if len(shown) == _NEAR_MISSES:
            break
    return [entry for entry in shown if entry.coverage >= _NEAR_COVERAGE]


def _is_told_by(entry: Found, shown: Found) -> bool:
    """Whether a quote stands in one that is shown: an item in its list, or another copy of the text."""
    return " ".join(entry.unit.text.split()) in " ".join(shown.unit.text.split())


def _differ(first: Offer, second: Offer) -> bool:
    def places(offer: Offer) -> set[tuple[str, int]]:
        return {(found.passage.id, found.number) for found in offer.told}

    return not places(first) & places(second)


def _of_one(corpus: Corpus, asked: Question, seen: Search) -> Iterator[Offer]:
    named = named_in(normalise(asked.text))
    paths = documents_named(named.name, corpus.documents()) if named else frozenset()
    if named and paths:
        inner = analyse(named.rest, language=asked.language)
        if inner.concepts:
            within = structs.replace(
                inner,
                sources=paths,
                topic=asked.topic,
                years=asked.years,
                former=asked.former,
                entities=asked.entities,
            )
            yield from _found(corpus, within, seen)
            if named.binding:
                return
            asked = structs.replace(within, sources=frozenset())
    yield from _found(corpus, asked, seen)


def _found(corpus: Corpus, asked: Question, seen: Search) -> Iterator[Offer]:
    asked = corpus.adapted(asked)
    passages = corpus.search(asked, first=True)
    yield from _on_topic(corpus, asked, asked_by_heading(asked, passages)[:1])
    if asked.topic and not asked.asked.strict:
        yield from _on_topic(corpus, asked, treating(asked, passages)[:_OFFERS])
    found = extract(asked, passages, corpus.rarity)
    if (not found or found[0].coverage < _SURE_COVERAGE) and len(passages) == FIRST_PASSAGES:
        passages = corpus.search(asked)
        found = extract(asked, passages, corpus.rarity)
    seen.passages, seen.found = seen.passages or passages, seen.found or found
    yield from _facts(asked, found)
    if not asked.asked.strict:
        yield from _on_topic(corpus, asked, headed(treating(asked, passages))[:1])
    yield from _facts(asked, extract(asked, passages, corpus.rarity, lenient=True, opening=corpus.opening))


def _facts(asked: Question, found: Sequence[Found]) -> Iterator[Offer]:
    """The best units, each with what must be told along."""
    for rank, best in enumerate(found[:_OFFERS]):
        if best.coverage >= ENOUGH_COVERAGE:
            same = siblings(asked, found[rank:])
            if asked.kind in ACTED_ON and len(following := with_what_follows(best)) > 1:
                same = following
            yield Offer(with_exceptions(best) if len(same) == 1 else same)


def _on_topic(corpus: Corpus, asked: Question, treated: Sequence[Treated]) -> Iterator[Offer]:
    for entry in treated:
        told = main_sentences(asked, entry, corpus.beside(entry.passage))
        if told:
            yield Offer(told)
