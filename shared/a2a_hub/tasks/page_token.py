"""The opaque token between two pages of ListTasks (A2A 1.0.1 §3.1.4): a position, good for the same list only."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Sequence

import msgspec

from a2a_hub.task_store.store import Position

_MARK_BYTES = 12
_LONGEST = 500


def write_token(position: Position | None, *, of: Sequence[object]) -> str:
    """The token; "" for no further page. `of` is everything that makes the list: its owner and conditions."""
    if position is None:
        return ""
    body = msgspec.json.encode(position)
    return base64.urlsafe_b64encode(_mark(body, of) + body).decode().rstrip("=")


def read_token(token: str, *, of: Sequence[object]) -> Position | None:
    """The position of a token that was written for the same list; None for any other text.

    The mark is no secret: a position leads nowhere but into the owner's own tasks.
    """
    if len(token) > _LONGEST or not token.isascii():
        return None
    try:
        data = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        body = data[_MARK_BYTES:]
        return msgspec.json.decode(body, type=Position) if data[:_MARK_BYTES] == _mark(body, of) else None
    except (binascii.Error, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _mark(body: bytes, of: Sequence[object]) -> bytes:
    return hashlib.blake2b(body + repr(tuple(of)).encode(), digest_size=_MARK_BYTES).digest()
