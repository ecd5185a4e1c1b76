"""Dates, times of day and weekdays that are not in a quote but follow from those that are: 14 days before, the day after."""

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from a2a_hub.text.quantities import Quantity

_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY_BEFORE = re.compile(
    r"\b(?:day before|(?:previous|preceding) (?:business |working )?day)\b|前日|前営業日", re.IGNORECASE
)
_DAY_AFTER = re.compile(r"\b(?:day after|(?:next|following) (?:business |working )?day)\b|翌日|翌営業日", re.IGNORECASE)
_AHEAD = re.compile(
    r"\b(?:before|prior|earlier|advance|ahead|notice|beforehand)\b|(?:日|週間|月|時間|分)前|早く", re.IGNORECASE
)
_LATER = re.compile(r"\b(?:after|later|within|every|limit)\b|(?:日|週間|月|時間|分)後|以内|ごと|おき", re.IGNORECASE)
_HOW_LONG = re.compile(
    r"\bhow (?:long|many (?:days|nights|hours|minutes|weeks)|much (?:longer|later|earlier))\b"
    r"|何(?:日|泊|週間|時間|分)|ど[のれ](?:くらい|ぐらい)|期間",
    re.IGNORECASE,
)
_MONTH_AFTER = re.compile(r"\b(?:next|following) month\b|翌月", re.IGNORECASE)
# For dates without a year; 29 February is not a date then.
_ANY_YEAR = 2_001
_MAX_FIGURES, _MAX_DAYS = 16, 36_600
_HALF_DAY, _DAY = 720, 1_440
# The maximum number of characters between a weekday and its date.
_BESIDE = 2


def follows(
    said: Quantity,
    asked: Sequence[Quantity],
    given: Sequence[Quantity],
    *,
    told: Sequence[Quantity],
    sentence: str,
    question: str,
    texts: str,
) -> bool:
    """Return True if a date, a time, a weekday, or the time between two of them follows from the `given` ones.

    `asked` are those of the question and `told` those of the sentence: a weekday needs one of the question or its date beside it,
    and a time between two needs one of the question or both in the sentence. `texts` say in which direction one counts.
    """
    bases = [each for each in given if each.kind in ("date", "time")][:_MAX_FIGURES]
    spans = [each for each in given if each.kind == "number" and each.unit in ("d", "min")][:_MAX_FIGURES]
    signs = [sign for sign, direction in ((-1, _AHEAD), (1, _LATER)) if direction.search(texts)]
    match said.kind:
        case "weekday":
            beside = [each for each in told if said.start - _BESIDE <= each.end and each.start <= said.end + _BESIDE]
            whole = filter(None, (_day(each.value) for each in beside if each.kind == "date" and len(each.value) == 10))
            if said.value in {_WEEKDAYS[day.weekday()] for day in whole}:
                return True
            days = [_WEEKDAYS.index(each.value) for each in asked if each.kind == "weekday"]
            return _WEEKDAYS.index(said.value) in {(day + step) % 7 for day in days for step in _steps(texts)}
        case "time":
            times = [_minutes(each) for each in bases if each.kind == "time"]
            lengths = [int(each.value) for each in spans if each.unit == "min" and each.value.isdigit()]
            wanted = {_minutes(said)} | ({_minutes(said) + _HALF_DAY} if _is_spoken(said, sentence) else set())
            return not wanted.isdisjoint(
                {*times, *(time + sign * length for time in times for length in lengths for sign in signs)}
            )
        case "date":
            steps = [*_steps(texts), *(sign * each for each in _days(spans) for sign in signs)]
            dates = (day for each in bases if each.kind == "date" for day in _dates(each, steps, _days(spans), texts))
            if any(said.value in (day.isoformat(), f"{day:%m-%d}") for day in dates):
                return True
            lengths = [
                int(each.value) for each in given if each.unit == "month" and re.fullmatch(r"\d{1,3}", each.value)
            ]
            steps = [sign * each for each in lengths for sign in signs] + [1] * bool(_MONTH_AFTER.search(texts))
            months = [month for each in bases for step in steps if (month := _month_after(each.value, step))]
            return said.value in months
        case "number" if said.unit in ("d", "min"):
            has_length = any(each.unit == said.unit for each in spans if each not in asked)
            kind = "date" if said.unit == "d" else "time"
            values = {each.value for each in bases}
            is_asked = any(each.kind == kind for each in asked) or (
                not has_length and (_HOW_LONG.search(question) or _LATER.search(sentence))
            )
            ends = bases if is_asked else [each for each in told if each.kind == kind and each.value in values]
            return said.value in {str(abs(each)) for each in _between(ends, said.unit)}
    return False


def _is_spoken(said: Quantity, sentence: str) -> bool:
    """Return True for an hour that does not say which half of the day it is in: half past one."""
    return said.value < "12:59" and not re.search(r"\d|\b[ap]\.?m\b|morning", sentence[said.start : said.end])


def _steps(texts: str) -> Iterator[int]:
    yield from (-1,) if _DAY_BEFORE.search(texts) else ()
    yield from (1,) if _DAY_AFTER.search(texts) else ()


def _minutes(time: Quantity) -> int:
    hours, minutes = time.value.split(":")
    return int(hours) * 60 + int(minutes)


def _day(value: str) -> date | None:
    parts = [int(part) for part in value.split("-") if part.isdigit()]
    try:
        return date(*parts) if len(parts) == 3 else date(_ANY_YEAR, *parts) if len(parts) == 2 else None
    except ValueError:
        return None


def _month_after(date_: str, months: int) -> str:
    """Return the month a number of months after that of a date, with the year if the date has one."""
    found = re.fullmatch(r"(?:(\d{4})-)?(\d\d)(?:-\d\d)?", date_)
    if not found:
        return ""
    years, month = divmod(int(found[2]) - 1 + months, 12)
    return f"{int(found[1]) + years:04}-{month + 1:02}" if found[1] else f"{month + 1:02}"


def _days(spans: Sequence[Quantity]) -> list[int]:
    days = [int(each.value) for each in spans if each.unit == "d" and each.value.isdigit()]
    minutes = (int(each.value) for each in spans if each.unit == "min" and each.value.isdigit())
    days += [each // _DAY for each in minutes if each % _DAY == 0]
    return [each for each in days if each <= _MAX_DAYS]


def _dates(base: Quantity, steps: Sequence[int], days: Sequence[int], texts: str) -> Iterator[date]:
    day = _day(base.value)
    if day:
        yield from (day + timedelta(step) for step in steps if 0 < day.toordinal() + step <= date.max.toordinal())
    month = re.fullmatch(r"(?:\d{4}-)?(\d\d)(?:-\d\d)?", base.value)
    if month and _MONTH_AFTER.search(texts):
        following = int(month[1]) % 12 + 1
        yield from filter(None, (_day(f"{following:02}-{each:02}") for each in days))


def _between(bases: Sequence[Quantity], unit: str) -> Iterator[int]:
    if unit == "min":
        times = [_minutes(each) for each in bases if each.kind == "time"]
        yield from (one - other for one in times for other in times if one > other)
        return
    days = list(filter(None, (_day(each.value) for each in bases if each.kind == "date")))
    yield from ((one - other).days for one in days for other in days if one > other)
