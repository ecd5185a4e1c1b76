"""The pages of the hub: /, /openapi.yaml, /routes, /debug-version."""

from __future__ import annotations

from pathlib import Path

from a2a_hub.a2a import protojson
from a2a_hub.a2a.model import Version
from a2a_hub.http.messages import JSON, Request, Response
from a2a_hub.identity.authentication import Caller
from a2a_hub.routing.routes import Route, may_use
from a2a_hub.runtime.function import front_page
from a2a_hub.runtime.version import VERSION
from a2a_hub.telemetry.log import Record
from functions.hub.tables import Tables

_OPENAPI = Path(__file__).with_name("openapi.yaml")


class Pages:
    """The pages of the hub. None of them tells an agent's address."""

    def __init__(self, tables: Tables, *, commit: str) -> None:
        self._tables = tables
        self._version = protojson.encode(
            {"version": VERSION, "commit": commit, "protocolVersions": [version.value for version in Version]}
        )

    def front(self, _: Request) -> Response:
        """Return the page at `/`."""
        return front_page(self._tables.now.card.name)

    def openapi(self, _: Request) -> Response:
        """Return the description of the hub's HTTP interface."""
        return Response(headers={"content-type": "application/yaml"}, body=_OPENAPI.read_bytes())

    def routes(self, _request: Request, caller: Caller, _record: Record) -> Response:
        """Return the routes that the caller may use."""
        usable = [route for route in self._tables.now.routes.values() if may_use(route, caller.principal)]
        body = protojson.encode({"routes": [_route(route) for route in usable]})
        return Response(headers={"content-type": JSON}, body=body)

    def version(self, _request: Request, _caller: Caller, _record: Record) -> Response:
        """Return the versions of the hub and of its protocols."""
        return Response(headers={"content-type": JSON}, body=self._version)


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
        "boundary": route.boundary.kind,
        "sticky": route.sticky,
        "followUps": route.follow_ups,
        "default": route.default,
    }
