"""Serves a World over HTTP on this machine's loopback interface."""

from __future__ import annotations

from collections.abc import Callable

from a2a_hub.http.messages import Request, Response
from local.cloud import server
from local.cloud.api_errors import ApiError
from local.gemini_enterprise import api, oauth
from local.gemini_enterprise.world import World


def handle(world: World, request: Request) -> Response:
    """The answer of the host that the path's first segment names."""
    host, _, rest = request.path.lstrip("/").partition("/")
    with world.lock:
        match (host, f"/{rest}", request.method):
            case ("oauth2.googleapis.com", "/token", "POST"):
                return oauth.token(world, request)
            case ("accounts.google.com", "/o/oauth2/v2/auth", "GET"):
                return oauth.consent(world, request)
            case (_, path, _) if api.serves(host):
                return api.handle(world, host, path, request)
            case _:
                return ApiError("NOT_FOUND", f"Nothing is served at {host}/{rest}.").response()


class Server(server.Server):
    """A World at `url` while it is entered. `seen` is told method, path and status of every request."""

    def __init__(
        self, world: World, *, port: int = 0, seen: Callable[[str, str, int], None] | None = None
    ) -> None:
        def answered(request: Request) -> Response:
            answer = handle(world, request)
            if seen is not None:
                seen(request.method, request.target or request.path, answer.status)
            return answer

        super().__init__(answered, port=port)

    @property
    def endpoint(self) -> str:
        """The address of every one of Google's hosts, for `hubctl register --endpoint`."""
        return f"{self.url}/{{host}}"
