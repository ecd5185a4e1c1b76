"""Figures that no quote has and that follow from those it has: a sum, a difference, a product, a share."""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations

from a2a_hub.text.quantities import Quantity

_RECKONED = re.compile(
    r"\b(?:total\w*|together|altogether|sum|overall|combined|adds?\sup|comes?\sto|amounts?\sto|makes?|would|each|split"
    r"|half|left|remain\w*|difference|leaves?|double|twice|gr[eo]w\w*|increas\w+|decreas\w+"
    r"|(?:more|less|\w+er)\s(?:\w+\s){0,3}than)\b"
    r"|合計|合わせ|総額|総計|小計|差[引額し]|残[りる高額]|半[額分値]|なら|ずつ|より|増|減|上回|下回|高く|低く|安く|上昇|低下",
    re.IGNORECASE,
)
_MOST_FIGURES = 16


def is_reckoned(result: Quantity, given: Sequence[Quantity], sentence: str) -> bool:
    """Return True if the sentence reckons, and the number follows from two of the given ones."""
    if not _is_number(result) or not _RECKONED.search(sentence):
        return False
    known = [each for each in given if _is_number(each)][:_MOST_FIGURES]
    wanted = Fraction(result.value)
    alike = [Fraction(each.value) for each in known if each.unit == result.unit or not result.unit]
    if wanted in map(sum, [*combinations(alike, 2), *combinations(alike, 3)]):
        return True
    return any(wanted in _pairs(result.unit, *pair) for pair in permutations(known, 2))


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
