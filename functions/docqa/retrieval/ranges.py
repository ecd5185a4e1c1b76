"""Ranges that rules and tables give ("3年以上5年未満", "10–19", "up to €5,000"), and what of a question falls into them."""

import re
from collections.abc import Iterable
from decimal import Decimal

from msgspec import Struct

from a2a_hub.grounding.limits import Limit, limit_of
from a2a_hub.text.normalization import normalise
from a2a_hub.text.quantities import Quantity, quantities

_LOW, _HIGH = (Limit.AT_LEAST, Limit.MORE), (Limit.AT_MOST, Limit.LESS)
# What stands between the two ends of one range: a dash, or words of their limits alone.
_TO = re.compile(r"\s*(?:以上|を?超え?る?|前)?\s*(?:-|~|〜|(?:to|through)\b|から)")
_AHEAD = re.compile(r"前(?:まで|以前)")
_LIMITS_ALONE = re.compile(r"[^\d。.;|]{0,16}")


class _Range(Struct, frozen=True):
    unit: str
    lead: str
    """The text before it."""
    low: Decimal = Decimal("-Infinity")
    high: Decimal = Decimal("Infinity")
    over: bool = False
    under: bool = False

    def holds(self, value: Decimal) -> bool:
        above = self.low < value if self.over else self.low <= value
        return above and (value < self.high if self.under else value <= self.high)

    def narrows(self, other: "_Range") -> bool:
        """Return True if this is a smaller part of the other: "over 15 m/s" of "over 10 m/s"."""
        ends = self.low, self.high
        return (
            self.lead == other.lead
            and ends != (other.low, other.high)
            and other.low <= self.low
            and self.high <= other.high
        )


def measures(text: str) -> list[Quantity]:
    """Return the numbers and amounts of a text in their order; years of the calendar and fractions are none."""
    found = (each for each in quantities(text) if each.kind == "number" and "/" not in each.value)
    return [each for each in found if each.unit or not re.fullmatch(r"(?:19|20)\d\d", each.value)]


def selects(asked: Quantity, text: str, neighbours: Iterable[str] = ()) -> bool | None:
    """Return True if a text has a range that holds what is asked for, and none of its neighbours narrows it.

    False if it has ranges of that unit but no such one; None if it has no range of that unit.
    """
    found = [each for each in _ranges(normalise(text)) if each.unit == asked.unit]
    holding = [each for each in found if each.holds(Decimal(asked.value))]
    if not holding:
        return False if found else None
    others = (each for neighbour in neighbours for each in _ranges(normalise(neighbour)))
    closer = [each for each in others if each.unit == asked.unit and each.holds(Decimal(asked.value))]
    return any(not any(other.narrows(each) for other in closer) for each in holding)


def _ranges(text: str) -> list[_Range]:
    """Return the ranges of a normalised text; an amount without a limit is not a range."""
    given = measures(text)
    found: list[_Range] = []
    while given:
        one, *given = given
        if given and (both := _both(text, one, given[0])):
            found.append(both)
            given.pop(0)
        elif (limit := Limit.AT_LEAST if _AHEAD.match(text, one.end) else limit_of(text, one)) in (*_LOW, *_HIGH):
            found.append(_half(text, one, limit))
    return found


def _half(text: str, given: Quantity, limit: Limit | None) -> _Range:
    lead = text[: given.start]
    if limit in _LOW:
        return _Range(given.unit, lead, low=Decimal(given.value), over=limit is Limit.MORE)
    return _Range(given.unit, lead, high=Decimal(given.value), under=limit is Limit.LESS)


def _both(text: str, one: Quantity, other: Quantity) -> _Range | None:
    """Return the range of which two neighbours are the ends."""
    link, low, high = text[one.end : other.start], limit_of(text, one), limit_of(text, other)
    if low in _HIGH:  # 99%未満97%以上
        one, other, low, high = other, one, high, low
    if _TO.match(link):
        # From 7 to 3 days before.
        if one.unit and Decimal(one.value) > Decimal(other.value):
            one, other, low, high = other, one, high, low
        low, high = (low if low in _LOW else Limit.AT_LEAST), (high if high in _HIGH else Limit.AT_MOST)
    elif not _LIMITS_ALONE.fullmatch(link):
        return None
    if low not in _LOW or high not in _HIGH or one.unit != other.unit or Decimal(one.value) >= Decimal(other.value):
        return None
    first, second = _half(text, one, low), _half(text, other, high)
    return _Range(one.unit, min(first.lead, second.lead, key=len), first.low, second.high, first.over, second.under)
