"""Keeps web pages out: one that is open in a browser on this machine could otherwise ask for what its visitor may ask for."""

from __future__ import annotations

from a2a_hub.a2a.errors import PERMISSION_DENIED, A2AError
from a2a_hub.http.messages import Request


def check_no_page_asks(request: Request) -> None:
    """Raises PERMISSION_DENIED for what a page sends: only browsers name an origin, and none is a client of this agent."""
    if "origin" in request.headers:
        raise A2AError(PERMISSION_DENIED, "This agent takes no requests from web pages")
