"""The page with the public keys (JWK Set, RFC 7517) that verify the hub's notifications and cards: ECDSA on P-256, "ES256"."""

from collections.abc import Iterable

import msgspec

from a2a_hub.http.dispatch import Public
from a2a_hub.http.messages import JSON, Response
from a2a_hub.identity.public_keys import PublicKey

JWKS_PATH = "/.well-known/jwks.json"
_MAX_AGE_SECONDS = 300


def key_set_endpoints(keys: Iterable[PublicKey]) -> tuple[Public, ...]:
    """Return the row of the key set, which is for everybody, in a function's table of endpoints; none without keys."""
    members = {key.id: key.jwk | {"kid": key.id, "alg": "ES256", "use": "sig"} for key in keys}
    page = Response(
        headers={"content-type": JSON, "cache-control": f"public, max-age={_MAX_AGE_SECONDS}"},
        body=msgspec.json.encode({"keys": [*members.values()]}),
    )
    return (Public(JWKS_PATH, lambda _: page, exact=True),) if members else ()
