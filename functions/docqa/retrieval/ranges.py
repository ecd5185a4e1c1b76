"""Ranges that rules and tables give ("3年以上5年未満", "10–19", "up to €5,000"), and what of a question falls into them."""

import re
from decimal import Decimal

from msgspec import Struct

from a2a_hub.grounding.limits import Limit, limit_of
from a2a_hub.text.normalization import normalise
from a2a_hub.text.quantities import Quantity, quantities

_LOW, _HIGH = (Limit.AT_LEAST, Limit.MORE), (Limit.AT_MOST, Limit.LESS)
# What stands between the two ends of one range: a dash, or words of their limits alone.
_TO = re.compile(r"\s*(?:以上|を?超え?る?)?\s*(?:-|~|〜|(?:to|through)\b|から)")
_LIMITS_ALONE = re.compile(r"[^\d。.;|]{0,16}")


class _Range(Struct, frozen=True):
    unit: str
    low: Decimal = Decimal("-Infinity")
    high: Decimal = Decimal("Infinity")
    over: bool = False
    under: bool = False

    def holds(self, value: Decimal) -> bool:
        above = self.low < value if self.over else self.low <= value
        return above and (value < self.high if self.under else value <= self.high)


def measures(text: str) -> list[Quantity]:
    """Return the numbers and amounts of a text in their order; years of the calendar and fractions are none."""
    found = (each for each in quantities(text) if each.kind == "number" and "/" not in each.value)
    return [each for each in found if each.unit or not re.fullmatch(r"(?:19|20)\d\d", each.value)]


def selects(asked: Quantity, text: str) -> bool | None:
    """Return True if a text has a range that holds what is asked for, False if it has ranges of that unit but none that does.

    None if it has no such range.
    """
    found = [each.holds(Decimal(asked.value)) for each in _ranges(normalise(text)) if each.unit == asked.unit]
    return any(found) if found else None


def _ranges(text: str) -> list[_Range]:
    """Return the ranges of a normalised text; an amount without a limit is not a range."""
    given = measures(text)
    found: list[_Range] = []
    while given:
        one, *given = given
        if given and (both := _both(text, one, given[0])):
            found.append(both)
            given.pop(0)
        elif (limit := limit_of(text, one)) in (*_LOW, *_HIGH):
            found.append(_half(one, limit))
    return found


def _half(given: Quantity, limit: Limit | None) -> _Range:
    if limit in _LOW:
        return _Range(given.unit, low=Decimal(given.value), over=limit is Limit.MORE)
    return _Range(given.unit, high=Decimal(given.value), under=limit is Limit.LESS)


def _both(text: str, one: Quantity, other: Quantity) -> _Range | None:
    """Return the range of which two neighbours are the ends."""
    link, low, high = text[one.end : other.start], limit_of(text, one), limit_of(text, other)
    if low in _HIGH:  # 99%未満97%以上
        one, other, low, high = other, one, high, low
    if _TO.match(link):
        low, high = low or Limit.AT_LEAST, high or Limit.AT_MOST
    elif not _LIMITS_ALONE.fullmatch(link):
        return None
    if low not in _LOW or high not in _HIGH or one.unit != other.unit or Decimal(one.value) >= Decimal(other.value):
        return None
    first, second = _half(one, low), _half(other, high)
    return _Range(one.unit, first.low, second.high, first.over, second.under)
