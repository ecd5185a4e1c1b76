"""Context ids: minted so that only their owner can carry a conversation on, on any instance and without a store.

A minted id holds 8 random bytes and a digest of them with the owner. The downstream agent gets the id as it is when it belongs to
the caller; a foreign or made-up one becomes another id, always the same for the same caller, so that nobody enters
somebody else's conversation by knowing its id.
"""

from __future__ import annotations

import hashlib
import uuid

from a2a_hub.runtime.ids import random_hex


def mint_context(owner: str) -> str:
    """A new context id of this owner, in the form of a UUID (version 8, RFC 9562 §5.8)."""
    return _uuid(bytes.fromhex(random_hex()[:16]), owner)


def ids_of(owner: str, context_id: str | None) -> tuple[str, str]:
    """A turn's context id, minted when the caller gave none, and the id under which downstream agents know it."""
    if context_id is None:
        context_id = mint_context(owner)
        return context_id, context_id
    return context_id, for_downstream(owner, context_id)


def for_downstream(owner: str, context_id: str) -> str:
    """The id under which this owner's conversation is known to downstream agents."""
    try:
        head = uuid.UUID(context_id).bytes[:8]
    except ValueError:
        head = b""
    if head and _uuid(head, owner) == context_id:
        return context_id
    digest = hashlib.sha256(f"{len(owner)}:{owner}:{context_id}".encode()).digest()
    return _uuid(digest[:8], owner)


def _uuid(head: bytes, owner: str) -> str:
    data = bytearray(head)
    data[6] = (data[6] & 0x0F) | 0x80
    data += hashlib.sha256(bytes(data) + owner.encode()).digest()[:8]
    data[8] = (data[8] & 0x3F) | 0x80
    digits = data.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
