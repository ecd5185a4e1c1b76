"""Patterns over callers' text: always RE2, whose time is linear in the text (design §4)."""

from functools import lru_cache
from typing import Protocol, cast

import re2

_MAX_PATTERN_MEMORY_BYTES = 8 << 20


class Found(Protocol):
    """A match: the part of the text that matched."""

    def group(self) -> str:
        """The matched text."""


class Pattern(Protocol):
    """A compiled RE2 pattern, safe to use from many threads."""

    def search(self, text: str) -> Found | None:
        """The leftmost match in `text`."""


class BadPattern(ValueError):
    """The pattern is not one that RE2 understands; the message says where."""


# A table is checked first and used afterwards, and each pattern takes RE2 longer to compile than to run.
@lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> Pattern:
    """A pattern that ignores case and finds its leftmost match. Raises BadPattern."""
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = _MAX_PATTERN_MEMORY_BYTES
    try:
        return cast("Pattern", re2.compile(pattern, options))
    except re2.error as problem:
        reason = problem.args[0]
        raise BadPattern(reason.decode() if isinstance(reason, bytes) else str(reason)) from None
