"""TOML texts as documents. It needs nothing but Python: deploy.sh reads deploy.toml with it before anything is installed."""

import tomllib
from typing import Any


def parse(text: str) -> dict[str, Any]:
    """Return the document. Raises ValueError, whose text ends in the place: `(at line 3, column 5)`."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        brackets = [line.count("[") + line.count("{") for line in text.split("\n")]
        line = brackets.index(max(brackets)) + 1
        raise ValueError(
            f"Too many tables and lists in one another: is a bracket repeated? (at line {line}, column 1)"
        ) from None
