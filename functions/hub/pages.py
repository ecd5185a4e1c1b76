"""The hub's operational endpoints: /routes, /debug-version, /openapi.yaml."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from a2a_hub.a2a import protojson
from a2a_hub.a2a.versions import Version
from a2a_hub.http.messages import JSON, Request, Response
from a2a_hub.identity.principal import Principal
from a2a_hub.routing.routes import Route, RouteTable, may_use
from a2a_hub.runtime.function import READING, wrong_method
from a2a_hub.runtime.version import VERSION

_OPENAPI = Path(__file__).with_name("openapi.yaml")


class Pages:
    """Answers GET requests, and others with 405. Nothing on these pages tells an agent's address."""

    def __init__(self, table: Callable[[], RouteTable], *, commit: str) -> None:
        self._table = table
        self._version = protojson.encode(
            {"version": VERSION, "commit": commit, "protocolVersions": [version.value for version in Version]}
        )

    def public(self, request: Request) -> Response | None:
        """The pages that need no token; None for any other path."""
        if request.path == "/openapi.yaml":
            if request.method not in READING:
                return wrong_method()
            return Response(headers={"content-type": "application/yaml"}, body=_OPENAPI.read_bytes())
        return None

    def private(self, request: Request, principal: Principal | None) -> Response | None:
        """The pages for callers with a token; None for any other path. A route that they may not use is not listed."""
        match request.path.rstrip("/"):
            case "/routes" | "/debug-version" if request.method not in READING:
                return wrong_method()
            case "/routes":
                routes = [_route(route) for route in self._table().routes if may_use(route, principal)]
                return Response(headers={"content-type": JSON}, body=protojson.encode({"routes": routes}))
            case "/debug-version":
                return Response(headers={"content-type": JSON}, body=self._version)
            case _:
                return None


def _route(route: Route) -> dict[str, object]:
    return {
        "id": route.id,
        "name": route.name,
        "nameJa": route.name_ja,
        "description": route.description,
        "descriptionJa": route.description_ja,
        "examples": route.examples,
        "keywords": route.keywords,
        "patterns": route.patterns,
        "priority": route.priority,
        "boundary": route.boundary.value,
        "sticky": route.sticky,
        "followUps": route.follow_ups,
        "default": route.default,
    }
