"""An agent as one call reaches it."""

from __future__ import annotations

from collections.abc import Mapping

from a2a_hub.a2a.client_response import Endpoint
from a2a_hub.http.client import Budget
from a2a_hub.telemetry.log import Redacted


class CallTarget(Redacted, frozen=True, kw_only=True):
    """Where, with which headers, and what it may take: `budget` for an answer that is no stream, `stream_budget` for one."""

    endpoint: Endpoint
    headers: Mapping[str, str]
    budget: Budget
    stream_budget: Budget
