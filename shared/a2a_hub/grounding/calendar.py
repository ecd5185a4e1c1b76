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
_MONTH_AFTER = re.compile(r"\b(?:next|following) month\b|翌月", re.IGNORECASE)
# For dates without a year; 29 February is not a date then.
_ANY_YEAR = 2_001
_MAX_FIGURES, _MAX_DAYS = 16, 36_600
_MAX_MONTHS = 1_200
_HALF_DAY, _DAY = 720, 1_440
_WHOLE_DATE = len("2026-12-31")


def follows(
    said: Quantity, *, told: Sequence[Quantity], asked: Sequence[Quantity], given: Sequence[Quantity], texts: str
) -> bool:
    """Return True if a date, a time, a weekday, or the time between two of them follows from the `given` ones.

    `asked` are those of the question and `told` those of the sentence: a weekday needs one of the question or a date of the
    sentence. `texts` say whether one counts from the day before or after.
    """
    days = list(filter(None, (_day(each.value) for each in given if each.kind == "date")))[:_MAX_FIGURES]
    times = [_minutes(each) for each in given if each.kind == "time"][:_MAX_FIGURES]
    next_days = [-1] * bool(_DAY_BEFORE.search(texts)) + [1] * bool(_DAY_AFTER.search(texts))
    match said.kind:
        case "weekday":
            own = {day.weekday() for each in told if len(each.value) == _WHOLE_DATE and (day := _day(each.value))}
            named = [_WEEKDAYS.index(each.value) for each in asked if each.kind == "weekday"]
            return _WEEKDAYS.index(said.value) in own | {(day + step) % 7 for day in named for step in next_days}
        case "time":
            at = _minutes(said)
            away = [0, *_counts(given, "min")]
            return any(abs(each - time) in away for each in (at, at + _HALF_DAY) for time in times)
        case "date":
            away = [*_counts(given, "d"), *(each // _DAY for each in _counts(given, "min") if each % _DAY == 0)]
            steps = [*next_days, *(sign * each for each in away if each <= _MAX_DAYS for sign in (-1, 1))]
            last = date.max.toordinal()
            found = {day + timedelta(step) for day in days for step in steps if 0 < day.toordinal() + step <= last}
            months = [sign * each for each in _counts(given, "month") if each < _MAX_MONTHS for sign in (-1, 1)]
            months += [1] * bool(_MONTH_AFTER.search(texts))
            return any(said.value in (day.isoformat(), f"{day:%m-%d}") for day in found) or said.value in {
                _month_after(each.value, step) for each in given if each.kind == "date" for step in months
            }
        case "number" if said.unit == "min":
            return said.value in {str(one - other) for one in times for other in times}
        case "number" if said.unit == "d":
            return said.value in {str((one - other).days) for one in days for other in days}
    return False


def _counts(given: Sequence[Quantity], unit: str) -> Iterator[int]:
    return (int(each.value) for each in given if each.unit == unit and each.value.isdigit())


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
