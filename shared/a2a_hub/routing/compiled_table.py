"""A route table together with the slowest results of its parsing.

A bundle has it beside the table (`local/bundle.py`), as byte code stands beside its source. It holds for the text of the same
digest only.
"""

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from a2a_hub.routing.required_literals import required_literals

NAME = "{table}.compiled"
"""The name of the file, made from that of the table."""
PATTERN_KEYS = ("named_by", "patterns", "unless")
"""The keys of a route that hold patterns."""


class CompiledTable(NamedTuple):
    """The decoded TOML, and the literals that each pattern requires (`required_literals`)."""

    document: Mapping[str, Any]
    literals: Mapping[str, tuple[str, ...]]


def compile_table(text: str) -> CompiledTable:
    """Decode the text, without checks of the table. Raises ValueError."""
    # A bundle holds its table compiled, and starts without the parser.
    from a2a_hub.toml.document import parse

    document = parse(text)
    return CompiledTable(document, {pattern: required_literals(pattern) for pattern in _patterns(document)})


def dumped(text: str) -> str | None:
    """Return the compiled form of a table's text for a file; None for a wrong one, which the hub reports."""
    try:
        document, literals = compile_table(text)
        compiled = {"sha256": _digest(text), "document": document, "literals": literals}
        return json.dumps(compiled, ensure_ascii=False)
    except (ValueError, TypeError):
        # No TOML, or a value such as a date, which no route table has.
        return None


def loaded(dump: bytes, text: str) -> CompiledTable | None:
    """Return the compiled table of `dumped`, if it was made from this text."""
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
        for key in PATTERN_KEYS:
            patterns = route.get(key) if isinstance(route, dict) else None
            yield from (each for each in patterns or () if isinstance(patterns, list) and isinstance(each, str))
