"""Cloud KMS as the signer of cards: the private key never leaves it (asymmetricSign of an EC_SIGN_P256_SHA256 key version)."""

import base64
import hashlib
import re
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from a2a_hub.a2a.card_signature import SigningFailed
from a2a_hub.http.client import HttpClient, HttpFailure, fetch
from a2a_hub.http.messages import JSON
from a2a_hub.identity.public_keys import base64url

KEY_VERSION = re.compile(
    r"projects/[^/\s]+/locations/[^/\s]+/keyRings/[^/\s]+/cryptoKeys/[^/\s]+/cryptoKeyVersions/[0-9]+"
)
_CREDENTIALS_PATH = "/computeMetadata/v1/instance/service-accounts/default/token"
_SECONDS = 5.0


class _Token(Struct):
    access_token: str


class _Signature(Struct):
    signature: bytes


_TOKEN, _SIGNATURE = msgspec.json.Decoder(_Token), msgspec.json.Decoder(_Signature)


def signing_with(name: str, *, endpoint: str, metadata_host: str) -> Callable[[dict[str, Any], bytes], str]:
    """Return `CardSigner.serialize` with the key version `name`, as the function's own account."""
    http = HttpClient()

    def ask(method: str, url: str, headers: dict[str, str], body: bytes | None) -> bytes:
        answer, text = fetch(http, method, url, headers=headers, body=body, seconds=_SECONDS)
        if answer.status != 200:
            raise SigningFailed(f"HTTP {answer.status}")
        return text

    def serialize(header: dict[str, Any], payload: bytes) -> str:
        from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

        signed = f"{base64url(msgspec.json.encode(header))}.{base64url(payload)}"
        digest = base64.b64encode(hashlib.sha256(signed.encode()).digest()).decode()
        body = msgspec.json.encode({"digest": {"sha256": digest}})
        try:
            token = ask("GET", f"http://{metadata_host}{_CREDENTIALS_PATH}", {"metadata-flavor": "Google"}, None)
            bearer = f"Bearer {_TOKEN.decode(token).access_token}"
            headers = {"authorization": bearer, "content-type": JSON}
            answer = ask("POST", f"{endpoint}/v1/{name}:asymmetricSign", headers, body)
            r, s = decode_dss_signature(_SIGNATURE.decode(answer).signature)
        except (HttpFailure, msgspec.MsgspecError) as failure:
            raise SigningFailed(type(failure).__name__) from None
        # RFC 7518 §3.4: r and s, 32 bytes each.
        return f"{signed}.{base64url(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"

    return serialize
