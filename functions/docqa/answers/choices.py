"""What somebody who reads may choose an answer from, where nothing answers by its words: the quotes near the question."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Protocol

from msgspec import Struct

from functions.docqa.answers.answering import Offer, Search
from functions.docqa.answers.citations import with_exceptions
from functions.docqa.answers.extraction import Found, nearest
from functions.docqa.questions.question import Question
from functions.docqa.search.corpus import Corpus

MOST_QUOTES, MOST_CHOSEN = 60, 3
_MOST_CHARACTERS, _LONGEST_QUOTE, _LONGEST_PART = 12_000, 600, 200


class Quote(Struct, frozen=True):
    """A quote as a reader needs it: `place` is its document and headings, `about` what governs it, outermost first."""

    text: str
    place: tuple[str, ...]
    about: tuple[str, ...] = ()


class Select(Protocol):
    """Reads the quotes, and says which of them answer."""

    def __call__(self, question: str, quotes: Sequence[Quote], *, seconds: float | None = None) -> Sequence[int]:
        """The numbers, counted from 1, of the quotes that together answer `question`; none where it cannot say.

        It takes no longer than `seconds`, or as long as it thinks right.
        """
        ...


def chosen(corpus: Corpus, asked: Question, seen: Search, select: Select | None) -> Iterator[Offer]:
    """What `select` chooses among the units of `seen` that the question does not rule out, each with its exceptions.

    Nobody is asked where there are none. A number that no quote has chooses nothing.
    """
    found = _near(corpus, asked, seen) if select else []
    if not select or not found:
        return
    numbers = dict.fromkeys(select(asked.text, [_quote(each) for each in found]))
    told: dict[tuple[str, int], Found] = {}
    for number in [number for number in numbers if 0 < number <= len(found)][:MOST_CHOSEN]:
        for each in with_exceptions(found[number - 1]):
            told.setdefault((each.passage.id, each.number), each)
    if told:
        yield Offer(list(told.values()))


def _near(corpus: Corpus, asked: Question, seen: Search) -> list[Found]:
    """The nearest units, as many as may be shown, those of one document together and in its order."""
    near = nearest(corpus.adapted(asked), seen.passages, corpus.rarity, surely=False)
    short = (each for each in near if len(each.unit.text) <= _LONGEST_QUOTE)
    kept: list[Found] = []
    left = _MOST_CHARACTERS
    for each in islice(short, MOST_QUOTES):
        quote = _quote(each)
        left -= sum(map(len, (quote.text, *quote.place, *quote.about)))
        if left < 0:
            break
        kept.append(each)
    documents = list(dict.fromkeys(each.passage.uri for each in kept))
    return sorted(kept, key=lambda each: (documents.index(each.passage.uri), each.unit.start))


def _quote(found: Found) -> Quote:
    unit, passage = found.unit, found.passage
    about = (*reversed(unit.context), unit.header)
    return Quote(
        text=unit.text,
        place=tuple(part[:_LONGEST_PART] for part in dict.fromkeys((passage.title, *passage.section))),
        about=tuple(part[:_LONGEST_PART] for part in about if part),
    )
