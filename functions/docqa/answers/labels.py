"""What rows and items are: a label with its value, as in 「頻度 | 毎日」, or a case that something holds for."""

import re
from functools import lru_cache

from functions.docqa.model import Unit, UnitKind
from functions.docqa.vocabulary.words import normalise, plain

_LABEL = re.compile(r"\W*([^|:：]{2,24}?) *(?:\||[:：](?!//)|・{2,}|…+)")
_ASKED_FOR = r"(?:時刻|時間|日|額)?(?:は|が|を|って|とは|\W*$)"
_LED = 0.1
_CASE = re.compile(r"(?:とき|場合|時|者|もの)[。)）]?$")


def label_bonus(asked: str, unit: Unit) -> float:
    """A little for a unit whose label is what a Japanese question asks for."""
    if unit.kind not in (UnitKind.ROW, UnitKind.ITEM) or asked.isascii():
        return 0.0
    label = _LABEL.match(unit.text)
    return _LED if label and _is_asked_for(label.group(1), asked) else 0.0


def names_a_case(unit: Unit) -> bool:
    """Whether an item only names a case: 「無断で早退したとき」 tells nobody what to do."""
    return unit.kind is UnitKind.ITEM and _CASE.search(unit.text.rstrip()) is not None


@lru_cache(maxsize=4096)
def _is_asked_for(label: str, asked: str) -> bool:
    return any(
        len(name) > 1 and re.search(re.escape(name) + _ASKED_FOR, normalise(asked)) is not None
        for name in re.split(r" */ *", normalise(plain(label)).strip())
    )
