"""The token endpoint of an agent's owner (RFC 6749 §4.4), `POST /token`, with faults."""

import base64
import binascii
import itertools
import threading
import time
from collections.abc import Mapping
from urllib.parse import parse_qs, unquote_plus

from a2a_hub.http.messages import Request, Response
from local.cloud.program import Faults, json_response

_PATH = "/token"
INVALID_CLIENT, SERVER_ERROR, EXPIRED_EARLY = "invalid-client", "server-error", "expired-early"
_LONGEST_BODY = 65_536


class AuthorizationServer:
    """Knows `clients`, their secrets by id, and lets them have `scopes`. Thread-safe."""

    def __init__(self, clients: Mapping[str, str], *, scopes: frozenset[str], lifetime_seconds: float = 3600.0) -> None:
        self.faults = Faults("authorization-server")
        self._clients = clients
        self._scopes = scopes
        self._lifetime_seconds = lifetime_seconds
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        # When each token expires, and the fault under which it was given out.
        self._given: dict[str, tuple[float, object]] = {}

    def is_active(self, token: str) -> bool:
        """Return True if the token was given out and has not expired."""
        fault = self.faults.parameters(EXPIRED_EARLY)
        with self._lock:
            expires, given_under = self._given.get(token, (0.0, None))
        return time.time() < expires and (fault is None or fault is given_under)

    def handle(self, request: Request) -> Response:
        """Answer one request."""
        if (answer := self.faults.handle(request)) is not None:
            return answer
        if request.method != "POST" or request.path != _PATH:
            return json_response({"error": "not_found"}, status=404)
        body = (request.read_body(_LONGEST_BODY) or b"").decode("ascii", "replace")
        form = {name: values[0] for name, values in parse_qs(body).items()}
        self.faults.wait()
        if SERVER_ERROR in self.faults:
            return Response(status=500, headers={"content-type": "text/html"}, body=b"<h1>Oops</h1>")
        client, secret = _client(request, form)
        if INVALID_CLIENT in self.faults or not client or self._clients.get(client) != secret:
            error = {"error": "invalid_client", "error_description": f"wrong secret for {client}: {secret}"}
            return json_response(error, status=401, headers={"www-authenticate": "Basic"})
        if form.get("grant_type") != "client_credentials":
            return json_response({"error": "unsupported_grant_type"}, status=400)
        scope = form.get("scope", " ".join(sorted(self._scopes)))
        if not self._scopes.issuperset(scope.split()):
            return json_response({"error": "invalid_scope"}, status=400)
        with self._lock:
            token = f"access-token-{next(self._numbers)}"
            self._given[token] = (time.time() + self._lifetime_seconds, self.faults.parameters(EXPIRED_EARLY))
        given = {"access_token": token, "token_type": "Bearer", "scope": scope}
        return json_response(given | {"expires_in": int(self._lifetime_seconds)}, headers={"cache-control": "no-store"})


def _client(request: Request, form: Mapping[str, str]) -> tuple[str, str]:
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return form.get("client_id", ""), form.get("client_secret", "")
    try:
        name, _, secret = base64.b64decode(value, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return "", ""
    return unquote_plus(name), unquote_plus(secret)
