"""The trace that a request belongs to (W3C Trace Context §3.2): `traceparent`, where it is one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from msgspec import Struct


class Trace(Struct, frozen=True):
    """`traceparent` is the whole header, as it is passed on."""

    traceparent: str
    trace_id: str
    span_id: str


def trace_of(headers: Mapping[str, str]) -> Trace | None:
    """The trace in these headers (names in lower case); None for a header that is of another form."""
    header = headers.get("traceparent")
    match = _form().fullmatch(header) if header else None
    return Trace(match[0], match[1], match[2]) if match else None


def traceparent_of(headers: Mapping[str, str]) -> str | None:
    """What is passed on to whoever is called for this request."""
    trace = trace_of(headers)
    return trace.traceparent if trace else None


@cache
def _form() -> re.Pattern[str]:
    return re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}")
