"""Checks Google ID tokens against published certificates, with google-auth."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from a2a_hub.http.client import Budget, HttpClient, HttpFailure
from local.cloud.signing import ISSUER

_SECONDS = 5.0
_MOST_BYTES = 1 << 20
_KEPT_SECONDS = 60.0


class InvalidToken(Exception):
    """No ID token of Google's, or not for this audience, or not of this hour."""


class Certificates:
    """The keys of every signer at `urls`; fetched when they are needed, and kept for a while."""

    def __init__(
        self, urls: Sequence[str], *, http: HttpClient, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._urls = urls
        self._http = http
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: tuple[float, dict[str, str]] | None = None

    def claims(self, token: str, *, audiences: Sequence[str]) -> Mapping[str, Any]:
        """What a valid token says. Raises InvalidToken."""
        from google.auth import jwt
        from google.auth.exceptions import GoogleAuthError

        try:
            claims: Mapping[str, Any] = jwt.decode(  # type: ignore[no-untyped-call]
                token, certs=self._certificates(), audience=list(audiences)
            )
        except (GoogleAuthError, ValueError) as error:
            raise InvalidToken from error
        if claims.get("iss") != ISSUER:
            raise InvalidToken
        return claims

    def _certificates(self) -> dict[str, str]:
        with self._lock:
            if self._kept is None or self._clock() >= self._kept[0]:
                found: dict[str, str] = {}
                for url in self._urls:
                    found |= self._fetched(url)
                self._kept = (self._clock() + _KEPT_SECONDS, found)
            return self._kept[1]

    def _fetched(self, url: str) -> dict[str, str]:
        budget = Budget(
            deadline=self._http.clock() + _SECONDS,
            connect_seconds=_SECONDS,
            idle_seconds=_SECONDS,
            max_bytes=_MOST_BYTES,
        )
        try:
            answer = self._http.request("GET", url, headers={}, body=None, budget=budget)
            certificates: dict[str, str] = json.loads(answer.read())
            return certificates
        except HttpFailure as failure:
            raise InvalidToken from failure
