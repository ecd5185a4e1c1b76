"""Whether a sentence counts what a question counts: "how many days", 「何人」."""

import re
from functools import lru_cache

from functions.docqa.questions.expressions import NUMBER
from functions.docqa.vocabulary.words import stem

_SAME_UNIT = (
    ("second", "sec", "秒"),
    ("minute", "min", "分"),
    ("hour", "hr", "時間"),
    ("day", "日", "営業日"),
    ("week", "週間", "週"),
    ("month", "ヶ月", "か月", "カ月", "箇月"),
    ("year", "年"),
    ("time", "回", "度"),
    ("people", "person", "人", "名"),
    ("percent", "percentage", "%", "パーセント", "割"),
    ("copy", "部", "枚"),
    (
        "length",
        "character",
        "letter",
        "digit",
        "word",
        "page",
        "metre",
        "meter",
        "m",
        "cm",
        "mm",
        "km",
        "文字",
        "桁",
        "字",
        "メートル",
        "センチ",
        "ミリ",
    ),
    ("m2", "平方メートル", "平米"),
    ("m3", "立方メートル"),
    ("weight", "kg", "gram", "g", "ton", "tonne", "lb", "pound", "キロ", "グラム", "トン"),
    ("loudness", "db", "decibel", "デシベル"),
    ("heat", "degree", "°c", "℃", "°f", "度"),
    ("character", "文字", "桁"),
    ("age", "歳", "才"),
    ("yen", "円"),
    ("night", "泊"),
    ("item", "piece", "個", "点"),
    ("book", "volume", "冊", "点"),
    ("degree", "度", "℃"),
    ("case", "件"),
    ("floor", "階"),
    ("w", "watt", "ワット"),
    ("v", "volt", "ボルト"),
    ("a", "ampere", "アンペア"),
    ("time", "時"),
)
_SYMBOL = 2
_DURATIONS = tuple(
    re.compile(rf"{NUMBER}[ -]*(?:[a-z]+[ -]){{0,2}}?(?:{latin})s?\b|\d ?(?:{japanese})")
    for latin, japanese in (
        ("second|sec", "秒"),
        ("minute|min", "分(?!の)"),
        ("hour|hr", "時間"),
        ("day|night", "営業日|日(?!付)|泊"),
        ("week", "週"),
        ("month", "[ヶかカ箇]月"),
        ("year", "年"),
    )
)
_TIME_UNITS = (
    "second",
    "minut",
    "hour",
    "dai",
    "week",
    "month",
    "year",
    "秒",
    "分",
    "時間",
    "日",
    "週間",
    "か月",
    "年",
)
_FAR_APART = 2


@lru_cache(maxsize=512)
def _pattern(unit: str) -> re.Pattern[str]:
    key = stem(unit)
    names = {unit, key}
    for group in _SAME_UNIT:
        if any(key == stem(name) or unit == name for name in group):
            names.update(group)
    latin = "|".join(
        re.escape(form) + ("(?![a-z])" if len(name) <= _SYMBOL else "")  # 2m, and no 24 months
        for name in sorted(names)
        if name.isascii() and name.isalpha()
        for form in sorted({stem(name), name} if not name.startswith(stem(name)) else {stem(name)})  # people, a copy
    )
    other = "|".join(re.escape(name) for name in sorted(names) if not (name.isascii() and name.isalpha()))
    parts = []
    if latin:
        parts.append(rf"{NUMBER}[ -]*(?:\w+[ -]){{0,3}}?(?:{latin})\w*")
    if other:
        parts.append(
            rf"(?<!\d)(?!(?:19|20)\d\d ?年)(?:\d+(?:\.\d+)?[千万億]?|[一二三四五六七八九十百]+) ?(?:{other})"
            r"(?!(?<=時)間|\d|あたり|当たり|につき)"
        )
    if "歳" in names:
        parts.append(r"\bage[ds]?(?: of)? \d|\d(?:[ -]years?)?[ -]old|\d years\b")
    if "回" in names:
        parts.append(r"\b(?:once|twice)\b")
    if "時" in names:
        parts.append(r"\d{1,2}:\d{2}|\b\d{1,2} ?[ap]\.?m\b")
    return re.compile("|".join(parts))


# What an adjective asks for is in these units or not at all: "how heavy" is not answered by seconds.
MEASURES = frozenset(
    {"回", "weight", "loudness", "heat", "kg", "g", "グラム", "キログラム", "トン", "db", "デシベル"}
    | {
        "m2",
        "m3",
        "平方メートル",
        "立方メートル",
        "平米",
        "m",
        "cm",
        "mm",
        "km",
        "メートル",
        "センチ",
        "ミリ",
        "ワット",
        "リットル",
    }
    | {"kb", "mb", "gb", "tb", "w", "kw", "v", "a", "hz", "khz", "mhz", "ボルト", "アンペア"}
)


def counts(unit: str, normal: str) -> bool:
    """Whether the normalised sentence has a number of `unit`s, in either language."""
    return _pattern(unit).search(normal) is not None


def counts_only_what_it_narrows(word: str, normal: str) -> bool:
    """Whether a number is of things that the word only narrows: two key custodians are no keys."""
    return re.search(rf"{NUMBER} (?:[\w-]+ ){{0,2}}?{re.escape(word)}\w*(?<!s) [a-z-]+s\b", normal) is not None


def lasts_otherwise(unit: str, normal: str) -> bool:
    """Whether all durations of the sentence are far shorter or longer than the `unit` of time that is asked for.

    Six months are no answer in hours; two days are.
    """
    key = "か月" if unit in ("ヶ月", "カ月") else "日" if unit == "営業日" else stem(unit)
    if key not in _TIME_UNITS:
        return False
    wanted = _TIME_UNITS.index(key) % len(_DURATIONS)
    said = [rank for rank, pattern in enumerate(_DURATIONS) if pattern.search(normal)]
    return bool(said) and all(abs(rank - wanted) > _FAR_APART for rank in said)
