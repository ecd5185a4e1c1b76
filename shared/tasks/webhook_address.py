"""Which addresses may be notified: public ones only, since a webhook makes the hub send requests that a caller chose."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Collection
from urllib.parse import urlsplit

_PRIVATE_NAMES = ("localhost", "local", "internal", "localdomain", "home.arpa")


def webhook_refusal(allowed_hosts: Collection[str]) -> Callable[[str], str | None]:
    """A function that says why a URL may not be notified, by what the URL itself shows; None where it may.

    `allowed_hosts` are let through whatever they are, as `host` or `host:port`. What a name resolves to is checked when it is
    notified.
    """
    allowed = frozenset(host.lower() for host in allowed_hosts)

    def refuses(url: str) -> str | None:
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".").lower()
        if host in allowed or f"{host}:{parts.port}" in allowed:
            return None
        if parts.scheme != "https":
            return "must be an https URL"
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            name = host.split(".")
            if "." not in host or any(host == each or host.endswith(f".{each}") for each in _PRIVATE_NAMES):
                return "must be a public address"
            return "must be a public address" if name[-1].isdigit() or name[-1].startswith("0x") else None
        return None if is_public(address) else "must be a public address"

    return refuses


def is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether the address is one of the public internet; one that holds another address inside counts by that one."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if inner is not None:
            return is_public(inner)
        if address in _NAT64:
            return is_public(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return address.is_global and not address.is_multicast


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
