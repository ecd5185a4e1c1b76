"""The public keys that verify the hub's notifications (JWK, RFC 7517): ECDSA on P-256, "ES256"."""

from collections.abc import Iterable

import msgspec

from a2a_hub.http.dispatch import Public
from a2a_hub.http.messages import JSON, Request, Response
from a2a_hub.identity.public_keys import EXPECTED, PublicKey, public_keys
from a2a_hub.settings.reader import Settings

JWKS_PATH = "/.well-known/jwks.json"
_MAX_AGE_SECONDS = 300


def read(settings: Settings) -> tuple[PublicKey, ...]:
    """Read the keys of WEBHOOK_PUBLIC_KEYS; there are none if it is unset."""
    return settings.parsed("WEBHOOK_PUBLIC_KEYS", public_keys, expected=EXPECTED) or ()


class KeySetPage:
    """The key set, for everybody; without keys there is no page."""

    def __init__(self, keys: Iterable[PublicKey]) -> None:
        ids = {key.id: key for key in keys}
        key_set = [key.jwk | {"kid": id_, "alg": "ES256", "use": "sig"} for id_, key in ids.items()]
        self._body = msgspec.json.encode({"keys": key_set})
        self._exists = bool(ids)

    @property
    def endpoints(self) -> tuple[Public, ...]:
        """The page's row in a function's table of endpoints; none without keys."""
        return (Public(JWKS_PATH, self.serve, exact=True),) if self._exists else ()

    def serve(self, _: Request) -> Response:
        """Return the key set."""
        headers = {"content-type": JSON, "cache-control": f"public, max-age={_MAX_AGE_SECONDS}"}
        return Response(headers=headers, body=self._body)
