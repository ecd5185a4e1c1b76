"""Dates as HTTP writes them (RFC 9110 §5.6.7)."""

from __future__ import annotations

from datetime import UTC
from email.utils import parsedate_to_datetime


def seconds_of(text: str | None) -> float | None:
    """The date in seconds since the epoch; None for any other text, and for a date that no calendar has."""
    try:
        at = parsedate_to_datetime(text or "")
    except (ValueError, OverflowError):
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
