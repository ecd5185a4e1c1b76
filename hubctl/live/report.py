"""The table that `hubctl evaluate --live` prints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hubctl.live.paper import Asked
from hubctl.text_table import row

_HEADER = ("", "question", "route", "agent", "answer", "cited", "UI ms", "REST ms")
_WIDTHS = (1, 40, 8, 24, 48, 5, 7, 7)


def lines(outcomes: Sequence[Asked]) -> Iterable[str]:
    """The table, what was wrong, and the count of right ones."""
    yield _row(_HEADER)
    yield _row(tuple("-" * width for width in _WIDTHS))
    for asked in outcomes:
        record = asked.inspected.record or {}
        yield _row(
            (
                "✗" if asked.wrong else "✓",
                asked.question.text,
                str(record.get("route")),
                str(record.get("agent")),
                asked.inspected.text,
                str(len(record.get("citations", []))),
                f"{asked.ui.milliseconds:.1f}",
                f"{asked.inspected.milliseconds:.1f}",
            )
        )
    yield ""
    for asked in outcomes:
        for fault in asked.wrong:
            yield f"wrong: {asked.question.text}: {fault}"
    right = sum(not asked.wrong for asked in outcomes)
    yield f"{right} of {len(outcomes)} right on both paths"


def _row(cells: Sequence[str]) -> str:
    return row(cells, _WIDTHS)
