"""The messages in `tests/wire/<version>/`, as they appear on the wire. A file's name says binding, kind and what is special."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from a2a_hub.a2a.model import Version

_FOLDER = Path(__file__).parents[2] / "wire"


@dataclass(frozen=True)
class Example:
    """`kind` is request, result, event, error or card; `binding` is jsonrpc or rest, "" for a card."""

    version: Version
    binding: str
    kind: str
    about: str
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)

    def __str__(self) -> str:
        return f"{self.version}-{self.binding}-{self.kind}-{self.about}"


def examples(*kinds: str, version: Version | None = None, binding: str | None = None) -> list[Example]:
    """The examples of these kinds."""
    found = [_read(file) for file in sorted(_FOLDER.glob("*/*.json"))]
    return [
        example
        for example in found
        if example.kind in kinds
        and (version is None or example.version is version)
        and (binding is None or example.binding == binding)
    ]


def _read(file: Path) -> Example:
    version = Version(file.parent.name)
    if file.stem.startswith("card-"):
        return Example(version, "", "card", file.stem.removeprefix("card-"), file.read_bytes())
    binding, kind, about = file.stem.split("-", 2)
    return Example(version, binding, kind, about, file.read_bytes())
