"""Unified differences, as `diff -u` writes them, for the approval of changes."""

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

_CONTEXT = 3
# The shortest difference takes quadratic time.
_MAX_LINES = 800
# Of lines that stand everywhere, such as empty ones, each pair is compared again and again: others show what belongs together.
_MOST_REPEATED = 8


def unified_diff(path: str, old: str | None, new: str) -> str:
    """Return a unified difference; very many changed lines form one hunk, the old ones before the new ones."""
    before, after = _lines(old or ""), _lines(new)
    source = "/dev/null" if old is None else f"a/{path}"
    return f"--- {source}\n+++ b/{path}\n" + "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in _hunks(before, after)
    )


def _hunks(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    first, last = max(0, start - _CONTEXT), max(0, end - _CONTEXT)
    old, new = before[first : len(before) - last], after[first : len(after) - last]
    for group in _changes(old, new, start - first, end - last):
        (_, i1, _, j1, _), (_, _, i2, _, j2) = group[0], group[-1]
        yield f"@@ -{_range(first + i1, i2 - i1)} +{_range(first + j1, j2 - j1)} @@\n"
        for kind, i1, i2, j1, j2 in group:
            if kind == "equal":
                yield from (f" {line}" for line in old[i1:i2])
            else:
                yield from (f"-{line}" for line in old[i1:i2])
                yield from (f"+{line}" for line in new[j1:j2])


def _changes(
    old: Sequence[str], new: Sequence[str], head: int, tail: int
) -> Iterator[Sequence[tuple[str, int, int, int, int]]]:
    if len(old) + len(new) <= _MAX_LINES:
        times = Counter(new)
        matcher = SequenceMatcher(lambda line: times[line] > _MOST_REPEATED, old, new, autojunk=False)
        yield from matcher.get_grouped_opcodes(_CONTEXT)
    elif old != new:
        i, j = len(old) - tail, len(new) - tail
        yield ("equal", 0, head, 0, head), ("replace", head, i, head, j), ("equal", i, len(old), j, len(new))


def _range(start: int, length: int) -> str:
    """Return a range in POSIX form: of an empty range, the line before."""
    return f"{start + 1 if length else start},{length}"


def _lines(text: str) -> list[str]:
    """Return the lines with their ends; only a line feed ends one, as for programs that apply differences."""
    lines = [f"{line}\n" for line in text.split("\n")]
    if lines[-1] == "\n":
        lines.pop()
    else:
        lines[-1] = lines[-1][:-1]
    return lines


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    unlike = (at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right)
    return next(unlike, min(len(one), len(other)))
