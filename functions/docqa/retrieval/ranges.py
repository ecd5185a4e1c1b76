"""Ranges that rules and tables give ("3年以上5年未満", "10–19", "up to €5,000"), and what of a question falls into them."""

import re
from decimal import Decimal
from itertools import pairwise

from msgspec import Struct, structs

from a2a_hub.grounding.limits import Limit, limit_of
from a2a_hub.text.normalization import normalise
from a2a_hub.text.quantities import Quantity, quantities
from a2a_hub.text.units import SIGNS

_LOW, _HIGH = (Limit.AT_LEAST, Limit.MORE), (Limit.AT_MOST, Limit.LESS)
# What stands between the two ends of one range: a dash, or words of their limits alone.
_TO = re.compile(r"\s*(?:以上|を?超え?る?)?\s*(?:-|~|〜|(?:to|through)\b|から)")
_LIMITS_ALONE = re.compile(r"[^\d。.;]{0,16}")
_BETWEEN = re.compile(r"\bbetween[^\d]{0,4}$")
_COUNTED = re.compile(
    r"\s?-?(?!(?:to|or|and|from|of|in|on|at|is|are|for|with|by|per|than|but|as|up|the|if|through)\b)"
    r"(?P<word>[a-z]{1,14})(?![a-z])|(?P<counter>[\u3400-\u9fff])(?<![以超未前後目万億])"
)
_LABEL = re.compile(r"([a-z]{2,20}|[\u30a0-\u30ff\u3400-\u9fff]{1,8})\s*$")
_CODE = re.compile(r"([a-z]+)[-_\s]*(\d+)")
# An age is so many years; hours and days are compared in minutes.
_COMPARED = {
    "age": (Decimal(12), "month"),
    "h": (Decimal(60), "min"),
    "d": (Decimal(1_440), "min"),
    "s": (1 / Decimal(60), "min"),
}
_CELLS = " | "


class Measure(Struct, frozen=True):
    """So much of a unit; `unit` is "" for a bare number, and `label` is the word before it ("band" of "pay band 3")."""

    value: Decimal
    unit: str
    label: str
    start: int
    end: int
    limit: Limit | None = None


class _Range(Struct, frozen=True):
    unit: str
    low: Decimal = Decimal("-Infinity")
    high: Decimal = Decimal("Infinity")
    over: bool = False
    under: bool = False

    def holds(self, value: Decimal) -> bool:
        above = self.low < value if self.over else self.low <= value
        return above and (value < self.high if self.under else value <= self.high)


def measures(text: str) -> list[Measure]:
    """Return the numbers, amounts, times and codes of a question in their order; years of the calendar are none.

    `start` and `end` are positions in the normalised text.
    """
    return _measures(normalise(text))


def selects(asked: Measure, unit_text: str, header: str = "") -> bool | None:
    """Return True if the text or table row has a range that holds what is asked for, False if it has ranges of that unit, but
    none that does, None if it has no such range.

    A first cell that is nothing but a number or a code is a range of one, if its column has the name that the question gives it.
    """
    cells, names = normalise(unit_text).split(_CELLS), normalise(header).split(_CELLS)
    names = [""] * (len(cells) - len(names)) + names[-len(cells) :]
    found = []
    for number, (cell, name) in enumerate(zip(cells, names, strict=True)):
        ranges = _ranges(cell) or (_only(asked, cell, name) if number == 0 else [])
        found += [each.holds(asked.value) for each in ranges if _is_of(each, asked.unit, name)]
    return any(found) if found else None


def _is_of(given: _Range, unit: str, name: str) -> bool:
    """Return True if a range is of a unit; one without any is of that which names its column."""
    if given.unit or not name or not unit:
        return given.unit == unit
    named = {each.unit for word in re.findall(r"[a-z]+|%|[\u3400-\u9fff]", name) for each in quantities(f"1{word}")}
    named = {_compared(Decimal(), unit)[1] for unit in filter(None, named)}
    named |= {unit for sign, unit in SIGNS.items() if sign in name}
    return unit in named or not named


def _only(asked: Measure, cell: str, name: str) -> list[_Range]:
    found = _measures(cell)
    if len(found) != 1 or (cell[: found[0].start] + cell[found[0].end :]).strip():
        return []
    same = asked.unit.startswith("code") and found[0].unit == asked.unit
    named = not found[0].unit and asked.label and name.removesuffix("s").endswith(asked.label)
    return [_Range(asked.unit, found[0].value, found[0].value)] if same or named else []


def _ranges(text: str) -> list[_Range]:
    """Return the ranges of a normalised text; an amount without a limit is none."""
    given = _measures(text)
    found: list[_Range] = []
    ends: set[Measure] = set()
    for one, other in pairwise(given):
        if one not in ends and (both := _both(text, one, other)):
            found.append(both)
            ends |= {one, other}
    return found + [_half(each, each.limit) for each in given if each not in ends and each.limit]


def _half(given: Measure, limit: Limit) -> _Range:
    if limit in _LOW:
        return _Range(given.unit, low=given.value, over=limit is Limit.MORE)
    return _Range(given.unit, high=given.value, under=limit is Limit.LESS)


def _both(text: str, one: Measure, other: Measure) -> _Range | None:
    """Return the range of which two neighbours are the ends."""
    link, limit, other_limit = text[one.end : other.start], one.limit, other.limit
    if _TO.match(link) or (link.strip() == "and" and _BETWEEN.search(text[: one.start])):
        limit, other_limit = limit or Limit.AT_LEAST, other_limit or Limit.AT_MOST
    elif not _LIMITS_ALONE.fullmatch(link):
        return None
    if not limit or not other_limit or (one.unit != other.unit and other.unit):
        return None
    first, second = _half(one, limit), _half(other, other_limit)
    both = _Range(
        one.unit,
        max(first.low, second.low),
        min(first.high, second.high),
        first.over or second.over,
        first.under or second.under,
    )
    return both if both.low < both.high and both.low.is_finite() and both.high.is_finite() else None


def _measures(text: str) -> list[Measure]:
    found: list[Measure] = []
    for quantity in quantities(text):
        measure = _measure(text, quantity)
        last = found[-1] if found else None
        if measure is None:
            continue
        if last and last.end == measure.start and last.unit == measure.unit and last.unit in ("month", "min"):
            # 3年6か月, 1時間30分
            value, end, limit = last.value + measure.value, measure.end, measure.limit
            found[-1] = structs.replace(last, value=value, end=end, limit=limit or last.limit)
        else:
            found.append(measure)
    return found


def _measure(text: str, quantity: Quantity) -> Measure | None:
    start = quantity.end - len(text[quantity.start : quantity.end].lstrip())
    label = _LABEL.search(text[:start])
    name, end, unit = label[1] if label else "", quantity.end, quantity.unit
    limit = limit_of(text, quantity)
    differs = quantity.kind == "number" and text[: quantity.start].rstrip().endswith(" by")
    limit = limit if limit in (*_LOW, *_HIGH) and not differs else None
    if quantity.kind.startswith("code"):
        code = _CODE.fullmatch(quantity.value)
        return Measure(Decimal(code[2]), f"code {code[1]}", name, start, end, limit) if code else None
    if quantity.kind.startswith("time"):
        hours, minutes = quantity.value.split(":")
        return Measure(Decimal(int(hours) * 60 + int(minutes)), "clock", name, start, end, limit)
    if quantity.kind != "number" or "/" in quantity.value:
        return None
    if not unit and (counted := _COUNTED.match(text, end)):
        end, word = counted.end(), counted["word"] or counted["counter"]
        unit = word[:-1] if len(word) > 3 and word.endswith("s") else word
    if not unit and quantity.value.startswith(("19", "20")) and len(quantity.value) == 4:
        return None
    return Measure(*_compared(Decimal(quantity.value), unit), name, start, end, limit)


def _compared(value: Decimal, unit: str) -> tuple[Decimal, str]:
    factor, unit = _COMPARED.get(unit, (Decimal(1), unit))
    return value * factor, unit
