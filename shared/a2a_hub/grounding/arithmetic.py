"""Figures that no quote has and that follow from those it has: a sum, a difference, a product, a share, a half."""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations

from a2a_hub.text.quantities import Quantity

_RECKONED = re.compile(
    r"\b(?:total\w*|together|altogether|sum|overall|combined|adds?\sup|comes?\sto|amounts?\sto|makes?|would|each|split"
    r"|hal(?:f|ves?|ved)|plus|minus|times|left|remain\w*|difference|leaves?|double|twice|gr[eo]w\w*|increas\w+|decreas\w+"
    r"|(?:more|less|\w+er)\s(?:\w+\s){0,3}than)\b"
    r"|合計|合わせ|総額|総計|小計|差|残[りる高額]|半[額分値]|なら|ずつ|より|増|減|上回|下回|高く|低く|安く|上昇|低下"
    r"|(?:[%％割]|per\s?cent|パーセント)\s?(?:of|[のにはでを])|[+＋×÷=＝*]|\d[^\d\s]{0,3}\s?[-－−–]\s?[$€£¥]?\d",
    re.IGNORECASE,
)
_HALF = re.compile(r"\bhal(?:f|ves?|ved)\b|\btwice\b|\bdoubled?\b|半[額分値減]|[2２二]倍", re.IGNORECASE)
_ROUNDED = re.compile(r"\bround(?:ed|s|ing)?\b|切り?上げ|切り?捨て|四捨五入", re.IGNORECASE)
_MOST_FIGURES, _MOST_STATED = 16, 8


def is_reckoned(result: Quantity, given: Sequence[Quantity], sentence: str, *, stated: Sequence[Quantity] = ()) -> bool:
    """Return True if the sentence reckons, and the number follows from two of the given ones, or three that it states itself.

    `stated` are figures of the sentence that the quotes or the question have.
    """
    if not _is_number(result) or not _RECKONED.search(sentence):
        return False
    terms = [each for each in stated if _is_number(each)][:_MOST_STATED]
    known = [*terms, *filter(_is_number, given)][:_MOST_FIGURES]
    wanted = Fraction(result.value)
    alike = [Fraction(each.value) for each in known if each.unit == result.unit or not result.unit]
    if wanted in map(sum, [*combinations(alike, 2), *combinations(alike, 3)]):
        return True
    found = {value for pair in permutations(known, 2) for value in _pairs(result.unit, *pair)}
    if wanted in found or (
        _ROUNDED.search(sentence) and wanted in {int(value) for each in found for value in (each, each + 1)}
    ):
        return True
    if _HALF.search(sentence) and any(wanted in (value / 2, value * 2) for value in alike):
        return True
    values = [Fraction(each.value) for each in terms]
    return any(wanted in (a + b * c, a - b * c, a * b - c) for a, b, c in permutations(values, 3))


def _is_number(quantity: Quantity) -> bool:
    return quantity.kind == "number" and "/" not in quantity.value


def _pairs(unit: str, one: Quantity, other: Quantity) -> Iterator[Fraction]:
    first, second = Fraction(one.value), Fraction(other.value)
    if unit == "percent" and one.unit == other.unit and second:
        yield 100 * first / second
    if one.unit != unit:
        return
    if other.unit == unit:
        yield first - second
    elif other.unit == "percent":
        yield first * second / 100
    else:
        yield first * second
        if second:
            yield first / second
