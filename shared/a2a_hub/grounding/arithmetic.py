"""Figures that are not in a quote but follow from those that are: a sum, a difference, a product, a share, a half.

A sentence may calculate in steps (2 × 4,000 and 10,000): derived figures may be used to derive others.
"""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations

from a2a_hub.text.quantities import Quantity
from a2a_hub.text.units import MONEY, SCALED

_RECKONS = re.compile(
    r"\b(?:per|between\sthem|total\w*|together|altogether|in\sall|sum|surplus|deficit|profit|overall|combined|adds?\sup|comes?\sto|amounts?\sto|makes?|would|each|split"
    r"|hal(?:f|ves?|ved)|plus|minus|times|left|remain\w*|difference|leav(?:e|es|ing)|double|twice|sav(?:e|es|ing|ings)|gr[eo]w\w*|comes?\sdown|by\s(?=[$€£¥]?\d)|too\s(?:few|many|little|much|low|high|short|late)|short\sof|increas\w+|decreas\w+"
    r"|(?:more|less|\w+er)\s(?:\w+\s){0,3}than|compared\s(?:with|to)|(?:went|gone?|goes)\s(?:up|down)|rose|fell|that\sis|works?\sout)\b"
    r"|[ヶかカケ]月分|合計|合わせ|あわせ|加え|総額|総計|小計|[黒赤]字|差|残[りる高額]|半[額分値]|なら|ずつ|より|倍|掛け|増|減|違[いう]|足り|不足|つまり|すなわち|なので|ですので|上回|下回|(?<!以)上が|下が|超過|ですから|計(?=[\d約])|高く|低く|安く|上昇|低下"
    r"|(?:[%％割]|per\s?cent|パーセント)\s?(?:of|[のにはでを増引])|[+＋×÷=＝*]|\d[^\d\s]{0,3}\s?[-－−–]\s?[$€£¥]?\d",
    re.IGNORECASE,
)
_PLUS = re.compile(r"\s*(?:[+＋]|plus|and|,|と)\s*")
_HALF = re.compile(r"\bhal(?:f|ves?|ved)\b|\btwice\b|\bdoubled?\b|半[額分値減]|[2２二]倍", re.IGNORECASE)
_MONTHS, _YEARS = re.compile(r"\bmonth|月", re.IGNORECASE), re.compile(r"\byear|\bannual|年", re.IGNORECASE)
_CHANGED = re.compile(
    r"\boff\b|\bdiscount|\breduc|\bsurcharge|\bincreas|\bdecreas|\bplus\b|[引増減加+＋]", re.IGNORECASE
)
_MAX_FIGURES, _MAX_TERMS, _MAX_OF_THREE = 16, 8, 12


def reckons(text: str) -> bool:
    """Return True for a text with a word or sign of calculation."""
    return _RECKONS.search(text) is not None


def reckoned(
    told: Sequence[Quantity],
    borne_out: Sequence[Quantity],
    asked: Sequence[Quantity],
    given: Sequence[Quantity],
    text: str,
) -> list[Quantity]:
    """Return the figures `told` in a sentence that follow from those that are `borne_out` and the `given` ones of its sources.

    `text` is the sentence with its question. Without a word of reckoning only amounts of money follow, and only from a figure
    that is `asked` about: others come out by chance.
    """
    known = list(filter(_is_number, borne_out))
    left = [each for each in told if _is_number(each) and each not in known][:_MAX_TERMS]
    sources = [each for each in given if _is_number(each)][:_MAX_FIGURES]
    if not reckons(text):
        cases = list(filter(_is_number, asked))[:_MAX_TERMS]
        # 7 × 12 / 12 does not turn seven persons into a price.
        values = {case.value for case in cases}
        left = [each for each in left if each.unit in MONEY and each.value not in values]
        amounts = [each for each in left if not _is_scaled(each, given)]
        return [each for each in amounts if Fraction(each.value) in _of_cases(each.unit, cases, sources)]
    found: list[Quantity] = []
    while more := [each for each in left if _follows(each, known, sources, text)]:
        found += more
        known += more
        left = [each for each in left if each not in more]
    return found


def _of_cases(unit: str, cases: Sequence[Quantity], sources: Sequence[Quantity]) -> set[Fraction]:
    pairs = [pair for case in cases for each in sources for pair in ((case, each), (each, case))]
    threes = [(case, *two) for case in cases for two in permutations(sources, 2)]
    return {
        *(value for pair in pairs for value in _pairs(unit, *pair)),
        *(value for three in threes for value in _of_three(unit, *three)),
    }


def _is_scaled(amount: Quantity, given: Sequence[Quantity]) -> bool:
    """Return True if the amount is a given one multiplied or divided by a power of ten."""
    digits = amount.value.replace(".", "").strip("0")
    return any(each.unit == amount.unit and each.value.replace(".", "").strip("0") == digits for each in given)


def _is_number(quantity: Quantity) -> bool:
    return quantity.kind == "number" and "/" not in quantity.value


def _follows(result: Quantity, known: Sequence[Quantity], sources: Sequence[Quantity], sentence: str) -> bool:
    distinct = {(each.value, each.unit): each for each in known}.values()
    # A factor of one changes no product.
    wanted, terms = Fraction(result.value), sorted(distinct, key=lambda each: each.value == "1")[:_MAX_TERMS]
    both = [*terms, *sources]
    alike = [Fraction(each.value) for each in both if each.unit in (result.unit, "") or not result.unit]
    beside = f"{sentence[: result.start]} {sentence[result.end :]}"  # what says half is not the figure itself
    if _HALF.search(beside):
        alike += [value / 2 for value in alike[:_MAX_TERMS]]
    if wanted in map(sum, [*combinations(alike, 2), *combinations(alike, 3)]) or wanted == _sum(known, sentence):
        return True
    if wanted in {value for pair in permutations(both, 2) for value in _pairs(result.unit, *pair)}:
        return True
    if (result.unit != "percent" or _CHANGED.search(sentence)) and wanted in {
        each for pair in permutations(both, 2) for each in _changed(result.unit, *pair)
    }:
        return True
    if _HALF.search(beside) and any(wanted in (value / 2, value * 2) for value in alike):
        return True
    if any(wanted in _of_three(result.unit, *three) for three in permutations(both[:_MAX_OF_THREE], 3)):
        return True
    if (
        _MONTHS.search(sentence)
        and _YEARS.search(sentence)
        and any(wanted in (12 * value, value / 12) for value in alike)
    ):
        return True
    values = [Fraction(each.value) for each in terms]
    return any(
        wanted in (a + b * c, a - b * c, a * b - c, (a - b) * c, (a + b) * c) for a, b, c in permutations(values, 3)
    )


def _sum(known: Sequence[Quantity], sentence: str) -> Fraction | None:
    """Return the longest sum that the sentence writes out: 210＋198＋165＋224箱."""
    best: list[Quantity] = []
    run: list[Quantity] = []
    for each in sorted(known, key=lambda quantity: quantity.start):
        run = [*run, each] if run and _PLUS.fullmatch(sentence[run[-1].end : each.start]) else [each]
        best = max(best, run, key=len)
    return sum((Fraction(each.value) for each in best), Fraction()) if len(best) > 2 else None


def _changed(unit: str, one: Quantity, other: Quantity) -> Iterator[Fraction]:
    """Yield what a share more and a share less make: of an amount, or of the whole."""
    if other.unit == "percent" and unit in (one.unit, "percent"):
        whole, share = Fraction(100 if unit == "percent" else one.value), Fraction(other.value)
        yield from (whole * (100 + share) / 100, whole * (100 - share) / 100)


def _pairs(unit: str, one: Quantity, other: Quantity) -> Iterator[Fraction]:
    first, second = Fraction(one.value), Fraction(other.value)
    if unit == "point" and one.unit == other.unit in ("", "percent"):
        yield first - second
    if one.unit == other.unit and second:
        if unit == "percent":
            yield 100 * first / second
        elif unit in ("", "time", "month"):  # every 4 hours is six times in 24 hours, and a deposit two months of rent
            yield first / second
    if one.unit != unit:
        return
    if other.unit in (unit, ""):
        yield first - second
    if other.unit == "percent":
        yield first * second / 100
    elif other.unit != unit or not unit:
        for factor in _factors(other.unit):
            yield first * second / factor
            if second:
                yield first / second * factor


def _of_three(unit: str, times: Quantity, rate: Quantity, other: Quantity) -> Iterator[Fraction]:
    """Yield a rate for so many units (5 at €20 for 10), and so many times a rate with an amount beside it or taken off it."""
    if rate.unit != unit or times.unit == unit:
        return
    beside, of_rate = Fraction(other.value), Fraction(rate.value)
    for factor in _factors(times.unit):
        count = Fraction(times.value) / factor
        if other.unit == unit:
            yield from (
                count * of_rate - beside,
                count * of_rate + beside,
                beside - count * of_rate,
                count * (of_rate - beside),
            )
        if other.unit == "percent":
            yield from (count * of_rate * (100 - beside) / 100, count * of_rate * (100 + beside) / 100)
    if other.unit == times.unit and beside:
        yield Fraction(times.value) * of_rate / beside


def _factors(unit: str) -> set[Fraction]:
    """Return by what a figure of a unit may be divided: so many minutes are hours, so many milligrams kilograms."""
    factors = (factor for factor, base in SCALED.values() if base == unit)
    return {Fraction(each) for each in (1, 60 if unit == "min" else 1, *factors)}
