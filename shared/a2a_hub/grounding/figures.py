"""The figures of a sentence: each must occur in its quotes or the question, with its unit and its limit."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from operator import ge, gt, le, lt

from a2a_hub.grounding import calendar
from a2a_hub.grounding.arithmetic import reckoned, reckons
from a2a_hub.grounding.association import column_names, is_misplaced, is_of_another_column
from a2a_hub.grounding.clauses import clause_at, is_japanese, terms_of
from a2a_hub.grounding.cues import NEGATIVE, cues_of, lexical_denials
from a2a_hub.grounding.evidence import Evidence
from a2a_hub.grounding.limits import Limit, agree, is_outside, limit_named, limit_of
from a2a_hub.text.normalization import compose
from a2a_hub.text.quantities import Quantity, blanked, plain, quantities
from a2a_hub.text.quantity_patterns import DOLLARS, UNIT_NAMES
from a2a_hub.text.units import COUNTERS, SCALED, SIGNS, UNITS

_MENTION = re.compile(
    rf"(?P<scale>十億|百万|億|千万|千|万|\bthousands?\b|\bmillions?\b|\bbillions?\b|\bk(?=[¥$€£])"
    rf"|\b000s?\b)?\s?(?:of\s)?"
    rf"(?P<unit>[¥€£]|(?<![a-z])(?:{DOLLARS})|\$|(?<![a-z])(?:{UNIT_NAMES}))(?P<after>\s?(?:thousands?|millions?|billions?|bn\b|'?000s?|k\b|m\b))?"
)
_UNIT_OF_COLUMN = re.compile(r"[(（\[]([^()（）\d〜~,、]{1,12})[)）\]]\s*$")
_RATE = re.compile(rf"(?:\bper\s|/)(?P<unit>{UNIT_NAMES})")
_SCALES = {"十億": 10**9, "百万": 10**6, "億": 10**8, "千万": 10**7, "千": 10**3, "万": 10**4, "mi": 10**6, "m": 10**6}
_LIMITED = ("number", "date", "time", "fiscal")
_ENOUGH_LETTERS = 60
# Two days are 48 hours, and €0.20 are 20 cents.
_EQUAL = {("d", "min"): Fraction(1, 1440), ("min", "d"): Fraction(1440)}
_EQUAL |= {("s", "min"): Fraction(60), ("min", "s"): Fraction(1, 60)}
_EQUAL |= {(money, "cent"): Fraction(1, 100) for money in ("usd", "eur")}
_EQUAL |= {("cent", money): Fraction(100) for money in ("usd", "eur")}
# 15 metres per second are 毎秒15メートル, and a speed of 5 km/h 時速5キロ.
_EQUAL |= {("mps", "mm"): Fraction(1, 1000), ("mm", "mps"): Fraction(1000), ("kmh", "mm"): Fraction(1, 10**6)}
_EQUAL |= {("mm", "kmh"): Fraction(10**6), ("kmh", "mg"): Fraction(1, 10**6), ("mg", "kmh"): Fraction(10**6)}
_EQUAL |= {("kl", "m3"): Fraction(1), ("m3", "kl"): Fraction(1)}
_EQUAL[("age", "month")] = Fraction(1, 12)  # "from 50 years" of a table is 50歳以上
# What follows such a word is the other side of a limit: larger files, それを超える分.
_CONTRAST = re.compile(
    r"(?<!\bor )(?<!\band )\b(?:larger|smaller|longer|shorter|higher|lower|older|younger|heavier|lighter|later"
    r"|earlier)\b(?! than)"
    r"|\b(?:otherwise|thereafter|overdue|late|others|previous(?:ly)?|(?:after|beyond|until|before) (?:that|this|then))\b"
    r"|[それこ]れ(?:以外|を超え|より)|その後|従来|それまで|超過分|延滞|遅れた|期限を過ぎ",
    re.IGNORECASE,
)
_NTH = r"first|one|an?|single|once|each|every|per second|both third fourth fifth sixth seventh eighth"
_ORDINALS = dict(enumerate(re.findall(r"\S+", _NTH), 1))
_ADVERBS = [
    ("year", re.compile(r"\bannual|\byearly\b|per annum|\bp\.a\.|年[額次]|毎年|年に?[\d一]", re.IGNORECASE)),
    ("week", re.compile(r"\bweekly\b|毎週|週に?[\d一]", re.IGNORECASE)),
    ("d", re.compile(r"\bdaily\b|毎日|日額|日に[\d一]", re.IGNORECASE)),
    ("month", re.compile(r"\bmonthly\b|月[額次々]|毎月|月に?[\d一]", re.IGNORECASE)),
]
_HOLDS = {Limit.LESS: lt, Limit.AT_MOST: le, Limit.MORE: gt, Limit.AT_LEAST: ge}
_EACH = re.compile(r"分|ごと|に|度|か月分|あたり|当たり|につき|毎|目|最[大低高]|\d")


@dataclass(frozen=True, slots=True)
class _Given:
    quantity: Quantity
    limit: Limit | None
    in_japanese: bool
    is_asked: bool = False
    is_guessed: bool = False
    clause: str = ""
    has_contrast: bool = False


def figure_flaws(sentence: str, quotes: Sequence[Evidence], question: str) -> Iterator[str]:
    """Yield "number", "unit", "date", "time", "code", "clause" or "boundary" for each figure that does not agree."""
    # Units that a note beside a table gives: 金額は税込み（円）.
    noted = list(dict.fromkeys(_mentions(blanked(" ".join(quote.text for quote in quotes)))))
    has_contrast = any(_CONTRAST.search(quote.text) for quote in quotes)
    given = list(dict.fromkeys(each for quote in quotes for each in _of_quote(quote, noted, has_contrast=has_contrast)))
    given += [_Given(_placeless(each), None, is_japanese(question), is_asked=True) for each in quantities(question)]
    texts = "\n".join([question, *(line for quote in quotes for line in (quote.text, *quote.context))])
    in_japanese = is_japanese(sentence)
    asked_first = sorted(given, key=lambda each: not each.is_asked)
    known = list(dict.fromkeys(each.quantity for each in asked_first if not each.is_guessed))
    told = quantities(sentence)
    rows = [quote.text for quote in quotes]
    count = sum("|" in row for row in rows)
    asked = frozenset(terms_of(f"{sentence}\n{question}"))
    alike_of = [
        [each for each in given if (said.unit or not each.is_guessed) and _is_said_by(said, each, given, in_japanese)]
        for said in told
    ]
    borne_out = [said for said, alike in zip(told, alike_of, strict=True) if alike]
    of_question = [each.quantity for each in given if each.is_asked]
    units = {said.unit for said in told if said.unit}
    guessed = dict.fromkeys(each.quantity for each in given if each.is_guessed and each.quantity.unit in units)
    follows = reckoned(told, borne_out, of_question, [*guessed, *known], f"{sentence} {question}")
    follows += [said for said in told if calendar.follows(said, told=told, asked=of_question, given=known, texts=texts)]
    for said, alike in zip(told, alike_of, strict=True):
        is_count = 1 < count == _whole(said.value) and said.unit in COUNTERS | {""}
        if not (alike or said in follows or is_count or _stands_in(said, sentence, texts)):
            has_value = said.kind == "number" and any(
                (each.kind, each.value) == ("number", said.value) for each in known
            )
            yield "unit" if has_value else said.kind
        cited = [each for each in alike if not each.is_asked]
        found = {each.quantity.term for each in alike}
        if (
            cited == alike
            and not reckons(sentence)
            and (
                is_misplaced(said, told, rows, asked, found)
                or (said.kind in _LIMITED and is_of_another_column(said, told, sentence, quotes))
            )
        ):
            yield said.kind
        if said.kind in _LIMITED and cited and not _agrees(said, sentence, cited, told):
            yield "boundary"
    # Half a per cent is no rate.
    rates = {UNITS[match["unit"]] for match in _RATE.finditer(blanked(sentence).lower())} - COUNTERS - {"cent"}
    if rates - {unit for factor, unit in _mentions(texts) if factor == 1}:
        yield "unit"


def _agrees(said: Quantity, sentence: str, cited: Sequence[_Given], told: Sequence[Quantity]) -> bool:
    """Return True if the limit is one of those at the figure, or its other side, of which the opposite is said.

    A figure without a limit may be compared with another one of the sentence: 135 is below 150.
    """
    clause = clause_at(sentence, said.start)
    limit = limit_of(sentence, said)
    compares = limit in _HOLDS and any(_is_beside(each, said, limit) for each in told)
    for each in cited:
        if compares and each.limit is None:
            return True
        is_turned = _denies(clause) != _denies(each.clause)
        is_unclear = each.has_contrast or bool(lexical_denials(clause)) != bool(lexical_denials(each.clause))
        if agree(limit, each.limit, said.kind):
            return True
        if (is_unclear or is_turned) and is_outside(sentence, said, each.limit):
            return True
    return False


def _is_beside(other: Quantity, said: Quantity, limit: Limit) -> bool:
    is_alike = (other.kind, other.unit) == (said.kind, said.unit) and said.kind == "number"
    return is_alike and other is not said and _HOLDS[limit](Fraction(other.value), Fraction(said.value))


def _denies(text: str) -> bool:
    return any(each.cue in NEGATIVE for each in cues_of(text))


def _placeless(quantity: Quantity) -> Quantity:
    """Return the quantity without its position, since it may occur several times."""
    return replace(quantity, start=0, end=0)


def _of_quote(quote: Evidence, noted: Sequence[tuple[int, str]], *, has_contrast: bool) -> Iterator[_Given]:
    in_japanese = is_japanese(quote.text)
    # What heads a section, or else a column, may give its bare figures their unit.
    mentioned = list(dict.fromkeys((*_mentions(" ".join((*quote.context, quote.text))), *noted)))
    names = column_names(quote)
    for each in quantities(quote.text):
        limit, clause = limit_of(quote.text, each), clause_at(quote.text, each.start)
        if "|" in quote.text and not limit:
            limit = limit_named(_names_of(quote, each))
        given = _Given(_placeless(each), limit, in_japanese, clause=clause, has_contrast=has_contrast)
        yield given
        if each.kind == "number" and not each.unit:
            column = names[quote.text.count("|", 0, each.start)] if names else ""
            for factor, unit in _units_of_column(column) or mentioned:
                yield replace(given, quantity=_scaled(given.quantity, factor, unit), is_guessed=True)
    for line in quote.context:
        for each in quantities(line):
            yield _Given(_placeless(each), limit_of(line, each), in_japanese)


def _names_of(quote: Evidence, figure: Quantity) -> str:
    """Return the names of a figure's row and column."""
    names, column = column_names(quote), quote.text.count("|", 0, figure.start)
    return f"{quote.text.split('|')[0]} {names[column] if names else ''}"


def _units_of_column(name: str) -> list[tuple[int, str]]:
    """Return the unit that a column's name ends in, with its scale: Tare (t), 質料(月・%), 売上高（千円）."""
    found = _UNIT_OF_COLUMN.search(name)
    unit = compose(found[1]).split("・")[-1].lower() if found else ""
    return [(1, UNITS[unit])] if unit in UNITS else list(_mentions(unit))


def _mentions(text: str) -> Iterator[tuple[int, str]]:
    """Yield the units that a heading or a column's name gives, with their scale: 千円 is (1000, jpy)."""
    yield from _adverbs(text)
    for match in _MENTION.finditer(blanked(compose(text), "date").lower()):
        scale = match["scale"] or (match["after"] or "").strip() or ""
        factor = _SCALES.get(scale) or _SCALES.get(scale[:2]) or (10**9 if scale[:1] == "b" else 10**3 if scale else 1)
        unit = SIGNS.get(match["unit"]) or UNITS[match["unit"]]
        yield factor, unit


def _adverbs(text: str) -> Iterator[tuple[int, str]]:
    words = text.replace("_", " ")  # monthly_fee
    yield from ((1, unit) for unit, adverb in _ADVERBS if adverb.search(words))


def _scaled(quantity: Quantity, factor: int, unit: str) -> Quantity:
    more, base = _base(unit)
    if "/" in quantity.value:
        return quantity
    return replace(quantity, value=plain(Decimal(quantity.value) * factor * more), unit=base)


def _base(unit: str) -> tuple[Decimal | int, str]:
    """Return one of a unit in the normal form."""
    return (60, "min") if unit == "h" else SCALED.get(unit, (1, unit))


def _is_said_by(said: Quantity, each: _Given, given: Sequence[_Given], in_japanese: bool) -> bool:
    found = each.quantity
    match said.kind, found.kind:
        case "number", "number":
            return _is_same_amount(said, found, is_foreign=in_japanese != each.in_japanese)
        case "number", "date":
            parts = found.value.split("-")
            alike = [part.isdigit() and int(part) == _whole(said.value) for part in parts]
            return any(alike) if not said.unit else said.unit == "d" and len(parts) > 1 and alike[-1]
        case "number", "time":
            return not said.unit and _whole(said.value) in (int(found.value[:2]), int(found.value[:2]) % 12)
        case "number", "clause" | "fiscal" | "quarter" | "code":
            return not said.unit and found.value in (said.value, f"v{said.value}")
        case "date", "date":
            return _is_same_date(said.value, found.value, given)
        case "date", "number":
            parts = said.value.split("-")
            is_day = len(parts) > 1 and found.unit == "d" and int(parts[-1]) == _whole(found.value)
            return is_day or (len(parts) == 1 and parts[0] == found.value)
        case "date", "fiscal":
            return said.value == found.value
        case "fiscal", "number":
            return said.value == found.value and not found.unit
        case "clause", "clause":
            return said.value == found.value and (
                said.unit == found.unit or (in_japanese != each.in_japanese and "form" not in (said.unit, found.unit))
            )
        case "clause", "number" | "code":
            return said.value == found.value and not found.unit
    return (said.kind, said.value) == (found.kind, found.value)


def _is_same_amount(said: Quantity, found: Quantity, *, is_foreign: bool) -> bool:
    if not said.unit:
        factors = [factor for factor, base in SCALED.values() if base == found.unit] + [60] * (found.unit == "min")
        return any(Fraction(said.value) * Fraction(factor) == Fraction(found.value) for factor in (1, *factors))
    if (said.unit, found.unit) in _EQUAL:
        return Fraction(said.value) == Fraction(found.value) * _EQUAL[said.unit, found.unit]
    if said.value != found.value:
        return False
    if said.unit == found.unit:
        return True
    if said.unit in COUNTERS:
        return not found.unit or (found.unit in COUNTERS and (is_foreign or "item" in (said.unit, found.unit)))
    return False


def _is_same_date(said: str, found: str, given: Sequence[_Given]) -> bool:
    (year, *rest), (found_year, *found_rest) = _date_parts(said), _date_parts(found)
    if any(part and part != other for part, other in zip(rest, found_rest, strict=True)):
        return False
    if not year or year == found_year:
        return True
    return not found_year and any(each.quantity.value[:4] == year for each in given)


def _date_parts(value: str) -> tuple[str, str, str]:
    parts = value.split("-")
    year = parts.pop(0) if len(parts[0]) == 4 else ""
    month, day, *_ = *parts, "", ""
    return year, month, day


def _whole(value: str) -> int:
    return int(value) if value.isdigit() else -1


def _stands_in(said: Quantity, sentence: str, texts: str) -> bool:
    """Return True for a code with other separators, "a week" where weeks are spoken of, and for one more of what is told."""
    written = sentence[said.start : said.end]
    if said.value == "1" and sentence[: said.start].endswith(("もう", "に")) and said.unit in ("", "time", "celsius"):
        return True
    ordinal = _ORDINALS.get(_whole(said.value))
    if ordinal and said.unit in COUNTERS | {""} and re.search(rf"\b(?:{ordinal})\b", texts, re.IGNORECASE):
        return True
    is_rate = re.match(r"(?:an?|one)\s", written, re.IGNORECASE)
    if is_rate or (re.match(r"[1１一]", written) and _EACH.match(sentence[said.end :])):
        mentions = (*_mentions(blanked(texts)), *_adverbs(texts))
        return any(_base(unit) == (_whole(said.value), said.unit) for _, unit in mentions)
    if (said.kind != "code" and not (said.kind == "clause" and "." in said.value)) or len(said.value) > _ENOUGH_LETTERS:
        return False
    loose = r"[-_\s.]?".join(map(re.escape, said.value))
    return re.search(rf"(?<![a-z0-9.])(?:{loose})(?![a-z0-9])", texts.lower(), re.ASCII) is not None
