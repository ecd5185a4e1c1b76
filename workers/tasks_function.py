"""The tasks function as a worker reaches it: what it says no to is told apart from what nobody can say."""

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any

Credential = Callable[[], Mapping[str, str]]
"""The headers that say who the worker is; see workers/credentials.py."""


class Refused(Exception):
    """The function says no: to the request, the credential, or the lease."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        super().__init__(problem.get("detail") or f"status {status}")
        self.reason = problem.get("reason")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer like any other: urllib would take the credential along, wherever it leads."""

    def redirect_request(self, *_: Any) -> None:
        """Nowhere."""


class TasksFunction:
    """The function at `url`, for whoever has the credential."""

    def __init__(self, url: str, credential: Credential) -> None:
        self._url, self._credential = url.rstrip("/"), credential
        self._open = urllib.request.build_opener(_NoRedirects).open

    def post(self, path: str, value: object) -> dict[str, Any]:
        """The answer; empty for no content. Raises Refused, or OSError: then nobody can say, and to try again is right."""
        headers = {"Content-Type": "application/json", **self._credential()}
        request = urllib.request.Request(self._url + path, json.dumps(value).encode(), headers)
        try:
            with self._open(request, timeout=90) as answer:
                return json.loads(answer.read() or b"{}")  # type: ignore[no-any-return]
        except http.client.HTTPException as error:
            raise OSError("the answer broke off") from error
        except urllib.error.HTTPError as error:
            with error:
                body = error.read()
            if error.code >= 500 or error.code in (408, 429):
                raise OSError(f"status {error.code}") from None
            problem = "problem+json" in error.headers.get("Content-Type", "")
            raise Refused(error.code, json.loads(body) if problem else {}) from None
