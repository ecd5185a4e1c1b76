"""New ids, and the time of day as the protocol writes it."""

import os
from collections import deque
from datetime import UTC, datetime
from uuid import NAMESPACE_URL, uuid5

_BATCH = 256
_RANDOM_BYTES = 16
_pool: deque[str] = deque()
# Two processes must not hand out the same ids after a fork.
os.register_at_fork(after_in_child=_pool.clear)


def random_hex() -> str:
    """Return 32 hexadecimal digits of the operating system's generator, read in batches: each read costs a switch of threads."""
    try:
        return _pool.popleft()
    except IndexError:
        digits = os.urandom(_RANDOM_BYTES * _BATCH).hex()
        size = 2 * _RANDOM_BYTES
        _pool.extend(digits[start : start + size] for start in range(size, len(digits), size))
        return digits[:size]


def new_id() -> str:
    """Return a random UUID (version 4, RFC 9562 §5.4) in its usual form."""
    digits = random_hex()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def id_of(name: str) -> str:
    """Return the UUID of a name, always the same one (version 5, RFC 9562 §5.5, in the namespace of URLs)."""
    return str(uuid5(NAMESPACE_URL, name))


def timestamp() -> str:
    """Return the time of day in UTC with milliseconds (A2A 1.0.1 §5.6.1)."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
