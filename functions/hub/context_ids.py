"""The context ids of conversations: minted by the hub, or derived from the caller's own.

A context id that the hub mints can be continued by its owner only, on any instance and without a store: it holds 8 random bytes
and a digest of them with the owner. Agents get the caller's own id as it is; a foreign or made-up one becomes another id, always
the same for the same caller, so that knowing an id opens nobody else's conversation.

Anonymous callers are not one owner. An id that the hub minted for one is a capability: whoever has it continues the
conversation, and agents get a digest of it. Any other id of an anonymous caller means a new conversation with each message.
"""

import hashlib
from typing import NamedTuple

from a2a_hub.runtime.ids import random_hex


class ContextIds(NamedTuple):
    """The context id of a turn, and the one for agents, which is the conversation's key; without `has_memory` there is none."""

    context_id: str
    downstream: str
    has_memory: bool = True


def mint_context(owner: str) -> str:
    """Return a new context id of this owner, in the form of a UUID (version 8, RFC 9562 §5.8)."""
    return _uuid(bytes.fromhex(random_hex()[:16]), owner)


def ids_of(owner: str, context_id: str) -> ContextIds:
    """Return the ids of a turn in a context of this owner."""
    try:
        head = bytes.fromhex(context_id[:18].replace("-", ""))
    except ValueError:
        head = b""
    if len(head) == 8 and _uuid(head, owner) == context_id:
        return ids_of_minted(owner, context_id)
    if not owner:
        return ContextIds(context_id, mint_context(owner), has_memory=False)
    return ContextIds(context_id, _digested(owner, context_id))


def ids_of_minted(owner: str, context_id: str) -> ContextIds:
    """Return the ids of a turn in a context that the hub minted for this owner."""
    return ContextIds(context_id, context_id if owner else _digested(owner, context_id))


def _digested(owner: str, context_id: str) -> str:
    digest = hashlib.sha256(f"{len(owner)}:{owner}:{context_id}".encode()).digest()
    return _uuid(digest[:8], owner)


def _uuid(head: bytes, owner: str) -> str:
    data = bytearray(head)
    data[6] = (data[6] & 0x0F) | 0x80
    data += hashlib.sha256(bytes(data) + owner.encode()).digest()[:8]
    data[8] = (data[8] & 0x3F) | 0x80
    digits = data.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
