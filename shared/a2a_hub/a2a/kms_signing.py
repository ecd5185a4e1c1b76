"""Cloud KMS as the signer of cards: the private key never leaves it (asymmetricSign of an EC_SIGN_P256_SHA256 key version)."""

import base64
import hashlib
import re
from collections.abc import Callable

import msgspec
from msgspec import Struct

from a2a_hub.a2a.card_signature import SigningFailed
from a2a_hub.http.client import HttpClient, HttpFailure, fetch
from a2a_hub.http.messages import JSON

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


def signing_with(name: str, *, endpoint: str, metadata_host: str) -> Callable[[bytes], bytes]:
    """Return a function that signs with the key version `name` as the function's own account: DER. It raises SigningFailed."""
    http = HttpClient()

    def ask(method: str, url: str, headers: dict[str, str], body: bytes | None) -> bytes:
        answer, text = fetch(http, method, url, headers=headers, body=body, seconds=_SECONDS)
        if answer.status != 200:
            raise SigningFailed(f"HTTP {answer.status}")
        return text

    def sign(data: bytes) -> bytes:
        digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
        body = msgspec.json.encode({"digest": {"sha256": digest}})
        try:
            token = ask("GET", f"http://{metadata_host}{_CREDENTIALS_PATH}", {"metadata-flavor": "Google"}, None)
            bearer = f"Bearer {_TOKEN.decode(token).access_token}"
            headers = {"authorization": bearer, "content-type": JSON}
            answer = ask("POST", f"{endpoint}/v1/{name}:asymmetricSign", headers, body)
            return _SIGNATURE.decode(answer).signature
        except (HttpFailure, msgspec.MsgspecError) as failure:
            raise SigningFailed(type(failure).__name__) from None

    return sign
