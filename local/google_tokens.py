"""`python -m local.google_tokens [PORT]`: a stand-in for Google's userinfo and tokeninfo, told over HTTP what to answer.

    PUT    /control/tokens/NAME      {"sub": …, "email": …, "aud": …, "expires_in": 3600, …}: the token NAME is valid from now on
    DELETE /control/tokens/NAME      NAME is revoked
    PUT    /control/mood/ENDPOINT    {"status": 503, "retry_after": 7, "latency_seconds": 0.2}: how userinfo or tokeninfo answers
    DELETE /control/mood/ENDPOINT    as usual again
    GET    /control/asked            how often each endpoint was asked, and the most questions that were under way at once

The endpoints' shapes and errors are Google's: in tokeninfo numbers and booleans are strings, in userinfo they are not.
"""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from local.ports import LOOPBACK

Json = dict[str, Any]

USERINFO, TOKENINFO = "/oauth2/v3/userinfo", "/tokeninfo"
_ENDPOINTS = {USERINFO: "userinfo", TOKENINFO: "tokeninfo"}
_SCOPE = (
    "openid https://www.googleapis.com/auth/userinfo.email https://www.googleapis.com/auth/userinfo.profile"
)


@dataclass
class State:
    """What the stand-in was told and has seen. Every use holds `lock`."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    tokens: dict[str, Json] = field(default_factory=dict)
    moods: dict[str, Json] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=lambda: {"userinfo": 0, "tokeninfo": 0, "most_at_once": 0})
    at_once: int = 0


class GoogleTokens(ThreadingHTTPServer):
    """The server; `port` 0 takes a free one."""

    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__((LOOPBACK, port), _Exchange)
        self.state = State()


class _Exchange(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body leave in one packet each; without it, every answer would wait for an acknowledgement.
    disable_nagle_algorithm = True
    server: GoogleTokens

    def do_GET(self) -> None:
        if self.path == "/control/asked":
            with self.server.state.lock:
                self._answer(200, dict(self.server.state.asked))
        elif self.path.partition("?")[0] in _ENDPOINTS:
            self._introspect(_ENDPOINTS[self.path.partition("?")[0]])
        else:
            self._answer(404, {"error": "not_found"})

    def do_PUT(self) -> None:
        values = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.state.lock:
            kind, name = self._control()
            if kind == "tokens":
                self.server.state.tokens[name] = values | {
                    "exp": time.time() + values.get("expires_in", 3600)
                }
            else:
                self.server.state.moods[name] = values
        self._answer(200, {})

    def do_DELETE(self) -> None:
        with self.server.state.lock:
            kind, name = self._control()
            (self.server.state.tokens if kind == "tokens" else self.server.state.moods).pop(name, None)
        self._answer(200, {})

    def log_message(self, format: str, *args: object) -> None:
        """Tokens stand in no log, not even here."""

    def _control(self) -> tuple[str, str]:
        _, _, kind, name = self.path.split("/", 3)
        return kind, name

    def _introspect(self, endpoint: str) -> None:
        state = self.server.state
        with state.lock:
            state.asked[endpoint] += 1
            state.at_once += 1
            state.asked["most_at_once"] = max(state.asked["most_at_once"], state.at_once)
            mood = state.moods.get(endpoint, {})
            token = state.tokens.get(self.headers.get("authorization", "").removeprefix("Bearer "))
        time.sleep(mood.get("latency_seconds", 0))
        with state.lock:
            state.at_once -= 1
        if "status" in mood:
            headers = {"retry-after": str(mood["retry_after"])} if "retry_after" in mood else {}
            self._answer(
                mood["status"], {"error": {"code": mood["status"], "status": "UNAVAILABLE"}}, headers
            )
        elif endpoint == "userinfo":
            self._userinfo(token)
        else:
            self._tokeninfo(token)

    def _userinfo(self, token: Json | None) -> None:
        if token is None or token["exp"] <= time.time():
            error = {"error": "invalid_request", "error_description": "Invalid Credentials"}
            self._answer(401, error, {"www-authenticate": 'Bearer error="invalid_token"'})
            return
        names = ("sub", "name", "email", "email_verified", "hd")
        self._answer(200, {name: token[name] for name in names if name in token})

    def _tokeninfo(self, token: Json | None) -> None:
        if token is None or token["exp"] <= time.time():
            self._answer(400, {"error": "invalid_token", "error_description": "Invalid Value"})
            return
        told = {name: value for name, value in token.items() if name not in ("name", "hd")}
        told |= {"scope": token.get("scope", _SCOPE), "exp": int(token["exp"]), "access_type": "offline"}
        told["expires_in"] = int(token["exp"] - time.time())
        self._answer(200, {name: _as_text(value) for name, value in told.items()})

    def _answer(self, status: int, value: Json, headers: dict[str, str] | None = None) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        for name, text in ({"content-type": "application/json; charset=UTF-8"} | (headers or {})).items():
            self.send_header(name, text)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def main() -> int:
    """Serves until it is interrupted; says where, once it listens."""
    server = GoogleTokens(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    print(f"ready http://{LOOPBACK}:{server.server_port}", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main())
