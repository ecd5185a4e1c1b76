"""Google's userinfo and tokeninfo, with faults; tokeninfo writes numbers and booleans as strings."""

import threading
import time
from typing import Any

from a2a_hub.http.messages import Request, Response
from local.cloud.program import Faults, json_response

Json = dict[str, Any]

USERINFO, TOKENINFO = "/oauth2/v3/userinfo", "/tokeninfo"
_ENDPOINTS = {USERINFO: "userinfo", TOKENINFO: "tokeninfo"}
_SCOPE = "openid https://www.googleapis.com/auth/userinfo.email https://www.googleapis.com/auth/userinfo.profile"


class GoogleTokens:
    """The stand-in's tokens, and the requests that it received. Thread-safe. Each endpoint has a fault of its name."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tokens: dict[str, Json] = {}
        self._faults = Faults("google-tokens")
        self.counts = {"userinfo": 0, "tokeninfo": 0}

    def issue(self, token: str, facts: Json) -> None:
        """Make `token` valid from now on."""
        self._tokens[token] = facts | {"exp": time.time() + facts.get("expires_in", 3600)}

    def handle(self, request: Request) -> Response:
        """Return the answer to one request."""
        if (answer := self._faults.handle(request)) is not None:
            return answer
        endpoint = _ENDPOINTS.get(request.path)
        if endpoint is None:
            return json_response({"error": "not_found"}, status=404)
        with self._lock:
            self.counts[endpoint] += 1
            token = self._tokens.get(request.headers.get("authorization", "").removeprefix("Bearer "))
        fault = self._faults.parameters(endpoint) or {}
        self._faults.wait()
        time.sleep(fault.get("latency_seconds", 0))
        if "status" in fault:
            error = {"code": fault["status"], "status": "UNAVAILABLE"}
            headers = {"retry-after": str(fault["retry_after"])} if "retry_after" in fault else {}
            return json_response({"error": error}, status=fault["status"], headers=headers)
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
    texts = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in facts.items()}
    return json_response(texts)
