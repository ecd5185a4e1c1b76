"""Google Cloud's metadata server, as far as tokens go (cloud.google.com/compute/docs/metadata)."""

import base64
import json
import time
from collections.abc import Mapping
from urllib.parse import parse_qs, urlsplit

from tests.fakes.http_server import Exchange, HttpServer

_FLAVOR = {"metadata_flavor": "Google"}
_ACCOUNT = "/computeMetadata/v1/instance/service-accounts/default"


class MetadataServer(HttpServer):
    """Mints tokens that say for whom and how many before them. `minted` lists audiences and scopes in their order."""

    def __init__(self, *, lifetime_seconds: float = 3600) -> None:
        super().__init__(self._serve_metadata)
        self.minted: list[str] = []
        self._lifetime_seconds = lifetime_seconds

    @property
    def environment(self) -> Mapping[str, str]:
        """Return what tells google-auth that this is the metadata server."""
        host = f"127.0.0.1:{self.port}"
        return {"GCE_METADATA_HOST": host, "GCE_METADATA_IP": host}

    def _serve_metadata(self, exchange: Exchange) -> None:
        url = urlsplit(exchange.received.path)
        if exchange.received.headers.get("metadata-flavor") != "Google":
            exchange.answer(403)
        elif url.path == f"{_ACCOUNT}/identity":
            self._mint_id_token(exchange, parse_qs(url.query)["audience"][0])
        elif url.path == f"{_ACCOUNT}/token":
            self.minted.append("access")
            token = {"access_token": f"access-{len(self.minted)}", "token_type": "Bearer"}
            self._json(exchange, token | {"expires_in": self._lifetime_seconds})
        elif url.path == f"{_ACCOUNT}/":
            self._json(
                exchange,
                {"email": "hub@project.iam.gserviceaccount.com", "scopes": [], "aliases": ["default"]},
            )
        elif url.path == "/computeMetadata/v1/project/project-id":
            exchange.answer(200, b"project", content_type="text/plain", **_FLAVOR)
        elif url.path in ("/", ""):
            exchange.answer(200, b"computeMetadata/", content_type="text/plain", **_FLAVOR)
        else:
            exchange.answer(404, b"", **_FLAVOR)

    def _mint_id_token(self, exchange: Exchange, audience: str) -> None:
        self.minted.append(audience)
        claims = {"aud": audience, "exp": time.time() + self._lifetime_seconds, "number": len(self.minted)}
        parts = (_encoded({"alg": "none"}), _encoded(claims), "c2lnbmF0dXJl")
        exchange.answer(200, ".".join(parts).encode(), content_type="text/html", **_FLAVOR)

    @staticmethod
    def _json(exchange: Exchange, value: object) -> None:
        exchange.answer(200, json.dumps(value).encode(), content_type="application/json", **_FLAVOR)


def claims_of(token: str) -> dict[str, object]:
    """The claims of a token that this server has minted."""
    payload = token.split(".")[1]
    claims: dict[str, object] = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return claims


def _encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
