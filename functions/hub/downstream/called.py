"""An agent as one call reaches it."""

from __future__ import annotations

from collections.abc import Mapping

from shared.a2a.client_answer import Endpoint
from shared.http.client import Budget
from shared.private import Private


class Called(Private, frozen=True, kw_only=True):
    """Where, with which headers, and what it may take: `budget` for an answer that is no stream, `stream_budget` for one."""

    endpoint: Endpoint
    headers: Mapping[str, str]
    budget: Budget
    stream_budget: Budget
