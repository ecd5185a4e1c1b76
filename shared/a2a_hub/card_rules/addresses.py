"""Addresses as others could reach them: the parts of a URL, and the reason why a host is not public."""

import ipaddress
import re
import socket
from urllib.parse import SplitResult, urlsplit

# RFC 2606, 6761, 6762, 8375, and ICANN's name for private use.
_NOT_PUBLIC = ("local", "internal", "invalid", "test", "example", "home.arpa", "lan", "intranet")
_NUMERIC = re.compile(r"(0x[0-9a-f]*|[0-9]+)(\.(0x[0-9a-f]*|[0-9]+))*", re.IGNORECASE)


def parsed(url: str) -> SplitResult | None:
    """Return the parts of an absolute URL with a host; None for anything else."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.scheme and parts.hostname and not re.search(r"[\s\x00-\x1f]", url) else None


def why_not_public(host: str) -> str | None:
    """Return the reason why a host cannot be reached from the internet, None without one. Resolves no names."""
    name = host.rstrip(".").lower()
    if (address := _ip_address(name)) is not None:
        if address.is_loopback:
            return "is this machine itself"
        return None if address.is_global else "is a private address"
    if name == "localhost" or name.endswith(".localhost"):
        return "is this machine itself"
    if "." not in name:
        return "is a name without a domain"
    for suffix in _NOT_PUBLIC:
        if name == suffix or name.endswith(f".{suffix}"):
            return f"ends in .{suffix}, which exists in private networks only"
    return None


def _ip_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    if _NUMERIC.fullmatch(host):
        try:
            # Takes the short and hexadecimal forms that URL parsers take, such as 127.1.
            return ipaddress.IPv4Address(socket.inet_aton(host))
        except OSError:
            return None
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None
