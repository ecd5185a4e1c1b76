"""The parts of an absolute URL."""

import re
from urllib.parse import SplitResult, urlsplit


def parsed(url: str) -> SplitResult | None:
    """Return the parts of an absolute URL with a host; None for anything else."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.scheme and parts.hostname and not re.search(r"[\s\x00-\x1f]", url) else None
