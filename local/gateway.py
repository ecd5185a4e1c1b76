"""gateway/openapi.yaml as routes, the way API Gateway reads it: the same file is deployed, and run here by Envoy."""

import re
from dataclasses import dataclass

from gateway.document import FILE, Backend, Document, Operation, read

_VARIABLE = re.compile(r"\$\{([A-Z_]+)_URL\}")


@dataclass(frozen=True, kw_only=True)
class GatewayRoute:
    """Requests that go to one function; the first route that matches takes the request."""

    to: str
    """The function's name."""
    pattern: str | None = None
    """A regular expression for the whole path, without the query; None matches every path."""
    methods: tuple[str, ...] = ()
    """The methods; empty matches every method."""
    deadline_seconds: float = 3600.0
    """Counted from the request to the end of the answer, streams included."""
    own_authorization: str | None = None
    """What the gateway puts into Authorization, after the caller's has gone to X-Forwarded-Authorization; None leaves it."""


@dataclass(frozen=True, kw_only=True)
class GatewayRefusal:
    """Requests that the gateway answers by itself, with `status`. `pattern` is as for a route; `allow` are the path's methods."""

    status: int
    pattern: str | None = None
    allow: tuple[str, ...] = ()


Route = GatewayRoute | GatewayRefusal


def local_routes() -> tuple[Route, ...]:
    """The routes of gateway/openapi.yaml."""
    return routes_of(read(FILE.read_text(encoding="utf-8")))


def routes_of(document: Document) -> tuple[Route, ...]:
    """Every operation's route; then 405 for the paths that have other methods, and 404 for all else.

    Literal segments win over variables, and a custom verb over none.
    """
    operations = sorted(document.operations, key=lambda operation: _precedence(operation.path))
    methods: dict[str, set[str]] = {}
    for operation in operations:
        methods.setdefault(operation.path, set()).add(operation.method.upper())
    return (
        *(_route(operation, document.backends[operation.backend or ""]) for operation in operations),
        *(
            GatewayRefusal(status=405, pattern=path_pattern(path), allow=tuple(sorted(allowed)))
            for path, allowed in methods.items()
        ),
        GatewayRefusal(status=404),
    )


def path_pattern(template: str) -> str:
    """The regular expression of a path template: a variable is one segment, and a trailing slash makes no difference."""
    if template == "/":
        return "/"
    return re.sub(r"\\\{[^}]+\\\}", "[^/]+", re.escape(template)) + "/?"


def _precedence(template: str) -> tuple[list[bool], bool]:
    return ["{" in segment for segment in template.split("/")], not template.rpartition("}")[2].startswith(
        ":"
    )


def _route(operation: Operation, backend: Backend) -> GatewayRoute:
    variable = _VARIABLE.fullmatch(backend.address or "")
    assert variable is not None, f"backend {backend.name} has an address that names no function"
    return GatewayRoute(
        to=variable[1].lower(),
        pattern=path_pattern(operation.path),
        methods=(operation.method.upper(),),
        deadline_seconds=backend.deadline_seconds or 15.0,
        own_authorization=None if backend.disables_auth else "Bearer identity-of-the-gateway",
    )
