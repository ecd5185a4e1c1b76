"""An agent's knowledge as TOML files in a folder of its own."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TypeVar

import msgspec

T = TypeVar("T")


def read_folder(folder: Path, kind: type[T]) -> list[T]:
    """Each file as a `kind`, in the order of their names. Raises ValueError for one that is none, with the file and the place."""
    return [_read(path, kind) for path in sorted(folder.glob("*.toml"))]


def _read(path: Path, kind: type[T]) -> T:
    try:
        return msgspec.convert(tomllib.loads(path.read_text("utf-8")), kind)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ValueError(f"{path.name}: {error}") from None
