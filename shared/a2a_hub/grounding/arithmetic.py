"""Figures that are not in a quote but follow from those that are, by one or two steps of arithmetic."""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations

from a2a_hub.text.quantities import Quantity
from a2a_hub.text.units import COUNTERS, MONEY, SCALED

_RECKONS = re.compile(
    r"\b(?:per|between\sthem|total\w*|together|altogether|in\sall|sum|surplus|deficit|profit|overall|combined|adds?\sup|comes?\sto|amounts?\sto|makes?|would|each|split"
    r"|hal(?:f|ves?|ved)|plus|minus|times|left|remain\w*|difference|leav(?:e|es|ing)|double|twice|sav(?:e|es|ing|ings)|gr[eo]w\w*|comes?\sdown|by\s(?=[$€£¥]?\d)|(?:year|month|week|season)\sbefore|too\s(?:few|many|little|much|low|high|short|late)|short\sof|increas\w+|decreas\w+"
    r"|(?:more|less|\w+er)\s(?:\w+\s){0,3}than|compared\s(?:with|to)|(?:went|gone?|goes)\s(?:up|down)|rose|fell|that\sis|works?\sout)\b"
    r"|[ヶかカケ]月分|合計|合わせ|あわせ|加え|総額|総計|小計|[黒赤]字|差|残[りる高額]|半[額分値]|なら|ずつ|より|倍|掛け|増|減|違[いう]|足り|不足|つまり|すなわち|なので|ですので|上回|下回|(?<!以)上が|下が|超過|ですから|計(?=[\d約])|高く|低く|安く|上昇|低下"
    r"|(?:[%％割]|per\s?cent|パーセント)\s?(?:of|[のにはでを増引])|[+＋×÷=＝*]|\d\s(?:more|less|extra|dearer|cheaper)\b|\d[^\d\s]{0,3}\s?[-－−–]\s?[$€£¥]?\d",
    re.IGNORECASE,
)
_HALF = re.compile(r"\bhal(?:f|ves?|ved)\b|\btwice\b|\bdoubled?\b|半[額分値減]|[2２二]倍", re.IGNORECASE)
_MONTHS, _YEARS = re.compile(r"\bmonth|月", re.IGNORECASE), re.compile(r"\byear|\bannual|年", re.IGNORECASE)
_MAX_FIGURES, _MAX_NAMED, _MAX_RESULTS = 14, 8, 8

_Amount = tuple[Fraction, str]


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

    `text` is the sentence with its question. One step needs no more than the sources, but a second step two figures that are
    named. Without a word of reckoning only amounts of money follow, and only from a figure that is `asked` about: others come
    out by chance.
    """
    left = [each for each in told if _is_number(each) and each not in borne_out][:_MAX_RESULTS]
    sources, of_question = _amounts(given)[:_MAX_FIGURES], _amounts(asked)[:_MAX_RESULTS]
    # 7 × 12 / 12 does not turn seven persons into a price.
    values = {each.value for each in asked}
    money = [each for each in left if each.unit in MONEY and each.value not in values and not _is_scaled(each, given)]
    found = _in_turn(money, of_question, sources, needs_named=True)
    if reckons(text):
        beside = text  # what says half is not the figure itself
        for each in left:
            beside = beside.replace(text[each.start : each.end], "")
        named = [*(_amounts(borne_out) or of_question), *_amounts(found)]
        sums = {(sum((each for each, its in named if its in (unit, "")), Fraction()), unit) for _, unit in named}
        found += [each for each in left if each not in found and _is_among(each, sums)]
        named += [(Fraction(2), "")] * bool(_HALF.search(beside))
        named += [(Fraction(12), "")] * bool(_MONTHS.search(text) and _YEARS.search(text))
        found += _in_turn([each for each in left if each not in found], named, sources, needs_named=False)
    return found


def _is_number(quantity: Quantity) -> bool:
    return quantity.kind == "number" and "/" not in quantity.value


def _amounts(figures: Sequence[Quantity]) -> list[_Amount]:
    return list(dict.fromkeys((Fraction(each.value), each.unit) for each in figures if _is_number(each)))


def _is_scaled(amount: Quantity, given: Sequence[Quantity]) -> bool:
    """Return True if the amount is a given one multiplied or divided by a power of ten."""
    digits = amount.value.replace(".", "").strip("0")
    return any(each.unit == amount.unit and each.value.replace(".", "").strip("0") == digits for each in given)


def _in_turn(
    wanted: Sequence[Quantity], named: Sequence[_Amount], sources: Sequence[_Amount], *, needs_named: bool
) -> list[Quantity]:
    """Return the figures that follow, each of which may bear out the next ones."""
    found: list[Quantity] = []
    while more := _following(
        [each for each in wanted if each not in found], [*named, *_amounts(found)], sources, needs_named=needs_named
    ):
        found += more
    return found


def _following(
    wanted: Sequence[Quantity], named: Sequence[_Amount], sources: Sequence[_Amount], *, needs_named: bool
) -> list[Quantity]:
    """Return the figures that one step gives, or else two."""
    if not wanted:
        return []
    named = named[-_MAX_NAMED:]
    known = list(dict.fromkeys([*named, *sources]))[:_MAX_FIGURES]
    pairs = [
        (pair, result)
        for pair in permutations(known, 2)
        if not needs_named or any(each in named for each in pair)
        for result in _results(*pair)
    ]
    once = {result for _, result in pairs}
    if found := [each for each in wanted if _is_among(each, once)]:
        return found
    twice: set[_Amount] = set()
    for pair, result in pairs:
        count = sum(each in named for each in pair)
        for other in known if count else ():
            # A count that is named, times a rate, with an amount beside it: two at 78 and one at 39.
            is_beside = pair[0][1] != pair[1][1] and result[1] == other[1] and other[1] in MONEY
            if other not in pair and (needs_named or is_beside or count + (other in named) > 1):
                twice.update((*_results(result, other), *_results(other, result)))
    if not needs_named:
        twice.update(
            (a + b + c, unit) for (a, unit), (b, two), (c, three) in combinations(known, 3) if unit == two == three
        )
    return [each for each in wanted if _is_among(each, twice)]


def _is_among(figure: Quantity, results: set[_Amount]) -> bool:
    value, unit = Fraction(figure.value), figure.unit
    if not unit:
        return any(value == result for result, _ in results)
    # Every 4 hours is six times in 24 hours, and a deposit two months of rent.
    return (value, unit) in results or ((unit in COUNTERS or unit == "month") and (value, "") in results)


def _results(one: _Amount, other: _Amount) -> Iterator[_Amount]:
    """Yield what a step of arithmetic makes of two amounts: sum, difference, ratio, share, product, rate."""
    (first, unit), (second, its) = one, other
    if its in (unit, ""):
        yield from ((first + second, unit), (first - second, unit))
    if unit == its and second:
        yield from ((first / second, ""), (100 * first / second, "percent"))
    if unit == its in ("", "percent"):
        yield first - second, "point"
    if its == "percent":
        yield from ((first * share / 100, unit) for share in (second, 100 + second, 100 - second))
    elif unit != its or not unit:
        for factor in _factors(its):
            yield first * second / factor, unit
            if second:
                yield first / second * factor, unit


def _factors(unit: str) -> set[Fraction]:
    """Return by what a figure of a unit may be divided: so many minutes are hours, so many milligrams kilograms."""
    factors = (factor for factor, base in SCALED.values() if base == unit)
    return {Fraction(each) for each in (1, 60 if unit == "min" else 1, *factors)}
