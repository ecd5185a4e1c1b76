"""Patterns over callers' text: always RE2, which takes linear time."""

import re
from functools import cache, cached_property, lru_cache
from typing import Any, Protocol, cast
from weakref import WeakSet

import re2

_MAX_PATTERN_MEMORY_BYTES = 8 << 20


class Found(Protocol):
    """A match of a pattern."""

    def group(self) -> str:
        """Return the matched text."""


class Pattern(Protocol):
    """A compiled RE2 pattern, safe to use from many threads."""

    def search(self, text: str) -> Found | None:
        """Return the leftmost match in `text`."""


class BadPattern(ValueError):
    """A pattern that RE2 does not understand; the message says where."""


# Each pattern is compiled twice: when the table is checked, and when it is used.
@lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> Pattern:
    """Compile a pattern that ignores case and finds its leftmost match. Raises BadPattern."""
    try:
        re2.Set.SearchSet(_reading()).Add(pattern)
    except re2.error:
        # For a set, RE2 gives no reason.
        return _compiled(pattern)
    return _compiled(pattern) if _may_be_too_large(pattern) else _OnFirstSearch(pattern)


@lru_cache(maxsize=1024)
def compile_any(patterns: tuple[str, ...]) -> tuple[Pattern, ...]:
    """Compile patterns of which one match is enough: as one alternation if RE2 can, which takes one search. Raises BadPattern."""
    try:
        return (compile_pattern("|".join(f"(?:{pattern})" for pattern in patterns)),)
    except BadPattern:
        # Together too large for one pattern, or one has a \Q without its \E.
        return tuple(map(compile_pattern, patterns))


def _may_be_too_large(pattern: str) -> bool:
    """Return True for a Unicode class, or a very long pattern after its counted repetitions: others never need much memory."""
    length = len(pattern)
    if "{" in pattern:
        for least, most in re.findall(r"\{(\d*),?(\d*)\}", pattern):
            # RE2 repeats up to 1,000 times; a longer number is text to it.
            length *= max(int(least[:4] or 0), int(most[:4] or 0)) + 1
    return length >= 1000 or "\\p" in pattern or "\\P" in pattern


def compile_all() -> None:
    """Compile every pattern that no search has needed yet, so that none has to wait for it; for a thread of its own."""
    while _uncompiled:
        _uncompiled.pop().compile()


class _OnFirstSearch:
    """A pattern that is compiled at its first use, or in the background: RE2 compiles four times slower than it parses."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        _uncompiled.add(self)

    def search(self, text: str) -> Found | None:
        """See `Pattern.search`."""
        return self._ready.search(text)

    def compile(self) -> None:
        """Compile the pattern, unless that is done."""
        _ = self._ready

    @cached_property
    def _ready(self) -> Pattern:
        return _compiled(self._pattern)


_uncompiled: WeakSet[_OnFirstSearch] = WeakSet()


def _compiled(pattern: str) -> Pattern:
    try:
        return cast("Pattern", re2.compile(pattern, _options()))
    except re2.error as problem:
        reason = problem.args[0]
        raise BadPattern(reason.decode() if isinstance(reason, bytes) else str(reason)) from None


@cache
def _options() -> Any:
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = _MAX_PATTERN_MEMORY_BYTES
    return options


@cache
def _reading() -> Any:
    """Return options for a check of the syntax, with case: to ignore it takes twice the time."""
    options = re2.Options()
    options.log_errors = False
    return options
