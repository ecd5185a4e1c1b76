"""The addresses and names of hosts that are on the public internet, judged without looking up a name."""

import ipaddress

_PRIVATE_NAMES = ("localhost", "local", "internal", "localdomain", "home.arpa")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
_ISATAP = 0x00005EFE
_NOT_PUBLIC = tuple(
    map(
        ipaddress.ip_network,
        (
            # Not in every Python's own list: RFC 6890, RFC 7526, RFC 9637; the host agent of Azure's machines.
            "192.0.0.0/24",
            "192.88.99.0/24",
            "2001::/23",
            "3fff::/20",
            "168.63.129.16/32",
            # Special purposes, though globally reachable (IANA's registries): AS112 (RFC 7534, RFC 7535) and AMT (RFC 7450).
            "192.31.196.0/24",
            "192.52.193.0/24",
            "192.175.48.0/24",
            "2620:4f:8000::/48",
            # Google's APIs as networks of Google Cloud reach them: restricted.googleapis.com, private.googleapis.com, and the
            # ranges of direct connectivity (cloud.google.com/vpc/docs/configure-private-google-access-hybrid).
            "199.36.153.4/30",
            "199.36.153.8/30",
            "34.126.0.0/18",
            "2600:2d00:2:1000::/56",
            "2600:2d00:2:2000::/56",
            "2001:4860:8040::/42",
        ),
    )
)


def is_public_host(host: str) -> bool:
    """Return True for a public address, and for a name that may have one: its last label is neither private nor a number."""
    name = host.rstrip(".").lower()
    try:
        return is_public(ipaddress.ip_address(name))
    except ValueError:
        last = name.rpartition(".")[2]
        # URL parsers read 127.1, 0x7f000001 and the like as addresses.
        is_number = last.isdigit() or last.startswith("0x")
        return "." in name and not is_number and not f".{name}".endswith(tuple(f".{each}" for each in _PRIVATE_NAMES))


def is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Return True for an address of the public internet. An address that embeds another is judged by the embedded one."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if inner is not None:
            return is_public(inner)
        if address in _NAT64:
            return is_public(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
        # What IANA has not given out as global unicast is not global, though `is_global` says so of some of it.
        if address not in _GLOBAL_UNICAST or (int(address) >> 32) & 0xFDFFFFFF == _ISATAP:
            return False
    if any(address in network for network in _NOT_PUBLIC if network.version == address.version):
        return False
    return address.is_global and not address.is_multicast
