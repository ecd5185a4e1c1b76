"""By which words the documents of an index name the levels of incidents, and a question in these words."""

import re
import sqlite3

from functions.docqa.questions.entities import Entity
from functions.docqa.questions.levels import HIGHEST, INCIDENTS, SCALES, Level, levels_in
from functions.docqa.vocabulary.words import index_text

# A family of levels, and how one of its members may be written; those of the second table are levels of anything.
_WRITTEN = {
    "p": ("p-{}", "priority {}", "優先度{}", "プライオリティ{}"),
    "sev": ("sev-{}", "sev {}", "severity {}", "重大度{}", "深刻度{}"),
}
_WRITTEN_OF_ANYTHING = {
    "level": ("level {}", "レベル{}"),
    "tier": ("tier {}",),
    "class": ("class {}", "クラス{}"),
    "category": ("category {}", "区分{}"),
}
_FAMILIES = _WRITTEN | _WRITTEN_OF_ANYTHING
_HIGHEST_SAID = ("highest", "most severe", "most urgent", "最高", "最も", "最優先", "最重要")
_LOOSE_CODE = re.compile(r"p \d|p-?\ds")
_VALUES = "123456789"
_SAID = "SELECT 1 FROM words WHERE words MATCH ? LIMIT 1"


def _phrase(text: str) -> str:
    return f'"{index_text(text)}"'


_INCIDENTS_SAID = " OR ".join(map(_phrase, INCIDENTS))
_SCALE_SAID = " OR ".join(map(_phrase, SCALES))


class Scales:
    """The scales of one index, looked up when a question names a level."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._said: dict[str, bool] = {}

    def renamed(self, normal: str) -> tuple[str, dict[Entity, Entity]]:
        """A normalised question with its levels of incidents named as the documents name them, and which became which.

        Nothing is renamed where documents use the question's own name, or more than one scale.
        """
        became: dict[Entity, Entity] = {}
        for level in sorted(levels_in(normal), key=lambda level: level.start, reverse=True):
            if name := self._name(level) or _plain_code(level, normal):
                family, form = name
                normal = f"{normal[: level.start]}{form.format(level.entity.value)}{normal[level.end :]}"
                became[level.entity] = Entity(family, level.entity.value)
        return normal, became

    def _name(self, level: Level) -> tuple[str, str] | None:
        """The family that the documents use instead of the question's, and how they write it; None when none is."""
        own, value = level.entity.family, level.entity.value
        if level.entity != HIGHEST and self._is_used(own):
            return None
        used = [
            (family, form) for family, forms in _FAMILIES.items() if (form := self._form_of_incidents(family, forms))
        ]
        if len(used) != 1:
            return None
        family, form = used[0]
        if level.entity == HIGHEST and not self._begins_with_the_highest(family):
            return None
        return (family, form) if self._is_of_incidents(family, form, value) else None

    def _begins_with_the_highest(self, family: str) -> bool:
        """Whether the first level is the highest: of priorities it is, unless documents say so of another."""

        def is_said_of(values: str) -> bool:
            names = [_phrase(form.format(value)) for form in _FAMILIES[family] for value in values]
            near = (f"NEAR({name} {_phrase(word)}, 6)" for name in names for word in _HIGHEST_SAID)
            return self._is_said(" OR ".join(near))

        if is_said_of(_VALUES[1:]):
            return False
        return family in _WRITTEN or is_said_of(_VALUES[0])

    def _form_of_incidents(self, family: str, forms: tuple[str, ...]) -> str:
        """The first of `forms` that names at least two levels of incidents; "" without one."""
        return next((form for form in forms if all(self._is_of_incidents(family, form, value) for value in "12")), "")

    def _is_of_incidents(self, family: str, form: str, value: str) -> bool:
        """Whether the level stands beside an incident or, where it is none of anything, in a passage that tells of a scale."""
        name = form.format(value)
        beside = (each for word in INCIDENTS for each in (f"{name} {word}", f"{word} {name}", f"{name}の{word}"))
        said = " OR ".join(map(_phrase, (*beside, f"障害{name}")))
        return self._is_said(f"{said} OR ({_phrase(name)} AND ({_SCALE_SAID}))" if family in _WRITTEN else said)

    def _is_used(self, family: str) -> bool:
        """Whether documents name levels of the family, where they are levels of anything in a passage on incidents."""
        names = (_phrase(form.format(value)) for form in _FAMILIES.get(family, ()) for value in _VALUES)
        on_incidents = "" if family in _WRITTEN else f" AND ({_INCIDENTS_SAID})"
        return self._is_said(f"({' OR '.join(names)}){on_incidents}")

    def _is_said(self, query: str) -> bool:
        if query not in self._said:
            self._said[query] = self._connection.execute(_SAID, (query,)).fetchone() is not None
        return self._said[query]


def _plain_code(level: Level, normal: str) -> tuple[str, str] | None:
    """A code as documents write it: "P 1" and "P1s" are P-1."""
    written = normal[level.start : level.end]
    return ("p", "p-{}") if _LOOSE_CODE.fullmatch(written) else None
