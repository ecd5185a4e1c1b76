"""Amounts with their units, and the ranges that rules give: "over 500,000 yen", 「3年6か月以上」."""

import math
import re

from msgspec import Struct, structs

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
    "litre": ("litre", 1),
    "liter": ("litre", 1),
    "リットル": ("litre", 1),
    "km": ("km", 1),
    "キロメートル": ("km", 1),
    "m": ("m", 1),
    "metre": ("m", 1),
    "meter": ("m", 1),
    "メートル": ("m", 1),
    "度": ("degree", 1),
    "℃": ("degree", 1),
    "°c": ("degree", 1),
    "degree": ("degree", 1),
    "db": ("db", 1),
    "point": ("point", 1),
    "点": ("point", 1),
    "歳": ("age", 1),
    "才": ("age", 1),
    "years old": ("age", 1),
    "year-old": ("age", 1),
    "years-old": ("age", 1),
    "years of age": ("age", 1),
    "人": ("person", 1),
    "名": ("person", 1),
    "people": ("person", 1),
    "person": ("person", 1),
    "employee": ("person", 1),
    "回": ("times", 1),
    "件": ("case", 1),
    "個": ("piece", 1),
    "単位": ("credit", 1),
    "credit": ("credit", 1),
    "page": ("page", 1),
    "ページ": ("page", 1),
    "tb": ("gb", 1000),
    "mb": ("gb", 0.001),
    "cm": ("m", 0.01),
    "clock": ("clock", 1),
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
    r"(?: ?(?P<above_after>以上|以降|を?超え|超|or more|or above|or over|から)"
    r"|(?P<below_after> ?(?:未満|以下|以内|まで|or less|or under)))?"
    rf"(?:(?: ?(?:-|–|~|〜|to|、) ?|(?<=以上)|(?<=超)|(?<=え)|(?<=から))"
    rf"(?P<high>{_AMOUNT})(?P<high_after> ?(?:未満|以下|以内|まで))?)?"
)
_PARTS = re.compile(
    rf"([¥$€])? ?(\d+(?:\.\d+)?)(?: (thousand|million))?[ -]?({_UNIT})?(?:s|es)?(?:(\d+)(?:か月|ヶ月|カ月))?"
)
_CALENDAR_YEAR = re.compile(r"(?:19|20)\d\d ?年")
_NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?(?![\d.]*\d)")
_SIGNS = {"¥": "yen", "$": "dollar", "€": "euro"}
_TINY, _DAYS_OF_A_MONTH = 1e-6, 30


_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve"
_WORDS = {word: str(number) for number, word in enumerate(_NUMBERS.split())}
_NUMBER_WORD = re.compile(rf"\b({'|'.join(list(_WORDS)[1:])})(?= [a-z]{{3,}})")
_COUNTED_IN_WORDS = re.compile(rf"\b(?:{'|'.join(_WORDS)})[ -](?:{_UNIT})(?:s|es)?(?![a-z])")
_BARE_AMOUNT = re.compile(r"(?<![\w.-])(\d+(?:\.\d+)?) ?([a-z]{4,})\b")
_BARE_RANGE = re.compile(
    rf"(?:(?P<above>{_ABOVE}) |(?P<below>{_BELOW}) )?(?<![\w.:])(?P<low>\d+(?:\.\d+)?)(?![\w:%])"
    r"(?: ?(?:-|~|〜|to) ?(?P<high>\d+(?:\.\d+)?)(?![\w:%.])| (?P<above_after>and above|or above|and more|or more|and over)"
    r"| (?P<below_after>or less|and below|or below))?"
)
_NO_UNITS = {"this", "that", "with", "from", "than", "when", "then", "must", "have", "will", "years", "until"}


class Range(Struct, frozen=True):
    """From `low` to `high` of a `unit`; `bounded` is False for a bare amount, where both are the same."""

    unit: str
    low: float
    high: float
    bounded: bool


def ranges_in(normal: str) -> list[Range]:
    """The amounts and ranges in a normalised text that have a unit."""
    found = []
    for match in _RANGE.finditer(_clocks(_digits(normal))):
        if _CALENDAR_YEAR.match(match["low"]):
            continue
        low = _amount(match["low"])
        high = _amount(match["high"]) if match["high"] and not match["below"] else None
        unit = low[0] or (high[0] if high else "")
        if not unit:
            continue
        if not low[0] and match["high"]:
            low = _amount(match["low"], like=match["high"])  # 2 to 5 years
        if high and high[0] == unit and high[1] > low[1]:
            found.append(
                Range(unit, low[1], high[1] - (_TINY if "未満" in (match["high_after"] or "") else 0), True)
            )
        elif match["above"] or match["above_after"]:
            strict = match["above"] in ("over", "above", "more than", "exceeding") or "超" in (
                match["above_after"] or ""
            )
            found.append(_closed(found, Range(unit, low[1] + (_TINY if strict else 0), math.inf, True)))
        elif match["below"] or match["below_after"]:
            strict = match["below"] in ("under", "below", "less than") or "未満" in (
                match["below_after"] or ""
            )
            found.append(Range(unit, -math.inf, low[1] - (_TINY if strict else 0), True))
        else:
            found.append(Range(unit, low[1], low[1], False))
    return found


def _closed(found: list[Range], above: Range) -> Range:
    """`above`, up to where the range before it ends: 「99%未満97%以上」, "below 99 % but at least 97 %"."""
    before = found[-1] if found else above
    if math.isinf(before.low) and before.unit == above.unit and before.high > above.low:
        return structs.replace(found.pop(), low=above.low)
    return above


def amounts_in(normal: str) -> list[Range]:
    """The amounts of a question; one of a thing that is no unit ("400 pieces") has the unit ""."""
    known = ranges_in(normal)
    if known:
        return known
    return [
        Range("", float(number), float(number), False)
        for number, word in _BARE_AMOUNT.findall(_digits(normal))
        if word not in _NO_UNITS
    ]


def amount_spans(normal: str) -> list[tuple[int, int]]:
    """Where a normalised question says how much of something there is: "400 pieces", 「31度を超え」."""
    spans = [match.span() for match in _BARE_AMOUNT.finditer(normal) if match.group(2) not in _NO_UNITS]
    spans.extend(match.span() for match in _CLOCK.finditer(normal))
    spans.extend(match.span() for match in _COUNTED_IN_WORDS.finditer(normal))
    for match in _RANGE.finditer(normal):
        if match["low"] and not match["low"].strip().isdecimal():
            spans.append(match.span())
            if exceeded := re.compile(r"を?(?:超え|上回|下回)").match(normal, match.end()):
                spans.append(exceeded.span())
    return spans


def bare_ranges_in(normal: str) -> list[Range]:
    """The ranges without units in a row of a table: `151 to 500`."""
    found = []
    for match in _BARE_RANGE.finditer(normal):
        low = float(match["low"])
        if match["high"]:
            found.append(Range("", low, float(match["high"]), True))
        elif match["above"] or match["above_after"]:
            found.append(Range("", low, math.inf, True))
        elif match["below"] or match["below_after"]:
            found.append(Range("", -math.inf, low, True))
    return found


_CLOCK = re.compile(
    r"(?P<from>\b(?:until|till|by|before) |\b(?:after|from|since) )?(?:(?<![\d:])(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?"
    r" ?(?P<half>[ap])\.?m\b\.?|(?<![\d:])(?P<hour24>\d{1,2}):(?P<minute24>\d\d)(?![\d:])"
    r"|(?P<half_ja>午前|午後)(?P<hour_ja>\d{1,2})時(?:(?P<minute_ja>\d{1,2})分)?)"
)


def _clocks(normal: str) -> str:
    """Times of the day as minutes since midnight, so that they compare: "until 2 pm" → "up to 840 clock"."""

    def minutes(match: re.Match[str]) -> str:
        hour = int(match["hour"] or match["hour24"] or match["hour_ja"])
        minute = int(match["minute"] or match["minute24"] or match["minute_ja"] or 0)
        if (match["half"] == "p" or match["half_ja"] == "午後") and hour < 12:
            hour += 12
        bound = (match["from"] or "").strip()
        before = (
            "up to " if bound in ("until", "till", "by", "before") else "over " if bound == "after" else ""
        )
        return f"{before or match['from'] or ''}{hour * 60 + minute} clock"

    return _CLOCK.sub(minutes, normal)


def _digits(normal: str) -> str:
    return _NUMBER_WORD.sub(lambda match: _WORDS[match.group(1)], normal)


def range_fit(asked: list[Range], normal: str, *, row: bool = False) -> float:
    """How well the ranges of a sentence hold the amounts of a question: a bonus, a malus, or 0 when nothing compares."""
    fit = 0.0
    if not asked:
        return fit
    said = ranges_in(normal)
    for wanted in asked:
        same = [entry for entry in said if entry.unit == wanted.unit] or _in_days(wanted, said)
        if (row or wanted.unit == "age") and not any(entry.bounded for entry in same):
            same += bare_ranges_in(normal)
        value = wanted.low if not math.isinf(wanted.low) else wanted.high
        bounded = [entry for entry in same if entry.bounded]
        if any(_is_bound(wanted.low, entry.low) and _is_bound(wanted.high, entry.high) for entry in same):
            fit += 0.4
        elif any(entry.low <= value <= entry.high for entry in bounded):
            fit += 0.15
        elif bounded and len(bounded) == len(same):
            fit -= 0.25
    return fit


def _in_days(wanted: Range, said: list[Range]) -> list[Range]:
    """What is said in days where months are asked about, and the other way round: a month is 30 days."""
    factor = {"month": 1 / _DAYS_OF_A_MONTH, "day": _DAYS_OF_A_MONTH}.get(wanted.unit)
    if factor is None:
        return []
    other = "day" if wanted.unit == "month" else "month"
    return [
        structs.replace(entry, unit=wanted.unit, low=entry.low * factor, high=entry.high * factor)
        for entry in said
        if entry.unit == other and entry.bounded
    ]


def complement(first: str, second: str) -> bool:
    """Whether the second text goes on where a range of the first ends: "less than six hours", "six hours or more"."""
    for low in ranges_in(first):
        for high in ranges_in(second):
            if low.unit == high.unit and low.bounded and high.bounded and _is_bound(low.high, high.low):
                return True
    return False


def _is_bound(wanted: float, said: float) -> bool:
    """Whether the two are one bound; "over 31" and "31 or more" are asked for alike."""
    return wanted == said or abs(wanted - said) <= 2 * _TINY


def _amount(text: str, *, like: str = "") -> tuple[str, float]:
    match = _PARTS.match(text)
    if not match:
        return "", 0.0
    sign, number, scale, name, months = match.groups()
    if like and (other := _PARTS.match(like)):
        name = other.group(4)
    unit, factor = _UNITS.get(name or "", (_SIGNS.get(sign or "", ""), 1.0))
    value = float(number) * factor * {"thousand": 1e3, "million": 1e6}.get(scale or "", 1)
    return unit, value + float(months or 0)


def numbers_in(normal: str) -> frozenset[str]:
    """The numbers that stand in a normalised text, as they are written."""
    return frozenset(_NUMBER.findall(normal))
