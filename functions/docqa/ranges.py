"""Amounts with their units, and the ranges that rules give: "over 500,000 yen", 「3年6か月以上」."""

import math
import re

from msgspec import Struct

_UNITS: dict[str, tuple[str, float]] = {
    "yen": ("yen", 1),
    "jpy": ("yen", 1),
    "円": ("yen", 1),
    "千円": ("yen", 1e3),
    "万円": ("yen", 1e4),
    "億円": ("yen", 1e8),
    "dollar": ("dollar", 1),
    "usd": ("dollar", 1),
    "us dollar": ("dollar", 1),
    "ドル": ("dollar", 1),
    "euro": ("euro", 1),
    "eur": ("euro", 1),
    "ユーロ": ("euro", 1),
    "minute": ("minute", 1),
    "分": ("minute", 1),
    "hour": ("minute", 60),
    "時間": ("minute", 60),
    "day": ("day", 1),
    "日": ("day", 1),
    "week": ("day", 7),
    "週間": ("day", 7),
    "month": ("month", 1),
    "か月": ("month", 1),
    "ヶ月": ("month", 1),
    "カ月": ("month", 1),
    "year": ("month", 12),
    "年": ("month", 12),
    "kg": ("kg", 1),
    "キロ": ("kg", 1),
    "ton": ("kg", 1000),
    "t": ("kg", 1000),
    "gb": ("gb", 1),
    "tb": ("gb", 1000),
    "mb": ("gb", 0.001),
    "people": ("person", 1),
    "person": ("person", 1),
    "employee": ("person", 1),
    "人": ("person", 1),
    "名": ("person", 1),
    "km": ("km", 1),
    "m": ("m", 1),
    "metre": ("m", 1),
    "meter": ("m", 1),
    "cm": ("m", 0.01),
    "%": ("%", 1),
    "percent": ("%", 1),
    "パーセント": ("%", 1),
}
_UNIT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_AMOUNT = (
    rf"(?:[¥$€] ?)?\d+(?:\.\d+)?(?: (?:thousand|million))?"
    rf"(?:[ -]?(?:{_UNIT})(?:s|es)?(?![a-z])(?:\d+(?:か月|ヶ月|カ月))?)?"
)
_BELOW = r"(?:under|below|less than|fewer than|up to|at most|no more than|not exceeding|within|maximum)"
_ABOVE = r"(?:over|above|more than|exceeding|at least|from|greater than|minimum|longer than|older than|heavier than)"
_RANGE = re.compile(
    rf"(?:(?P<above>{_ABOVE}) |(?P<below>{_BELOW}) )?(?P<low>{_AMOUNT})"
    r"(?: ?(?P<above_after>以上|を?超え|超|or more|or above|or over|から)"
    r"|(?P<below_after> ?(?:未満|以下|以内|まで|or less|or under)))?"
    rf"(?:(?: ?(?:-|–|~|〜|to|、) ?|(?<=以上)|(?<=超)|(?<=え)|(?<=から))"
    rf"(?P<high>{_AMOUNT})(?P<high_after> ?(?:未満|以下|以内|まで))?)?"
)
_PARTS = re.compile(
    rf"([¥$€])? ?(\d+(?:\.\d+)?)(?: (thousand|million))?[ -]?({_UNIT})?(?:s|es)?(?:(\d+)(?:か月|ヶ月|カ月))?"
)
_NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?(?![\d.]*\d)")
_SIGNS = {"¥": "yen", "$": "dollar", "€": "euro"}
_TINY = 1e-6


class Range(Struct, frozen=True):
    """From `low` to `high` of a `unit`; `bounded` is False for a bare amount, where both are the same."""

    unit: str
    low: float
    high: float
    bounded: bool


def ranges_in(normal: str) -> list[Range]:
    """The amounts and ranges in a normalised text that have a unit."""
    found = []
    for match in _RANGE.finditer(normal):
        low = _amount(match["low"])
        high = _amount(match["high"]) if match["high"] and not match["below"] else None
        unit = low[0] or (high[0] if high else "")
        if not unit:
            continue
        if high and high[0] == unit and high[1] > low[1]:
            found.append(
                Range(unit, low[1], high[1] - (_TINY if "未満" in (match["high_after"] or "") else 0), True)
            )
        elif match["above"] or match["above_after"]:
            strict = match["above"] in ("over", "above", "more than", "exceeding") or "超" in (
                match["above_after"] or ""
            )
            found.append(Range(unit, low[1] + (_TINY if strict else 0), math.inf, True))
        elif match["below"] or match["below_after"]:
            strict = match["below"] in ("under", "below", "less than") or "未満" in (
                match["below_after"] or ""
            )
            found.append(Range(unit, -math.inf, low[1] - (_TINY if strict else 0), True))
        else:
            found.append(Range(unit, low[1], low[1], False))
    return found


def range_fit(asked: list[Range], normal: str) -> float:
    """How well the ranges of a sentence hold the amounts of a question: a bonus, a malus, or 0 when nothing compares."""
    fit = 0.0
    if not asked:
        return fit
    said = ranges_in(normal)
    for wanted in asked:
        same = [entry for entry in said if entry.unit == wanted.unit]
        value = wanted.low if not math.isinf(wanted.low) else wanted.high
        bounded = [entry for entry in same if entry.bounded]
        if any(entry.low == wanted.low and entry.high == wanted.high for entry in same):
            fit += 0.3
        elif any(entry.low <= value <= entry.high for entry in bounded):
            fit += 0.15
        elif bounded and len(bounded) == len(same):
            fit -= 0.25
    return fit


def _amount(text: str) -> tuple[str, float]:
    match = _PARTS.match(text)
    if not match:
        return "", 0.0
    sign, number, scale, name, months = match.groups()
    unit, factor = _UNITS.get(name or "", (_SIGNS.get(sign or "", ""), 1.0))
    value = float(number) * factor * {"thousand": 1e3, "million": 1e6}.get(scale or "", 1)
    return unit, value + float(months or 0)


def numbers_in(normal: str) -> frozenset[str]:
    """The numbers that stand in a normalised text, as they are written."""
    return frozenset(_NUMBER.findall(normal))
