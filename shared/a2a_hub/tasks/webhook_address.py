"""The addresses that webhooks may have: public ones only, since a webhook makes the hub send requests that a caller chose."""

import ipaddress
import re
from collections.abc import Collection, Sequence
from urllib.parse import urlsplit

from a2a_hub.http.client import Fault, HttpFailure
from a2a_hub.http.dialing import Addresses, system_addresses
from a2a_hub.http.public_addresses import is_public, is_public_host
from a2a_hub.settings.reader import Settings

_MAX_ADDRESSES = 4
_HTTPS = 443
_RECEIVER = re.compile(r"(\*\.)?[A-Za-z0-9.-]+(:[0-9]{1,5})?")


class AddressRefused(HttpFailure):
    """The failure of a request to a host that may not be notified."""

    def __init__(self, detail: str = "the host is not at public addresses alone") -> None:
        super().__init__(Fault.UNREACHABLE, detail)


class WebhookAddresses:
    """The addresses that may be notified: public ones, and `allowed_hosts` (`host` or `host:port`) wherever they are.

    With `receivers` (the same, and `*.domain` for every name below a domain), only these of the public ones.
    """

    def __init__(
        self, allowed_hosts: Collection[str], receivers: Collection[str] = (), *, resolve: Addresses = system_addresses
    ) -> None:
        self._allowed = frozenset(host.lower() for host in allowed_hosts)
        self._receivers = frozenset(host.lower() for host in receivers)
        self._resolve = resolve

    def refusal(self, url: str) -> str | None:
        """Return why a URL may not be notified, judged by the URL alone; None if it may."""
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".").lower()
        if self._is_allowed(host, parts.port):
            return None
        if parts.scheme != "https":
            return "must be an https URL"
        if not self._is_receiver(host, parts.port or _HTTPS):
            return "must be at a host that this hub may notify"
        return None if is_public_host(host) else "must be a public address"

    def resolve(self, host: str, port: int) -> Sequence[str]:
        """Return the addresses of a host, for HttpClient's `addresses`.

        Raise AddressRefused for a host that is no receiver, and if any address of a host that is not allowed is not public: a
        name that mixes them is an attack.
        """
        name = host.rstrip(".").lower()
        is_allowed = self._is_allowed(name, port)
        if not is_allowed and not self._is_receiver(name, port):
            raise AddressRefused("the host is none of WEBHOOK_RECEIVERS")
        found = self._resolve(host, port)
        if not is_allowed and not all(map(_names_public, found)):
            raise AddressRefused
        return found[:_MAX_ADDRESSES]

    def _is_receiver(self, host: str, port: int) -> bool:
        labels = host.split(".")
        names = (host, *(f"*.{'.'.join(labels[start:])}" for start in range(1, len(labels))))
        return not self._receivers or any(
            name in self._receivers or f"{name}:{port}" in self._receivers for name in names
        )

    def _is_allowed(self, host: str, port: int | None) -> bool:
        return host in self._allowed or f"{host}:{port}" in self._allowed


def read(settings: Settings) -> WebhookAddresses:
    """Return the addresses that the settings allow. Mistakes become problems."""
    receivers = settings.listed("WEBHOOK_RECEIVERS")
    if not all(map(_RECEIVER.fullmatch, receivers)):
        settings.problem("WEBHOOK_RECEIVERS", "must be a list of hosts, each as host, host:port or *.domain")
    return WebhookAddresses(settings.listed("WEBHOOK_ALLOWED_HOSTS"), receivers)


def _names_public(text: str) -> bool:
    try:
        return is_public(ipaddress.ip_address(text))
    except ValueError:
        return False
