"""The way to `GET /doctor`, whose answer is loaded and made when the first one asks: hardly any process is ever asked."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from a2a_hub.http.messages import Request, Response
from a2a_hub.identity.authentication import Caller
from a2a_hub.telemetry.log import Record

if TYPE_CHECKING:
    from functions.hub.doctor import Doctor


class DoctorEndpoint:
    """`make` makes the doctor; it is called once."""

    def __init__(self, make: Callable[[], Doctor]) -> None:
        self._make = make
        self._doctor: Doctor | None = None
        self._lock = threading.Lock()

    def handle(self, request: Request, caller: Caller, record: Record) -> Response | None:
        """See `Doctor.handle`."""
        with self._lock:
            doctor = self._doctor = self._doctor or self._make()
        return doctor.handle(request, caller, record)
