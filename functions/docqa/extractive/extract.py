"""Chooses the quotes that answer a question, and decides whether they settle it.

A wrong assertion is worth ten abstentions: a quote is asserted only if it has every number, code and name of the question and
the kind of thing that is asked for, and says enough of the question's words, more than any other.
A question in hiragana alone, such as 「ありがとう」, has only pairs of letters to be compared, which prove nothing; nor does
a quote settle what is left of a follow-up without its question ("and in Tokyo?").
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from a2a_hub.text.follow_up import asks_once_more, is_follow_up, is_small_talk, meant_instead
from a2a_hub.text.normalization import normalise
from a2a_hub.text.quantities import blanked, quantities
from functions.docqa.extractive.confidence import MIN_CONFIDENCE, WIDE_MARGIN, Features, confidence
from functions.docqa.extractive.kinds import has, kind_of
from functions.docqa.model import Unit
from functions.docqa.retrieval.query import STOP_WORDS, beginnings_of, phrases_of, words_of
from functions.docqa.retrieval.ranges import measures, selects
from functions.docqa.retrieval.scoring import serves
from functions.docqa.retrieval.terms import terms_of
from functions.docqa.search_results import RankedUnit, SearchResults, Texts

MAX_SHOWN = 3
_CONSIDERED = 40
_MAX_SHOWN_CHARACTERS = 400
_NAME = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][A-Za-z0-9]*\b|\b[A-Z]{2,}[0-9]*\b")
_NOT_HIRAGANA = re.compile(r"[^\W_\u3041-\u309fー]")
# One word names a subject, and asks nothing of it.
_ONE_WORD = re.compile(r"\W*(?:[a-z0-9-]+|[\u3400-\u9fff々〆ヶ]+|[\u30a1-\u30fa\u30fc]+)\W*")
# 12 of 12,000 is none.
_TOKEN = re.compile(r"(?<![\d][.,])(?<![a-z0-9])[a-z0-9]+(?![.,]?\d)")
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9-]+")
_EXCEPTION = re.compile(
    r"(?:however|but|except|unless|notwithstanding|exceptions?)\b|ただし|但し|なお|例外", re.IGNORECASE
)
_ORDER = re.compile(
    r"(?:ignore|disregard|forget) (?:all |any |the |your )*(?:previous|prior|above|earlier)\b|\bsystem prompt\b"
    r"|(?:指示|命令)を(?:すべて)?無視",
    re.IGNORECASE,
)
_NO_NAMES = frozenset({"i", "ok", "faq", "pc", "id", "eu", "url", "japanese", "english"})


@dataclass(frozen=True, slots=True)
class Extract:
    """The quotes of an answer, the best first; `is_settled` if they are asserted."""

    quotes: Sequence[RankedUnit]
    is_settled: bool


def extract(results: SearchResults, *, min_confidence: float = MIN_CONFIDENCE) -> Extract:
    """Return the quotes that answer a question best, asserted from a confidence of `min_confidence`."""
    found = _Candidates(results)
    if (
        found.best is not None
        and _is_complete(results.question)
        and found.fits_follow_up()
        and confidence(found.features()) >= min_confidence
    ):
        return Extract([found.best, *_exception(found.best)], is_settled=True)
    shown = _one_per_passage([*filter(None, [found.best]), *found.units])[:MAX_SHOWN]
    shown = [in_context(each, results.texts) for each in shown]
    if not _say_something_of(results.question, shown):
        return Extract((), is_settled=False)
    return Extract(shown, is_settled=False)


def features_of(results: SearchResults) -> Features | None:
    """Return the features of the best quote; None if there is no candidate."""
    found = _Candidates(results)
    return found.features() if found.best else None


def _say_something_of(question: str, units: Sequence[RankedUnit]) -> bool:
    """Return False if none of the units says a word of the question, or a code of it; endings and single letters are no words."""
    phrases, beginnings = phrases_of(question), beginnings_of(question)
    codes = {each.term for each in quantities(question) if each.kind == "code"}
    texts = [normalise(surroundings(unit)) for unit in units]
    if not phrases or any(not codes.isdisjoint(each.term for each in quantities(text)) for text in texts if codes):
        return True
    if any(beginning in text for text in texts for beginning in beginnings):
        return True
    return any(terms.issuperset(phrase) for terms in map(frozenset, map(terms_of, texts)) for phrase in phrases)


def _is_complete(question: str) -> bool:
    whole = not is_follow_up(question) and not is_small_talk(question)
    text = normalise(question)
    return whole and bool(_NOT_HIRAGANA.search(text)) and not _ONE_WORD.fullmatch(text)


class _Candidates:
    """The candidate units for a question: those that may answer it, those that fit its demands, and the best of them."""

    def __init__(self, results: SearchResults) -> None:
        self._results = results
        self._asked = asked = _Demands(results.question)
        units = [unit for unit in results.units[:_CONSIDERED] if asked.may_answer(unit)]
        self._fitting = [unit for unit in units if asked.is_fit(unit)]
        # "What's 12 * 9?" is not about all that has a 9.
        self.units = units if asked.has_words else self._fitting
        selected = (unit for unit in self._fitting if asked.selects(unit))
        self.best = next(selected, None) or next(iter(self._fitting), None)

    def fits_follow_up(self) -> bool:
        """Return False if the best unit has not all words of a correction, or no word of another follow-up.

        Such a unit answers the wrong question, or the previous one again.
        """
        before, _, last = self._results.question.rpartition("\n")
        meant = meant_instead(last)
        if not before or self.best is None or not (meant or is_follow_up(last)) or asks_once_more(last):
            return True
        terms = frozenset(terms_of(surroundings(self.best)))
        said = [any(terms.issuperset(phrase) for phrase in word) for word in words_of(meant or last)]
        return all(said) if meant else any(said) or not said

    def features(self) -> Features:
        """Return the features of the best unit, which must exist."""
        best, results = self.best, self._results
        assert best is not None
        terms = frozenset(terms_of(surroundings(best)))
        words = words_of(results.question)
        unsaid = [word for word in words if not any(terms.issuperset(phrase) for phrase in word)]
        rivals = (unit.score for unit in self._fitting if unit.unit.text != best.unit.text)
        return Features(
            unsaid=len(unsaid) / (len(words) or 1),
            margin=min(WIDE_MARGIN, 1 - max(rivals, default=0.0) / (best.score or 1.0)),
            said=min(1.0, best.own + best.governing),
            selects=bool(self._asked.selects(best)),
            leads=best.passage.score >= max(unit.passage.score for unit in self._fitting),
        )


class _Demands:
    """The demands of a question: a kind of thing, for its own numbers, codes and names."""

    def __init__(self, question: str) -> None:
        self.kind = kind_of(question)
        self._terms = frozenset(terms_of(question))
        words = frozenset(terms_of(blanked(question, "number", "date", "time"))) - STOP_WORDS
        self.has_words = any(term[1:] or not term.isascii() for term in words)
        self._measures = measures(normalise(question))
        self._figures = {each.term for each in quantities(question) if each.kind != "fiscal"}
        names = _NAME.findall(question) if question.isascii() else _LATIN.findall(question)
        self._names = {name for name in map(normalise, names) if name not in _NO_NAMES and name.isalpha() and name[1:]}

    def may_answer(self, ranked: RankedUnit) -> bool:
        """Return True for a unit of the requested edition, or of one in force, that is no question and no instruction to a
        model.
        """
        text = ranked.unit.text
        return (
            serves(ranked.passage.edition, self._terms)
            and not text.rstrip("*_ ").endswith(("?", "？"))
            and not _ORDER.search(text)
        )

    def selects(self, ranked: RankedUnit) -> bool | None:
        """Return True if the unit's ranges hold the numbers of the question, and no other unit's closer; None without ranges."""
        others = [unit.text for unit in ranked.passage.units if unit.text != ranked.unit.text]
        found = {selects(each, ranked.unit.text, others) for each in self._measures} - {None}
        return all(found) if found else None

    def is_fit(self, ranked: RankedUnit) -> bool:
        """Return True for a unit that has the kind of thing, the numbers, the codes and the names that are asked for."""
        if not has(ranked.unit.text, self.kind):
            return False
        if not self.has_words and all(map(str.isdigit, self._figures)):
            return False
        selected = self.selects(ranked)
        needed = self._names if selected else self._names | self._figures
        if selected is False or not needed:
            return selected is not False
        text = surroundings(ranked)
        said = {each.term for each in quantities(text)} | set(_TOKEN.findall(normalise(text)))
        return needed <= said


def surroundings(unit: RankedUnit) -> str:
    """Return a unit with all that governs it."""
    passage = unit.passage
    return "\n".join(
        (passage.title, *passage.section, passage.place, *unit.unit.context, unit.unit.header, unit.unit.text)
    )


def in_context(ranked: RankedUnit, texts: Texts) -> RankedUnit:
    """Return a unit with its neighbours, those behind it first, as many as fit into a quote that is shown."""
    units = ranked.passage.units
    first = last = units.index(ranked.unit)
    while first > 0 or last + 1 < len(units):
        if last + 1 < len(units) and _fits(units[last + 1], units[first : last + 2], _MAX_SHOWN_CHARACTERS):
            last += 1
        elif first > 0 and _fits(units[first - 1], units[first - 1 : last + 1], _MAX_SHOWN_CHARACTERS):
            first -= 1
        else:
            break
    return _joined(ranked, units[first : last + 1], texts)


def _exception(best: RankedUnit) -> list[RankedUnit]:
    """Return the next sentence if it states an exception to the best unit."""
    units = best.passage.units
    after = units.index(best.unit) + 1
    is_one = after < len(units) and units[after].kind is best.unit.kind and _EXCEPTION.match(units[after].text)
    return [replace(best, unit=units[after])] if is_one else []


def _fits(added: Unit, units: Sequence[Unit], max_characters: int) -> bool:
    return max(unit.end for unit in units) - units[0].start <= max_characters and not _ORDER.search(added.text)


def _joined(ranked: RankedUnit, units: Sequence[Unit], texts: Texts) -> RankedUnit:
    """Return the unit extended to the source text from the first to the last of `units`."""
    document = texts(ranked.passage.uri) if len(units) > 1 else None
    if document is None:
        return ranked
    start, end = units[0].start, max(unit.end for unit in units)
    return replace(ranked, unit=structs.replace(ranked.unit, start=start, end=end, text=document.text[start:end]))


def _one_per_passage(units: Sequence[RankedUnit]) -> list[RankedUnit]:
    """Return the first unit of each passage, without repeated texts."""
    found: list[RankedUnit] = []
    for unit in units:
        if all(unit.passage.id != other.passage.id and unit.unit.text != other.unit.text for other in found):
            found.append(unit)
    return found
