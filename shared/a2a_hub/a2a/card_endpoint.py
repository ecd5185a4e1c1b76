"""The agent card over HTTP: the strict card of the version that the request names, a combined card for all versions if it names
none.

A client learns the versions from the card (A2A 1.0.1 §14.3): a request that names an unsupported version gets it too.

Caching as A2A 1.0.1 §8.6: Cache-Control, ETag, Last-Modified, and 304 for a client that has the card already.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from a2a_hub.a2a import protojson, versions
from a2a_hub.a2a.card import AgentCard
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.model import Version
from a2a_hub.a2a.version_table import CODECS
from a2a_hub.http.dispatch import Public
from a2a_hub.http.messages import JSON, Request, Response, seconds_of

if TYPE_CHECKING:
    # It needs packages that only functions with a card of the hub install.
    from a2a_hub.a2a.card_signature import CardSigner

_SIGN_AGAIN_SECONDS = 60
PATHS = frozenset({"/.well-known/agent-card.json", "/.well-known/agent.json"})


class CardEndpoint(Struct):
    """The card at `PATHS`. `card` returns the current one; `now` is the time of day in seconds since the epoch.

    `signer` signs the card for 1.0. `unnamed` is the version of the card for a request that names none; None stands for one card
    that fits all versions.
    """

    card: Callable[[], AgentCard]
    protocol_version_v0_3: str
    max_age_seconds: int
    now: Callable[[], float]
    unnamed: Version | None = None
    signer: CardSigner | None = None
    _written: _Written | None = None

    @property
    def endpoints(self) -> tuple[Public, ...]:
        """The rows of this card in a function's table of endpoints."""
        return tuple(Public(path, self.serve) for path in sorted(PATHS))

    def serve(self, request: Request) -> Response:
        """Return the card, or 304."""
        version = _named(request)
        card = self.card()
        written = self._written
        if (
            written is None
            or written.card is not card
            or (written.sign_again_at and written.sign_again_at <= self.now())
        ):
            written = self._written = _Written(card, self.protocol_version_v0_3, int(self.now()), self.signer)
        body, etag = written.bodies.get(version or self.unnamed) or written.bodies[None]
        headers = {
            "cache-control": f"public, max-age={self.max_age_seconds}",
            "etag": etag,
            "last-modified": formatdate(written.at, usegmt=True),
            "vary": "A2A-Version",
        }
        if _is_fresh(request, etag, written.at):
            return Response(status=304, headers=headers)
        return Response(headers=headers | {"content-type": JSON}, body=body)


class _Written:
    """A card as bytes and its ETag, for each version that the agent speaks, and under None for requests that name none."""

    def __init__(self, card: AgentCard, protocol_version: str, at: int, signer: CardSigner | None) -> None:
        self.card = card
        self.at = at
        self.sign_again_at = 0
        spoken = {item.protocol_version[:3] for item in card.supported_interfaces}
        codecs = [codec for codec in CODECS.values() if codec.version in spoken]
        cards: dict[Version | None, object] = {
            codec.version: codec.card(card, protocol_version_v0_3=protocol_version) for codec in codecs
        }
        one_for_all = codecs[0].card if len(codecs) == 1 else codecs[0].card_for_all
        cards[None] = one_for_all(card, protocol_version_v0_3=protocol_version)
        bodies = {version: protojson.encode(each) for version, each in cards.items()}
        etags = {version: _etag(body) for version, body in bodies.items()}
        # Members of 0.3 are in no verifier's card: that for all versions is not signed.
        if signer is not None and Version.V1_0 in bodies:
            body = bodies[Version.V1_0]
            # A signature differs on each instance, the tag does not.
            etags[Version.V1_0] = _etag(body + signer.key.id.encode())
            if (signed := self._signed(body, signer)) is not None:
                bodies[Version.V1_0] = protojson.encode(signed)
        self.bodies = {version: (body, etags[version]) for version, body in bodies.items()}

    def _signed(self, body: bytes, signer: CardSigner) -> dict[str, Any] | None:
        """Return the signed card. One that no key signed now, or the key that is published cannot verify, stays unsigned."""
        signed, is_final = signer.attempt(msgspec.json.decode(body))
        if not is_final:
            self.sign_again_at = self.at + _SIGN_AGAIN_SECONDS
        return signed


def _etag(content: bytes) -> str:
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def _named(request: Request) -> Version | None:
    """Return the version that the request names, None if there is none or an unsupported one."""
    try:
        return versions.named_in(request)
    except A2AError:
        return None


def _is_fresh(request: Request, etag: str, at: int) -> bool:
    """Return True if the client has the current card. If-None-Match wins over If-Modified-Since (RFC 9110 §13.1)."""
    given = request.headers.get("if-none-match")
    if given is not None:
        return any(tag.strip().removeprefix("W/") in (etag, "*") for tag in given.split(","))
    since = seconds_of(request.headers.get("if-modified-since"))
    return since is not None and at <= since
