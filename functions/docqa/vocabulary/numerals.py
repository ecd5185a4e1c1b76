"""Numbers and months as they are written in words: 四十五万円 is 45万円, "November to March" has December in it."""

import re
from functools import lru_cache

_KANJI_DIGITS = {character: value for value, character in enumerate("〇一二三四五六七八九")}
_SCALES = {"十": 10, "百": 100, "千": 1000}
_NUMERAL = "[〇一二三四五六七八九十百千]"
_COUNTERS = (
    r"時間|分(?=以内|間|前|後|ごと|を|経)|営業日|日|[ヶか箇カケヵ]月|月|年|週間|回|人|名|円|万|億|割|台|個|件|歳|才|泊|枚|階|条|倍|室"
    r"|冊|杯|部屋|パーセント|キロ|メートル|リットル|度|級|点|段|社|本(?!人|社|部|日|書)|通|種類|箇所|か所|つ"
)
_NUMERALS = re.compile(f"{_NUMERAL}{_NUMERAL}*")  # one character first: that is what a scan is fast at
_COUNTER = re.compile(_COUNTERS)
_NO_NUMERAL_AFTER = frozenset("同統唯均画逐随万")
_HALVES_OF_A_DAY = ("午前", "午後", "翌朝", "毎朝")
_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve"
ENGLISH_NUMBERS = {word: str(number) for number, word in enumerate(_NUMBERS.split())}
_AND_A_HALF = re.compile(rf"\b({'|'.join(ENGLISH_NUMBERS)}|\d+) and a half\b")
_ONE_AND_A_HALF = re.compile(r"\b(?:an?|one|1) (minute|hour|day|week|month|year) and a half\b")
_HALF_A_YEAR = re.compile(r"\bhalf (?:an? |of (?:an?|one) )year\b")
_YEARS_AND_A_HALF = re.compile(r"(?<=\d)年半(?!ば|期)")
_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925}
_ERA_YEAR = re.compile(r"(令和|平成|昭和)(\d{1,2}|元)年")
_NAMES = "|".join(_MONTHS)
_FROM_MONTH_TO_MONTH = re.compile(rf"\b({_NAMES})(?: to | through | until |-| - )({_NAMES})\b")
_FROM_MONTH_TO_MONTH_JAPANESE = re.compile(r"(?<!\d)(\d{1,2})月(?:から|~|-|〜)(\d{1,2})月")


def with_western_years(normal: str) -> str:
    """A normalised text with the years of Japanese eras counted as ours: 令和7年 → 2025年."""
    return _ERA_YEAR.sub(lambda match: f"{_year_of(match)}年", normal) if "年" in normal else normal


def years_of_eras(normal: str) -> frozenset[str]:
    """The years of our count that a normalised text names by a Japanese era: 令和7年 → `2025`."""
    return frozenset(map(_year_of, _ERA_YEAR.finditer(normal)))


def _year_of(match: re.Match[str]) -> str:
    return str(_ERAS[match.group(1)] + (1 if match.group(2) == "元" else int(match.group(2))))


def with_digits(normal: str) -> str:
    """`normal` with the kanji numerals before a counter as digits."""
    return _NUMERALS.sub(_digits, normal)


def _digits(match: re.Match[str]) -> str:
    text, (start, end) = match.string, match.span()
    if start and text[start - 1] in _NO_NUMERAL_AFTER:
        return match.group()
    hour = text.startswith("時", end) and text.endswith(_HALVES_OF_A_DAY, 0, start)
    return str(_value(match.group())) if hour or _COUNTER.match(text, end) else match.group()


@lru_cache(maxsize=1024)
def _value(numeral: str) -> int:
    if not _SCALES.keys() & set(numeral):
        return int("".join(str(_KANJI_DIGITS[character]) for character in numeral))
    total = digit = 0
    for character in numeral:
        if character in _SCALES:
            total += (digit or 1) * _SCALES[character]
            digit = 0
        else:
            digit = _KANJI_DIGITS[character]
    return total + digit


def with_halves(normal: str) -> str:
    """`normal` with halves counted: "three and a half years" → "3.5 years", 「1年半」 → 「1年6か月」."""
    if "半" in normal:
        normal = _YEARS_AND_A_HALF.sub("年6か月", normal)
    if "half" not in normal:
        return normal
    normal = _HALF_A_YEAR.sub("6 months", normal)
    normal = _ONE_AND_A_HALF.sub(r"1.5 \1s", normal)
    return _AND_A_HALF.sub(lambda match: f"{ENGLISH_NUMBERS.get(match.group(1), match.group(1))}.5", normal)


def months_between(normal: str) -> str:
    """The months that a text means without naming them: "november to march" → "december january february"; else ""."""
    found = []
    if match := _FROM_MONTH_TO_MONTH.search(normal):
        first, last = (_MONTHS.index(name) for name in match.groups())
        found += [_MONTHS[at % 12] for at in range(first + 1, last + (12 if last <= first else 0))]
    if match := _FROM_MONTH_TO_MONTH_JAPANESE.search(normal):
        first, last = (int(number) for number in match.groups())
        found += [f"{(at - 1) % 12 + 1}月" for at in range(first + 1, last + (12 if last <= first else 0))]
    return " ".join(found)
