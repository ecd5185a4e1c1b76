"""Dates and delays as HTTP writes them (RFC 9110 §5.6.7, §10.2.3)."""

from __future__ import annotations

from datetime import UTC
from email.utils import parsedate_to_datetime

# 30 years are as good as any longer delay.
_MOST_DIGITS = 9


def seconds_of(text: str | None) -> float | None:
    """The date in seconds since the epoch; None for any other text, and for a date that no calendar has."""
    try:
        at = parsedate_to_datetime(text or "")
    except (ValueError, OverflowError):
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def delay_of(text: str | None) -> float | None:
    """The seconds that a Retry-After names; None for any other text, a date among them."""
    return float(text[:_MOST_DIGITS]) if text and text.isascii() and text.isdigit() else None
