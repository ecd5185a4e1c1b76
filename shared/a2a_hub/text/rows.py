"""Structs whose texts stand in a TOML file, such as the steps of a doctor and the failures that operators read of."""

import tomllib
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

R = TypeVar("R", bound=Struct)


class Rows(Generic[R]):
    """The tables of a file as structs of one `kind`, by their names, which are also the field `key` where a table leaves it out.

    The file is read when the first one is wanted.
    """

    def __init__(self, file: Path, kind: type[R], *, key: str) -> None:
        self._file = file
        self._kind = kind
        self._key = key

    @cached_property
    def templates(self) -> dict[str, R]:
        """The structs with places for values in their texts."""
        tables = tomllib.loads(self._file.read_text(encoding="utf-8"))
        return {name: msgspec.convert({self._key: name} | table, self._kind) for name, table in tables.items()}

    def filled(self, name: str, /, **values: object) -> R:
        """Return the struct of this name, with the values in the places of its texts."""
        template = self.templates[name]
        texts = {field: getattr(template, field) for field in template.__struct_fields__}
        return replace(template, **{field: text.format(**values) for field, text in texts.items() if type(text) is str})
