"""Discovery of an agent's endpoint from its card (A2A 1.0.1 §8.2, §8.3.2)."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import msgspec

from a2a_hub.a2a import protojson
from a2a_hub.a2a.card import AgentInterface
from a2a_hub.a2a.card_signature import is_signed_by
from a2a_hub.a2a.client import Endpoint
from a2a_hub.a2a.client_errors import ClientError, ClientFault, error_of_status
from a2a_hub.a2a.compat.v0_3.card import to_core_interfaces
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.model import Binding, Version, Wire
from a2a_hub.a2a.version_table import IMPLIED
from a2a_hub.http.client import Budget, Http, HttpFailure
from a2a_hub.http.messages import JSON
from a2a_hub.identity.public_keys import PublicKey

_CARD_PATHS = ("/.well-known/agent-card.json", "/.well-known/agent.json")
_ITSELF = frozenset({"localhost", "127.0.0.1", "0.0.0.0", "::1", "::"})  # noqa: S104 - read, never bound
# Final answers of the agent. After any other 4xx, the card may be at the next path.
_FINAL = frozenset({401, 403, 429})


class CalledCapabilities(Wire, frozen=True, kw_only=True):
    """The capabilities of an agent that matter for calling it."""

    streaming: bool = False
    extensions: Any = ()

    @property
    def required_extensions(self) -> frozenset[str]:
        """The URIs of the extensions without which the agent refuses requests."""
        listed = self.extensions if isinstance(self.extensions, list) else []
        return frozenset(
            each["uri"]
            for each in listed
            if isinstance(each, dict) and each.get("required") is True and isinstance(each.get("uri"), str)
        )


class CalledInterface(AgentInterface, frozen=True, kw_only=True):
    """An interface of a card. Only 1.0 has the list of them, so one without a version speaks that, as for the official SDK."""

    protocol_version: str = Version.V1_0


class CalledCard(Wire, frozen=True, kw_only=True):
    """The part of an agent's card that matters for calling it. Faults elsewhere in the card are ignored."""

    name: Any = ""
    supported_interfaces: tuple[CalledInterface, ...]
    capabilities: CalledCapabilities = CalledCapabilities()


def read_card(body: bytes) -> CalledCard:
    """Return the card in these bytes. Raises A2AError if it does not say how to call the agent."""
    core = to_core_interfaces(protojson.decode(body))
    offered = core.get("supportedInterfaces")
    if isinstance(offered, list):
        # An unreadable interface cannot be called; if there is no other, its error is reported.
        core = core | {"supportedInterfaces": [each for each in offered if _is_readable(each)] or offered}
    return protojson.read(CalledCard, core)


def _is_readable(interface: Any) -> bool:
    try:
        protojson.read(CalledInterface, interface)
    except A2AError:
        return False
    return True


def fetch_card(
    http: Http, url: str, *, headers: Mapping[str, str], budget: Budget, keys: Sequence[PublicKey] = ()
) -> CalledCard | None:
    """Return the card below `url`, else that of its host (§8.2) if it lists `url`; None if the paths are refused, as with 404.

    With `keys`, there must be a card, and one of them must have signed it (§8.4). Raises ClientError.
    """
    card = _card_below(http, url, headers, budget, keys)
    host = urlsplit(url)
    if card is None and host.path not in ("", "/"):
        # The host's card may be another agent's, and its errors say nothing about this one.
        with suppress(ClientError):
            card = _card_below(http, f"{host.scheme}://{host.netloc}", headers, budget, keys)
        named = tuple(each for each in card.supported_interfaces if _is(each, url)) if card else ()
        card = msgspec.structs.replace(card, supported_interfaces=named) if card and named else None
    if card is None and keys:
        raise ClientError(ClientFault.UNSIGNED, "it has no agent card, which has to be signed")
    return card


def _is(interface: CalledInterface, url: str) -> bool:
    """Return True if the interface is at `url`, as far as its agent knows its own address."""
    try:
        ours, theirs = urlsplit(url), urlsplit(interface.url)
        at_host = theirs.netloc == ours.netloc or theirs.hostname in _ITSELF
    except ValueError:
        return False
    return at_host and theirs.path.rstrip("/") == ours.path.rstrip("/")


def _card_below(
    http: Http, url: str, headers: Mapping[str, str], budget: Budget, keys: Sequence[PublicKey]
) -> CalledCard | None:
    # Of a card for several versions, only that for 1.0 can be signed.
    version = {"a2a-version": Version.V1_0.value} if keys else {}
    for path in _CARD_PATHS:
        try:
            answer = http.request(
                "GET", url.rstrip("/") + path, headers={**headers, "accept": JSON, **version}, body=None, budget=budget
            )
            body = answer.read()
        except HttpFailure as failure:
            raise ClientError(ClientFault(failure.fault.value), failure.detail) from None
        match answer.status:
            case 200:
                try:
                    if keys and not is_signed_by(protojson.decode(body), keys):
                        raise ClientError(ClientFault.UNSIGNED, "its agent card has no signature of a key in card_keys")
                    return read_card(body)
                except A2AError as error:
                    raise ClientError(ClientFault.NOT_A2A, f"its agent card cannot be read: {error.message}") from None
            case status if status in _FINAL or status >= 500 or status < 400:
                raise error_of_status(status, answer.headers, subject="its agent card")
    return None


def endpoint_of(
    card: CalledCard | None, url: str, *, version: Version | None = None, binding: Binding | None = None
) -> Endpoint:
    """Return the first interface of the agent's card that the hub speaks and that `version` and `binding` allow.

    The card decides the path, never the host: a credential goes only to the host that the route names. Without a card, the agent
    is assumed to speak 0.3 over JSON-RPC. Raises ClientError if no interface fits.
    """
    if card is None:
        return Endpoint(
            url=url, version=version or IMPLIED, binding=binding or Binding.JSONRPC, streaming=version is not None
        )
    versions, bindings = [version] if version else list(Version), [binding] if binding else list(Binding)
    for interface in card.supported_interfaces:
        spoken = next((each for each in versions if interface.protocol_version.startswith(each)), None)
        if spoken is not None and interface.protocol_binding in bindings:
            return Endpoint(
                url=_same_origin(interface, url),
                version=spoken,
                binding=Binding(interface.protocol_binding),
                streaming=card.capabilities.streaming,
                tenant=interface.tenant,
                required_extensions=card.capabilities.required_extensions,
            )
    raise ClientError(ClientFault.WRONG_VERSION, "its agent card has no interface that the hub speaks")


def _same_origin(interface: CalledInterface, url: str) -> str:
    """Return the interface's URL if it is on the host of `url`, else `url`.

    An agent that does not know its public address names its own machine: its path holds where `url` has none, or the same but for
    a slash at the end.
    """
    try:
        ours, theirs = urlsplit(url), urlsplit(interface.url)
        is_itself = theirs.hostname in _ITSELF and ours.path.rstrip("/") in ("", theirs.path.rstrip("/"))
    except ValueError:
        return url
    if (ours.scheme, ours.netloc) == (theirs.scheme, theirs.netloc):
        return interface.url
    return f"{ours.scheme}://{ours.netloc}{theirs.path}" if is_itself else url
