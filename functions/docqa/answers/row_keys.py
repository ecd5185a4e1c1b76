"""Rows of a table that are found by a number: "grade 5" stands in the row whose column "grade" says 5, and in no other."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import zip_longest

from functions.docqa.answers.judged import normal_of
from functions.docqa.model import Unit, UnitKind
from functions.docqa.questions.ranges import Range, is_wider
from functions.docqa.vocabulary.words import normalise, plain

_LEAST_NAME = 2
_KEY = r"[ \"'」』]*(?:が|は|の|を|:|=|is|of)? *(?<![\d.])(-?\d+)(?![\d.]*\d|\.?\d| ?[a-z%円日時分秒年月週回人名個件歳万千])"
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?![\w.]*\d)")
_UNIT_NAME = re.compile(
    r"\b(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|yen|jpy|usd|eur|gbp|euros?|dollars?|pounds?)\b|[€$£¥%]"
    r"|\b(?:price|cost|fee|charge|fare)\b"
)
_OF_MONEY = "¤"  # in whichever currency
_SIGNS = {"€": "euros", "$": "dollars", "£": "pounds", "¥": "yen"} | dict.fromkeys(
    ("price", "cost", "fee", "charge", "fare"), _OF_MONEY
)
_AMOUNT = re.compile(r"\W*\d+(?:\.\d+)?(?: ?[-–] ?\d+(?:\.\d+)?)?\W*")
_ALONE = re.compile(r"\W*-?\d+\W*")


def with_units(unit: Unit, normal: str) -> str:
    """The text of a row with the unit that its header gives a bare number: 5 in a column "Days" is 5 days."""
    units = _units_of(unit.header)
    if not any(units):
        return normal
    cells = normal.split("|")
    return "|".join(
        f"{cell.rstrip()} {name} " if name and _AMOUNT.fullmatch(cell) else cell
        for cell, name in zip_longest(cells, units[: len(cells)], fillvalue="")
    )


@lru_cache(maxsize=4096)
def _units_of(header: str) -> tuple[str, ...]:
    found = (_UNIT_NAME.search(normalise(plain(name))) for name in header.split("|"))
    return tuple(_SIGNS.get(match.group(), match.group()) if match else "" for match in found)


def is_of_another_row(asked: str, unit: Unit) -> bool:
    """Whether a row has another number in the column that the question gives a number for."""
    if unit.kind is not UnitKind.ROW or not unit.header or not any(map(str.isdigit, asked)):
        return False
    cells = [normalise(plain(cell)) for cell in unit.text.split("|")]
    return any(
        _ALONE.fullmatch(cell) and number not in _NUMBER.findall(cell)
        for cell, number in zip(cells, _numbers_for(asked, unit.header), strict=False)
        if number
    )


def holds_it_tighter(amounts: list[Range], units: Sequence[Unit], number: int) -> bool:
    """Whether another row of the table holds the amount asked about within a nearer bound."""
    row = units[number]
    return row.header != "" and any(
        is_wider(amounts, normal_of(row.text), normal_of(other.text))
        for other in units
        if other.kind is UnitKind.ROW and other.header == row.header
    )


@lru_cache(maxsize=1024)
def _numbers_for(asked: str, header: str) -> tuple[str, ...]:
    """The number that the question gives for each column, "" for the others."""
    return tuple(_number_after(normalise(plain(name)).strip(), normalise(asked)) for name in header.split("|"))


def _number_after(name: str, asked: str) -> str:
    if len(name) < _LEAST_NAME:
        return ""
    match = re.search(re.escape(name) + _KEY, asked)
    return match.group(1) if match else ""
