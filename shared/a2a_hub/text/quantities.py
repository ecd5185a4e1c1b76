"""Normal forms of amounts, durations, dates, percentages, clauses and codes in English and Japanese."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

from a2a_hub.text.quantity_patterns import ADJECTIVE, ALTERNATIVES, NUMBER_WORDS, QUANTITY, WORD_SCALES, prepared
from a2a_hub.text.units import SCALED, SIGNS, UNITS

# Each character keeps its place, so that positions hold in the text as it was given.
_NARROW = str.maketrans({code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {"￥": "¥", "−": "-", "‐": "-"})
_DIGITS = {digit: value for value, digit in enumerate("〇一二三四五六七八九")} | {"元": 1}
_SMALL = {"十": 10, "百": 100, "千": 1_000}
_LARGE = {"万": 10**4, "億": 10**8, "兆": 10**12}
_ERAS = {
    "令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911, "r": 2018, "h": 1988, "s": 1925, "reiwa": 2018,
    "heisei": 1988, "showa": 1925,
}  # fmt: skip
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WORDS = NUMBER_WORDS | {"a": 1, "an": 1, "twice": 2}
_SHARES = {"half": Decimal("0.5"), "quarter": Decimal("0.25")}
_PAST = {"half": 30, "quarter": 15, "five": 5, "ten": 10, "twenty": 20, "twentyfive": 25}
_ORDINALS = ("", "first", "second", "third", "fourth", "fifth", "sixth")
_PARTS_OF = {"a": 1, "one": 1, "two": 2, "three": 3, "third": 3, "quarter": 4, "fifth": 5, "tenth": 10}
_SCALES = {"k": 10**3, "m": 10**6, "mn": 10**6, "bn": 10**9, **WORD_SCALES}
_CLAUSES = {
    "条": "article", "article": "article", "articles": "article", "art": "article", "section": "article", "sec": "article",
    "s": "article", "clause": "article", "§": "article", "項": "paragraph", "paragraph": "paragraph", "para": "paragraph",
    "章": "chapter", "chapter": "chapter", "別表": "annex", "付表": "annex", "別紙": "annex", "annex": "annex",
    "appendix": "annex", "schedule": "annex", "様式": "form", "form": "form",
}  # fmt: skip
_ADJECTIVES = re.compile(rf"^[\s-]*(?:{ADJECTIVE})?")
_FACTOR = re.compile(r"[百千万億兆]+|thousand|million|billion", re.IGNORECASE)
_LAST_UNIT = re.compile(
    "(?:" + "|".join(re.escape(name) for name in sorted(UNITS, key=len, reverse=True)) + ")$", re.IGNORECASE
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_RANGE = re.compile(r"\s?(?:[-~〜～–—]|から|to\b|and\b|or\b|又は|または|ないし)\s?", re.IGNORECASE)


@dataclass(frozen=True)
class Quantity:
    """A number, amount, date or code of a text in its normal form, with its place."""

    kind: str
    value: str
    unit: str
    start: int
    end: int

    @property
    def term(self) -> str:
        """Return one searchable token, the same for each way of writing the quantity."""
        return self.value + self.unit


_Parts = dict[str, str]
_Normal = tuple[str, str]


def number(text: str) -> Decimal:
    """Return the value of digits and kanji numerals, also mixed: 1億2,000万, 三百五, 45万."""
    total = section = Decimal(0)
    current: Decimal | None = None
    for part in re.findall(r"\d[\d,]*(?:\.\d+)?|\S", text.translate(_NARROW)):
        if part[0].isdigit() and part.isascii():
            current = Decimal(part.replace(",", ""))
        elif part in _DIGITS:
            current = (current or Decimal(0)) * 10 + _DIGITS[part]
        elif part in _SMALL:
            section += (Decimal(1) if current is None else current) * _SMALL[part]
            current = None
        elif part in _LARGE:
            whole = section + (current or Decimal(0))
            total += (whole or Decimal(1)) * _LARGE[part]
            section, current = Decimal(0), None
    return total + section + (current or Decimal(0))


# The steps of an answer read the same sentences: 24 instead of 34 ms for a question on 102,000 passages.
@lru_cache(maxsize=4_096)
def quantities(text: str) -> tuple[Quantity, ...]:
    """Return the quantities of a text in their order; none overlaps another."""
    narrow = prepared(text.translate(_NARROW))
    if len(narrow) != len(text):
        narrow = text.translate(_NARROW)
    found = []
    for match in QUANTITY.finditer(narrow):
        reader, groups = ALTERNATIVES[int((match.lastgroup or "k0")[1:])]
        parts = {name: match[index] for name, index in groups if match[index]}
        normal = _READERS[reader](parts | {"": match[0]})
        if normal:
            found.append(Quantity(_KINDS.get(reader, reader), *normal, match.start(), match.end()))
    return tuple(_joined(found, narrow))


def blanked(text: str, *kinds: str) -> str:
    """Return a text with spaces for its quantities of these kinds, or for all."""
    for each in quantities(text):
        if not kinds or each.kind in kinds:
            text = text[: each.start] + " " * (each.end - each.start) + text[each.end :]
    return text


def plain(value: Decimal) -> str:
    """Return a number without exponent and trailing zeros."""
    return f"{value.normalize():f}"


def _joined(found: list[Quantity], text: str) -> list[Quantity]:
    """Give the first number of a range the unit of the second, and the second the sign of the first."""
    for at in range(len(found) - 1, 0, -1):
        low, high = found[at - 1], found[at]
        between = text[low.end : high.start]
        if low.unit == high.unit == "min" and between.strip() in ("", "and") and Decimal(high.value) < 60:
            joined = plain(Decimal(low.value) + Decimal(high.value))
            found[at - 1 : at + 1] = [Quantity("number", joined, "min", low.start, high.end)]
        if low.kind != "number" or "/" in low.value or not _RANGE.fullmatch(between):
            continue
        if high.kind == "number" and not low.unit and high.unit and not _YEAR.fullmatch(low.value):
            factor = _factor(text[high.start : high.end])
            found[at - 1] = replace(low, value=plain(Decimal(low.value) * factor), unit=high.unit)
        elif high.kind == "number" and low.unit and not high.unit and text.startswith(tuple(SIGNS), low.start):
            found[at] = replace(high, unit=low.unit)
        elif high.kind == "time" and not low.unit and low.value.isdigit() and int(low.value) < 30:
            found[at - 1] = replace(low, kind="time", value=f"{int(low.value):02}:00")
        elif high.kind == "date" and len(high.value) in (5, 10) and not low.unit and low.value.isdigit():
            found[at - 1] = replace(low, kind="date", value=f"{high.value[:-2]}{int(low.value):02}")
    return found


def _factor(written: str) -> Decimal:
    """Return by how much the numeral or word, and the unit, of an amount multiply its digits."""
    scaled, unit = _FACTOR.search(written), _LAST_UNIT.search(written)
    factor = Decimal(WORD_SCALES.get(scaled[0].lower(), 0) or number("1" + scaled[0])) if scaled else Decimal(1)
    name = UNITS[unit[0].lower()] if unit else ""
    return factor * (60 if name == "h" else SCALED.get(name, (1, ""))[0])


def _date(part: _Parts) -> _Normal:
    era, year = part.get("era", ""), part.get("y") or part.get("eray")
    month = int(number(part["m"])) if "m" in part else _MONTHS.index(part["name"][:3]) + 1 if "name" in part else 0
    day = int(number(re.sub(r"[a-z]", "", part["d"]))) if "d" in part else 0
    whole = f"{int(number(year)) + _ERAS.get(era.strip(), 0):04}" if year else ""
    return "-".join(filter(None, (whole, f"{month:02}" if month else "", f"{day:02}" if day else ""))), ""


def _slashed(part: _Parts) -> _Normal:
    first, second = int(part["a"]), int(part["b"])
    day, month = (first, second) if first > 12 else (second, first)
    return f"{part['y']}-{month:02}-{day:02}", ""


def _clock(part: _Parts) -> _Normal:
    word = part.get("word")
    if word:
        return "12:00" if word in ("noon", "正午") else "00:00", ""
    hour, half = _WORDS.get(part["h"]) or int(number(part["h"])), part.get("half", "")
    minute = 30 if "thirty" in part else int(number(part.get("mi", "0")))
    if "past" in part:
        past = _PAST[re.sub(r"^a\s|[\s-]", "", part["past"])]
        minute, hour = (60 - past, hour - 1) if part["way"] == "to" else (past, hour)
    late = half[:1] == "p" or half in ("午後", "夜", "夕方", "afternoon", "evening", "night")
    shift = 12 if late and hour < 12 else -12 if half[:1] == "a" and hour == 12 else 0
    return f"{hour + shift:02}:{minute:02}", ""


def _amount(part: _Parts) -> _Normal | None:
    if "half" in part:
        unit = UNITS.get(part["half"], part["half"])
        value = Decimal("0.5")
    else:
        value = _word_number(part["words"]) if "words" in part else number(part["n"])
        value += Decimal("0.5") if "andhalf" in part else Decimal(part.get("sen", 0)) / 100
        value *= _SCALES.get(part.get("scale", ""), 1)
        unit = UNITS.get(_ADJECTIVES.sub("", part.get("u", "")), "")
        sign = part.get("sign", "").strip()
        unit = SIGNS.get(sign) or UNITS.get(sign) or unit
        if part.get("words") in ("one", "a", "an", "zero") and not unit:
            return None
    if unit == "h":
        return plain(value * 60), "min"
    factor, unit = SCALED.get(unit, (1, unit))
    return plain(value * factor), unit


def _span(part: _Parts) -> _Normal:
    """Read a quarter of an hour, and a year and a half."""
    if "half" not in part:
        return "45" if part.get("n") == "three" else "15", "min"
    return {"hour": ("90", "min"), "day": ("1.5", "d"), "year": ("18", "month"), "month": ("1.5", "month")}[
        part["half"]
    ]


def _word_number(words: str) -> Decimal:
    if words in _SHARES:
        return _SHARES[words]
    total = current = 0
    for word in re.findall(r"[a-z]+", words):
        if word in _WORDS:
            current += _WORDS[word]
        elif word in WORD_SCALES:
            current = max(current, 1) * WORD_SCALES[word]
            if word not in ("hundred", "dozen"):
                total, current = total + current, 0
    return Decimal(total + current)


def _fraction(part: _Parts) -> _Normal | None:
    if "word" in part:
        return "50", "percent"
    below, above = (Decimal(_PARTS_OF.get(part[name], 0)) or number(part[name]) for name in ("below", "above"))
    if not below:
        return None
    share = above * 100 / below
    return (plain(share), "percent") if share == share.to_integral() else (f"{plain(above)}/{plain(below)}", "")


def _clause(part: _Parts) -> _Normal:
    value = part["n"] if "." in part["n"] else plain(number(part["n"]))
    value += f"-{plain(number(part['branch']))}" if "branch" in part else ""
    return value, _CLAUSES[part["what"].rstrip(". ")]


def _code(part: _Parts) -> _Normal:
    return re.sub(r"[-_\s]", "", part[""]), ""


def _fiscal(part: _Parts) -> _Normal:
    era = _ERAS.get(part.get("era", ""), 0)
    year = int(number(part.get("y") or part["eray"])) + era
    return str(year + 2000 if year < 100 else year), "fy"


def _quarter(part: _Parts) -> _Normal:
    return _nth(part["n"]), "quarter"


def _ordinal(part: _Parts) -> _Normal:
    return _nth(part["n"]), UNITS.get(part.get("u", ""), "d" if "u" in part else "")


def _weekday(part: _Parts) -> _Normal:
    name = part["w"][:3]
    return name if name in _WEEKDAYS else _WEEKDAYS["月火水木金土日".index(name)], "weekday"


def _nth(text: str) -> str:
    return str(_ORDINALS.index(text)) if text in _ORDINALS else plain(number(text))


_READERS: dict[str, Callable[[_Parts], _Normal | None]] = {
    "code": _code, "fiscal": _fiscal, "quarter": _quarter, "date": _date, "slashed": _slashed, "weekday": _weekday,
    "time": _clock, "clause": _clause, "fraction": _fraction, "ordinal": _ordinal, "number": _amount,
    "span": _span,
}  # fmt: skip
_KINDS = {"slashed": "date", "fraction": "number", "ordinal": "number", "span": "number"}
