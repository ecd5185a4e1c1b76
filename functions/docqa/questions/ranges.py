"""Amounts with their units, and the ranges that rules give: "over 500,000 yen", 「3年6か月以上」."""

import math
import re

from msgspec import Struct, structs

from functions.docqa.questions.units import UNITS
from functions.docqa.vocabulary.numerals import ENGLISH_NUMBERS

_UNIT = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
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
_SIGNS = {"¥": "yen", "$": "dollar", "€": "euro"}
_TINY, _DAYS_OF_A_MONTH = 1e-6, 30


_NUMBER_WORD = re.compile(rf"\b({'|'.join(list(ENGLISH_NUMBERS)[1:])})(?= [a-z]{{3,}})")
_COUNTED_IN_WORDS = re.compile(rf"\b(?:{'|'.join(ENGLISH_NUMBERS)})[ -](?:{_UNIT})(?:s|es)?(?![a-z])")
_BARE_AMOUNT = re.compile(r"(?<![\w.-])(\d+(?:\.\d+)?) ?([a-z]{4,})\b")
_BARE_RANGE = re.compile(
    rf"(?:(?P<above>{_ABOVE}) |(?P<below>{_BELOW}) )?(?<![\w.:])(?P<low>\d+(?:\.\d+)?)(?![\w:%])"
    r"(?: ?(?:-|~|〜|to) ?(?P<high>\d+(?:\.\d+)?)(?![\w:%.])| (?P<above_after>and above|or above|and more|or more|and over)"
    r"| (?P<below_after>or less|and below|or below))?"
)
_NOUNITS = {"this", "that", "with", "from", "than", "when", "then", "must", "have", "will", "years", "until"}


_CURRENCY_FIRST = re.compile(r"\b(eur|usd|jpy|gbp|chf) ?(\d+(?:\.\d+)?(?: (?:thousand|million))?)")
# What stands between the two ends of one range.
_GOES_ON = re.compile(r"[ ,、]*(?:and|but|かつ)?[ ,、]*")


class Range(Struct, frozen=True):
    """From `low` to `high` of a `unit`; `bounded` is False for a bare amount, where both are the same."""

    unit: str
    low: float
    high: float
    bounded: bool


def ranges_in(normal: str) -> list[Range]:
    """The amounts and ranges in a normalised text that have a unit."""
    found = []
    said, ended = _counted_down(_clocks(_digits(_CURRENCY_FIRST.sub(r"\2 \1", normal)))), 0
    for match in _RANGE.finditer(said):
        between, ended = said[ended : match.start()], match.end()
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
            found.append(Range(unit, low[1], high[1] - (_TINY if "未満" in (match["high_after"] or "") else 0), True))
        elif match["above"] or match["above_after"]:
            strict = match["above"] in ("over", "above", "more than", "exceeding") or "超" in (
                match["above_after"] or ""
            )
            found.append(_closed(found, Range(unit, low[1] + (_TINY if strict else 0), math.inf, True)))
        elif match["below"] or match["below_after"]:
            strict = match["below"] in ("under", "below", "less than") or "未満" in (match["below_after"] or "")
            below = Range(unit, -math.inf, low[1] - (_TINY if strict else 0), True)
            found.append(_opened(found, below) if _GOES_ON.fullmatch(between) else below)
        else:
            found.append(Range(unit, low[1], low[1], False))
    return found


def _closed(found: list[Range], above: Range) -> Range:
    """`above`, up to where the range before it ends: 「99%未満97%以上」, "below 99 % but at least 97 %"."""
    before = found[-1] if found else above
    if math.isinf(before.low) and before.unit == above.unit and before.high > above.low:
        return structs.replace(found.pop(), low=above.low)
    return above


def _opened(found: list[Range], below: Range) -> Range:
    """`below`, down to where the range before it begins: "more than 500, up to 3000", 「500円を超え、3000円以下」."""
    before = found[-1] if found else below
    if before.bounded and math.isinf(before.high) and before.unit == below.unit and before.low < below.high:
        return structs.replace(found.pop(), high=below.high)
    return below


def amounts_in(normal: str) -> list[Range]:
    """The amounts of a question; one of a thing that is no unit ("400 pieces") has the unit ""."""
    known = ranges_in(normal)
    if known:
        return known
    return [
        Range("", float(number), float(number), False)
        for number, word in _BARE_AMOUNT.findall(_digits(normal))
        if word not in _NOUNITS
    ]


def amount_spans(normal: str) -> list[tuple[int, int]]:
    """Where a normalised question says how much of something there is: "400 pieces", 「31度を超え」."""
    spans = [match.span() for match in _BARE_AMOUNT.finditer(normal) if match.group(2) not in _NOUNITS]
    spans.extend(match.span() for match in _CURRENCY_FIRST.finditer(normal))
    spans.extend(match.span() for match in _CLOCK.finditer(normal))
    spans.extend(match.span() for match in _COUNTED_IN_WORDS.finditer(normal))
    ranges = (match for match in _RANGE.finditer(normal) if not match["low"].strip().isdecimal())
    return [*spans, *(match.span() for match in ranges)]


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


_DAYS_BEFORE = re.compile(r"(\d+)(日|週間?)前(?:(?:から|~|〜|-)(?:当日|前日|(\d+)日前)?(?:まで)?|(以降)|(まで|以前))")


def _counted_down(normal: str) -> str:
    """Days before something as ranges of days: 「29日前から8日前まで」 is 8 to 29, 「30日前まで」 30 or more."""

    def days(match: re.Match[str]) -> str:
        first = int(match[1]) * (7 if match[2] != "日" else 1)
        if match[5]:
            return f"{first}日以上前"
        return f"{match[3]}日から{first}日まで前" if match[3] else f"{first}日以内前"

    return _DAYS_BEFORE.sub(days, normal) if "前" in normal else normal


def _clocks(normal: str) -> str:
    """Times of the day as minutes since midnight, so that they compare: "until 2 pm" → "up to 840 clock"."""

    def minutes(match: re.Match[str]) -> str:
        hour = int(match["hour"] or match["hour24"] or match["hour_ja"])
        minute = int(match["minute"] or match["minute24"] or match["minute_ja"] or 0)
        if (match["half"] == "p" or match["half_ja"] == "午後") and hour < 12:
            hour += 12
        bound = (match["from"] or "").strip()
        before = "up to " if bound in ("until", "till", "by", "before") else "over " if bound == "after" else ""
        return f"{before or match['from'] or ''}{hour * 60 + minute} clock"

    return _CLOCK.sub(minutes, normal)


def _digits(normal: str) -> str:
    return _NUMBER_WORD.sub(lambda match: ENGLISH_NUMBERS[match.group(1)], normal)


def range_fit(asked: list[Range], normal: str, *, row: bool = False) -> float:
    """How well the ranges of a sentence hold the amounts of a question: a bonus, a malus, or 0 when nothing compares."""
    fit = 0.0
    if not asked:
        return fit
    said = ranges_in(normal)
    for wanted in asked:
        same = _comparable(wanted, said, normal, row=row)
        value = _value(wanted)
        bounded = [entry for entry in same if entry.bounded]
        if any(_is_bound(wanted.low, entry.low) and _is_bound(wanted.high, entry.high) for entry in same):
            fit += 0.4
        elif any(entry.low <= value <= entry.high for entry in bounded):
            fit += 0.15
        elif bounded and len(bounded) == len(same):
            fit -= 0.25
    return fit


def is_wider(asked: list[Range], normal: str, other: str) -> bool:
    """Whether a row holds an amount that a nearer bound of the `other` row holds as well: 98 is below 99.9 and below 99.0."""
    for wanted in asked:
        value = _value(wanted)
        own, others = (
            [
                abs((entry.low if math.isinf(entry.high) else entry.high) - value)
                for entry in _comparable(wanted, ranges_in(text), text, row=True)
                if entry.bounded
                and math.isinf(entry.low) != math.isinf(entry.high)
                and entry.low <= value <= entry.high
            ]
            for text in (normal, other)
        )
        if own and others and min(others) < min(own):
            return True
    return False


def _value(wanted: Range) -> float:
    return wanted.low if not math.isinf(wanted.low) else wanted.high


def _comparable(wanted: Range, said: list[Range], normal: str, *, row: bool) -> list[Range]:
    """The ranges of a text that are of the same unit as the one that is `wanted`."""
    same = [entry for entry in said if entry.unit == wanted.unit] or _in_days(wanted, said)
    if (row or wanted.unit == "age") and not any(entry.bounded for entry in same):
        same += bare_ranges_in(normal)
    return same


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
    unit, factor = UNITS.get(name or "", (_SIGNS.get(sign or "", ""), 1.0))
    value = float(number) * factor * {"thousand": 1e3, "million": 1e6}.get(scale or "", 1)
    return unit, value + float(months or 0)
