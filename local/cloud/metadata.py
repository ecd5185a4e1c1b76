"""The metadata server of one service with an account of its own (Google Cloud, "About VM metadata"), as google-auth asks it."""

import time
from collections.abc import Mapping
from typing import Any

from a2a_hub.http.messages import Request, Response
from local.cloud.accounts import LIFETIME_SECONDS, Accounts, SigningKey, id_token_claims
from local.cloud.program import Faults, json_response

_FLAVOR = "metadata-flavor"
_GOOGLE = {_FLAVOR: "Google"}
_BASE = "/computeMetadata/v1/"
_ACCOUNTS = "instance/service-accounts/"
_EXPIRED_SECONDS = -600.0
_SCOPES = "https://www.googleapis.com/auth/cloud-platform"

EXPIRED, DOWN = "expire-token", "metadata-down"


class Metadata:
    """The metadata of a service in `project` that runs as `email`; `accounts` learn the tokens that it gives out."""

    def __init__(self, *, email: str, project: str, accounts: Accounts) -> None:
        self._email = email
        self._project = project
        self._key = SigningKey()
        self.faults = Faults("metadata")
        accounts.trust(self._key)
        self._access_tokens = 0
        self._accounts = accounts

    def handle(self, request: Request) -> Response:
        """Return the answer to one request."""
        if (response := self.faults.handle(request)) is not None:
            return response
        self.faults.wait()
        if DOWN in self.faults:
            return Response(status=503, headers=_GOOGLE)
        if request.headers.get(_FLAVOR) != "Google" or "x-forwarded-for" in request.headers:
            return _text("Missing Metadata-Flavor:Google header.", status=403)
        if request.path == "/":
            return _text("computeMetadata/\n")
        if not request.path.startswith(_BASE):
            return _text("Not found.", status=404)
        return self._metadata(request, request.path.removeprefix(_BASE).rstrip("/"))

    def _metadata(self, request: Request, path: str) -> Response:
        if path.startswith(_ACCOUNTS):
            account, _, rest = path.removeprefix(_ACCOUNTS).partition("/")
            if account in ("default", self._email):
                return self._account(request, rest)
        match path:
            case "project/project-id":
                return _text(self._project)
            case "instance/service-accounts":
                return _text(f"default/\n{self._email}/\n")
            case _:
                # Also for universe/universe-domain, for which google-auth then takes googleapis.com.
                return _text("Not found.", status=404)

    def _account(self, request: Request, path: str) -> Response:
        match path:
            case "" if request.parameter("recursive") == "true":
                account = {"aliases": ["default"], "email": self._email, "scopes": [_SCOPES]}
                return json_response(account, headers=_GOOGLE)
            case "email":
                return _text(self._email)
            case "scopes":
                return _text(f"{_SCOPES}\n")
            case "token":
                return self._access_token()
            case "identity":
                return self._identity(request)
            case _:
                return _text("Not found.", status=404)

    def _access_token(self) -> Response:
        self._access_tokens += 1
        lifetime_seconds = self._lifetime_seconds()
        token = f"ya29.local-{self._email}-{self._access_tokens}"
        self._accounts.issue(token, email=self._email, lifetime_seconds=lifetime_seconds)
        answer = {"access_token": token, "expires_in": int(lifetime_seconds), "token_type": "Bearer"}
        return json_response(answer, headers=_GOOGLE)

    def _identity(self, request: Request) -> Response:
        audience = request.parameter("audience")
        if not audience:
            return _text("non-empty audience parameter required", status=400)
        claims: Mapping[str, Any] = id_token_claims(
            audience=audience, email=self._email, now=time.time(), lifetime_seconds=self._lifetime_seconds()
        )
        if request.parameter("format") != "full":
            claims = {name: value for name, value in claims.items() if not name.startswith("email")}
        return _text(self._key.signed(claims))

    def _lifetime_seconds(self) -> float:
        parameters = self.faults.parameters(EXPIRED)
        if parameters is None:
            return LIFETIME_SECONDS
        return float(parameters.get("seconds", _EXPIRED_SECONDS))


def _text(text: str, *, status: int = 200) -> Response:
    return Response(status=status, headers={"content-type": "application/text", **_GOOGLE}, body=text.encode())
