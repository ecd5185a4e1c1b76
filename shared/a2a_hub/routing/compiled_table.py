"""A route table's text together with what takes longest to find out about it.

A bundle holds it beside the table, ready to be read (`local/bundle.py`), as byte code stands beside its source. It is matched
by the text: that of another text is not used.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from a2a_hub.routing.required_literals import required_literals

NAME = "{table}.compiled"
"""The name of the file, by that of the table's own."""


class CompiledTable(NamedTuple):
    """`document` is what the TOML says; `literals` are those that each pattern requires (`required_literals`)."""

    document: Mapping[str, Any]
    literals: Mapping[str, tuple[str, ...]]


def compile_table(text: str) -> CompiledTable:
    """Raises tomllib.TOMLDecodeError. Whether the document is a route table is not asked."""
    # A bundle holds its table compiled, and starts without the parser.
    import tomllib

    document = tomllib.loads(text)
    return CompiledTable(document, {pattern: required_literals(pattern) for pattern in _patterns(document)})


def dumped(text: str) -> str | None:
    """The compiled form of a table's text, to be written to a file; None for one that is wrong, which its hub will tell."""
    try:
        document, literals = compile_table(text)
        compiled = {"sha256": _digest(text), "document": document, "literals": literals}
        return json.dumps(compiled, ensure_ascii=False)
    except (ValueError, TypeError):
        # No TOML, or a value such as a date, which is in no route table.
        return None


def loaded(dump: bytes, text: str) -> CompiledTable | None:
    """What `dumped` has made, if it was made of this very text."""
    try:
        compiled = json.loads(dump)
    except ValueError:
        return None
    if compiled["sha256"] != _digest(text):
        return None
    literals = {pattern: tuple(found) for pattern, found in compiled["literals"].items()}
    return CompiledTable(compiled["document"], literals)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _patterns(document: Mapping[str, Any]) -> Iterator[str]:
    routes = document.get("routes")
    for route in routes if isinstance(routes, list) else ():
        for key in ("patterns", "unless"):
            patterns = route.get(key) if isinstance(route, dict) else None
            yield from (
                each for each in patterns or () if isinstance(patterns, list) and isinstance(each, str)
            )
