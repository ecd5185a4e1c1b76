"""Values that hold a secret, and so show nothing of themselves in a log or a traceback."""

from __future__ import annotations

from msgspec import Struct


class Redacted(Struct, frozen=True):
    """Base of a value with a secret among its fields."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(…)"
