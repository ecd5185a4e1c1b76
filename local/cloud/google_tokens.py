"""`python -m local.cloud.google_tokens [--port PORT]`: Google's userinfo and tokeninfo, with answers that are set over HTTP.

    PUT    /control/tokens/NAME      {"sub": …, "email": …, "aud": …, "expires_in": 3600, …}: the token NAME is valid from now on
    DELETE /control/tokens/NAME      NAME is revoked
    PUT    /control/mood/ENDPOINT    {"status": 503, "retry_after": 7, "latency_seconds": 0.2}: how userinfo or tokeninfo answers
    DELETE /control/mood/ENDPOINT    as usual again
    GET    /control/counts           the requests to each endpoint, and the most that were under way at once

The endpoints' shapes and errors are Google's: in tokeninfo numbers and booleans are strings, in userinfo they are not.
"""

import threading
import time
from typing import Any

from a2a_hub.http.messages import Request, Response
from local.cloud.program import CommandLine, json_body, json_response, serve

Json = dict[str, Any]

USERINFO, TOKENINFO = "/oauth2/v3/userinfo", "/tokeninfo"
_ENDPOINTS = {USERINFO: "userinfo", TOKENINFO: "tokeninfo"}
_CONTROL = "/control/"
_SCOPE = "openid https://www.googleapis.com/auth/userinfo.email https://www.googleapis.com/auth/userinfo.profile"


class GoogleTokens:
    """The stand-in's tokens and moods, and the requests that it received. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tokens: dict[str, Json] = {}
        self._moods: dict[str, Json] = {}
        self._counts = {"userinfo": 0, "tokeninfo": 0, "most_at_once": 0}
        self._at_once = 0

    def handle(self, request: Request) -> Response:
        """Return the answer to one request."""
        if request.path.startswith(_CONTROL):
            return self._controlled(request)
        endpoint = _ENDPOINTS.get(request.path)
        if endpoint is None:
            return json_response({"error": "not_found"}, status=404)
        return self._introspected(endpoint, request)

    def _controlled(self, request: Request) -> Response:
        kind, _, name = request.path.removeprefix(_CONTROL).partition("/")
        with self._lock:
            if kind == "counts":
                return json_response(self._counts)
            entries = self._tokens if kind == "tokens" else self._moods
            if request.method == "DELETE":
                entries.pop(name, None)
                return json_response({})
            entries[name] = values = json_body(request)
            if kind == "tokens":
                values["exp"] = time.time() + values.get("expires_in", 3600)
        return json_response({})

    def _introspected(self, endpoint: str, request: Request) -> Response:
        with self._lock:
            self._counts[endpoint] += 1
            self._at_once += 1
            self._counts["most_at_once"] = max(self._counts["most_at_once"], self._at_once)
            mood = self._moods.get(endpoint, {})
            token = self._tokens.get(request.headers.get("authorization", "").removeprefix("Bearer "))
        time.sleep(mood.get("latency_seconds", 0))
        with self._lock:
            self._at_once -= 1
        if "status" in mood:
            error = {"code": mood["status"], "status": "UNAVAILABLE"}
            headers = {"retry-after": str(mood["retry_after"])} if "retry_after" in mood else {}
            return json_response({"error": error}, status=mood["status"], headers=headers)
        if token is not None and token["exp"] <= time.time():
            token = None
        return _userinfo(token) if endpoint == "userinfo" else _tokeninfo(token)


def _userinfo(token: Json | None) -> Response:
    if token is None:
        error = {"error": "invalid_request", "error_description": "Invalid Credentials"}
        headers = {"www-authenticate": 'Bearer error="invalid_token"'}
        return json_response(error, status=401, headers=headers)
    names = ("sub", "name", "email", "email_verified", "hd")
    return json_response({name: token[name] for name in names if name in token})


def _tokeninfo(token: Json | None) -> Response:
    if token is None:
        return json_response({"error": "invalid_token", "error_description": "Invalid Value"}, status=400)
    facts = {name: value for name, value in token.items() if name not in ("name", "hd")}
    facts |= {"scope": token.get("scope", _SCOPE), "exp": int(token["exp"]), "access_type": "offline"}
    facts["expires_in"] = int(token["exp"] - time.time())
    return json_response({name: _as_text(value) for name, value in facts.items()})


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def main() -> None:
    """Serve until stopped by a signal."""
    parser = CommandLine("google_tokens")
    serve(GoogleTokens().handle, name="google-tokens", port=parser.parse_args().port)


if __name__ == "__main__":
    main()
