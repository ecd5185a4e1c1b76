"""Texts for people in a TOML file: a table for each, with one text for each language."""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from a2a_hub.text.language import Language


class Catalog:
    """The texts of a file by the names of their tables, as attributes, or as items if the table is inside another one.

    The file is read when the first text is shown. `{examples}` stands for the table of that name.
    """

    def __init__(self, file: Path) -> None:
        self.file = file

    def __getattr__(self, table: str) -> "Text":
        return Text(self.file, table)

    __getitem__ = __getattr__

    def read(self) -> None:
        """Read the file now, for a process that may not open it later."""
        tables_of(self.file)


class Text(Mapping[Language, str]):
    """A text in each language, with places for values."""

    def __init__(self, file: Path, table: str) -> None:
        self._file = file
        self._table = table

    def __getitem__(self, language: Language) -> str:
        return tables_of(self._file)[self._table][language]

    def __iter__(self) -> Iterator[Language]:
        return iter(Language)

    def __len__(self) -> int:
        return len(Language)

    def render(self, language: Language, **values: Any) -> str:
        """Return the text in one language, with the values in their places."""
        return self[language].format(**values)


@cache
def tables_of(file: Path) -> dict[str, dict[str, str]]:
    """Return the tables of a file by their names; `faults.exit` is a table inside another one."""
    found: dict[str, dict[str, str]] = {}
    for name, table in tomllib.loads(file.read_text(encoding="utf-8")).items():
        is_text = all(isinstance(each, str) for each in table.values())
        found |= {name: table} if is_text else {f"{name}.{inner}": texts for inner, texts in table.items()}
    examples = found.get("examples", {})
    return {
        name: {each: text.replace("{examples}", examples.get(each, "")) for each, text in table.items()}
        for name, table in found.items()
    }
