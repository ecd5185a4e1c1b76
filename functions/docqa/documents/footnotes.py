"""Footnotes and the sentences that bear their mark: each says what the other is about."""

import re
from collections.abc import Sequence

from functions.docqa.model import Unit, UnitKind

_NOTE = re.compile(r"\s*(?:[-*] )?(\[\^[\w-]{1,12}\](?=:)|[*＊※†‡]\d{0,2}|[(（]?注\d{1,2}[)）]?)[:： 　]?\s*(?=\S)")


def mark_of(unit: Unit) -> str:
    """The mark that a footnote begins with (`[^a]`, `※1`), `""` for what is none."""
    if unit.text[:1] not in "[*＊※†‡(（注- " or unit.kind is UnitKind.LIST:
        return ""
    match = _NOTE.match(unit.text)
    return match.group(1) if match else ""


def marked(units: Sequence[Unit], number: int) -> list[int]:
    """The units that bear the mark of the footnote `number`; none when it is no footnote."""
    mark = mark_of(units[number])
    if not mark:
        return []
    return [at for at, unit in enumerate(units) if at != number and _bears(unit, mark)]


def notes(units: Sequence[Unit], number: int) -> list[int]:
    """The footnotes whose mark the unit bears."""
    if mark_of(units[number]):
        return []
    return [
        at for at, unit in enumerate(units) if at != number and (mark := mark_of(unit)) and _bears(units[number], mark)
    ]


def _bears(unit: Unit, mark: str) -> bool:
    at = unit.text.find(mark)
    if unit.kind is UnitKind.LIST or at <= 0:
        return False
    return not unit.text[at + len(mark) : at + len(mark) + 1].isdigit()
