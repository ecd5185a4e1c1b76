"""TOML texts as documents, bounded in depth: what reads a document may take a level of Python's stack for each of its own.

It needs nothing but Python: deploy.sh reads deploy.toml with it before anything is installed.
"""

import tomllib
from typing import Any

from a2a_hub.toml.lines import line_deeper_than

# The project's own files have at most seven.
_MAX_LEVELS = 50


def parse(text: str) -> dict[str, Any]:
    """Return the document. Raises ValueError, whose text ends in the place: `(at line 3, column 5)`."""
    try:
        document = tomllib.loads(text)
    except RecursionError:
        document = None
    if document is None or _is_too_deep(document):
        line = line_deeper_than(_MAX_LEVELS, text)
        raise ValueError(f"More than {_MAX_LEVELS} tables and lists in one another (at line {line}, column 1)")
    return document


def _is_too_deep(document: dict[str, Any]) -> bool:
    level: list[Any] = [document]
    for _ in range(_MAX_LEVELS):
        level = [
            inner
            for value in level
            for inner in (value.values() if isinstance(value, dict) else value)
            if isinstance(inner, dict | list)
        ]
    return bool(level)
