"""Who is let in, how often, and with how much."""

from __future__ import annotations

import math

from a2a_hub.a2a.error_response import read_body
from a2a_hub.a2a.errors import A2AError, ErrorKind
from a2a_hub.http.messages import Request
from a2a_hub.identity.authentication import Authenticator, Caller
from a2a_hub.telemetry.log import Record
from functions.gate.rate_limit import ConcurrencyLimit, RateLimit

_RATE_LIMITED = ErrorKind(
    "RATE_LIMITED", -32603, 429, "RESOURCE_EXHAUSTED", "Too many requests; wait and try again", a2a=False
)
# A body may take two minutes; this is half of the threads that a deployed gate has.
_BODIES_OF_ONE_CALLER = 40
# A burst of bodies that have arrived already is read well within this; slow ones are refused.
_TURN_SECONDS = 1.0


class Admission:
    """What a caller has to pass before anything of the request goes on."""

    def __init__(self, callers: Authenticator, rate_limit: RateLimit, *, max_body_bytes: int) -> None:
        self._callers = callers
        self._rate_limit = rate_limit
        self._bodies = ConcurrencyLimit(_BODIES_OF_ONE_CALLER, wait_seconds=_TURN_SECONDS)
        self._max_body_bytes = max_body_bytes

    def caller(self, request: Request, record: Record) -> Caller:
        """Who asks. Raises A2AError where nobody can say who it is, and for one who asks too often."""
        caller = self._callers.authenticate(request)
        if caller.principal is not None:
            record["principal"] = caller.principal.subject
            wait = self._rate_limit.seconds_to_wait(caller.principal.subject)
            if wait:
                raise A2AError(_RATE_LIMITED, headers={"retry-after": str(math.ceil(wait))})
        return caller

    def body(self, request: Request, caller: Caller) -> bytes:
        """The whole body. Raises A2AError for one that is too large, and where too many of this caller's are still arriving."""
        with self._bodies.one_more(caller.principal.subject if caller.principal else "") as may_wait:
            if not may_wait:
                raise A2AError(_RATE_LIMITED, headers={"retry-after": "1"})
            return read_body(request, self._max_body_bytes)
