"""The audit log: who asked, decided, changed or read what, apart from the request log. Off until `start_telemetry` installs one.

Each entry holds the hash of the one before it in the same process, so that a change, a gap and another order show. All values
are strings: logging services change numbers.
"""

import hashlib
import json
import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime

import msgspec

from a2a_hub.identity.principal import Principal

FIRST = "0" * 64
"""The hash before the first entry of a chain."""


class AuditLog:
    """A chain of entries, written to the descriptor `file`. Thread-safe; a forked process begins a chain of its own."""

    def __init__(
        self,
        file: int,
        *,
        function: str,
        new_id: Callable[[], str],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._file = file
        self._function = function
        self._new_id = new_id
        self._now = now
        self._lock = threading.Lock()
        self._process = 0

    def write(self, event: str, who: Principal | None, fields: Mapping[str, object]) -> None:
        """Append an entry. One that cannot be written leaves a gap in the numbers."""
        with self._lock:
            if self._process != os.getpid():
                self._process, self._chain, self._number, self._last = os.getpid(), self._new_id(), 0, FIRST
            self._number += 1
            known = {"subject": who.subject, "email": who.email or ""} if who else {"subject": "anonymous"}
            entry = {name: str(value) for name, value in {**known, **fields}.items() if value not in (None, "")} | {
                "chain": self._chain,
                "number": str(self._number),
                "time": self._now().isoformat(),
                "function": self._function,
                "event": event,
                "previous": self._last,
            }
            digest = hash_of(entry)
            labels = {"logging.googleapis.com/labels": {"log": "audit"}}
            line = {"severity": "NOTICE", "message": f"audit: {event}", **labels, "audit": entry, "hash": digest}
            with suppress(OSError):
                os.write(self._file, msgspec.json.encode(line) + b"\n")
                self._last = digest


def hash_of(entry: Mapping[str, str]) -> str:
    """Return the SHA-256 of an entry, with the hash before it inside."""
    text = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


_log: AuditLog | None = None


def install(log: AuditLog | None) -> None:
    """Write to this log from now on; None ends it."""
    global _log
    _log = log


def table_changed(who: Principal | None, text: str, /, **fields: object) -> None:
    """Append that the route table is `text` now, by the hash of this text."""
    record("changed", who, object="route table", sha256=hashlib.sha256(text.encode()).hexdigest(), **fields)


def record(event: str, who: Principal | None, /, **fields: object) -> None:
    """Append an entry, if there is an audit log. Empty fields are left out."""
    if _log is not None:
        _log.write(event, who, fields)
