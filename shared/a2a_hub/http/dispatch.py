"""HTTP dispatch: one table of endpoints, each a path, its methods and its handler."""

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from msgspec import Struct

from a2a_hub.http.messages import Request, Response

C = TypeVar("C")
Record = dict[str, Any]
READ = ("GET", "HEAD")
GET_ONLY = ("GET",)
POST = ("POST",)
ANY: tuple[str, ...] = ()


class Public(Struct, frozen=True):
    """An endpoint for everybody. A trailing slash of the request's path is ignored unless the endpoint is `exact`."""

    path: str
    handler: Callable[[Request], Response]
    methods: tuple[str, ...] = READ
    exact: bool = False


class Identified(Struct, Generic[C], frozen=True):
    """An endpoint for identified callers. None from its handler stands for 404."""

    path: str
    handler: Callable[[Request, C, Record], Response | None]
    methods: tuple[str, ...] = READ
    exact: bool = False


class NotFound(Exception):
    """There is nothing at the path (404)."""


class MethodNotAllowed(Exception):
    """The path has no endpoint for the method (405); `allow` lists those that it has."""

    def __init__(self, allow: tuple[str, ...]) -> None:
        super().__init__(", ".join(allow))
        self.allow = allow


class Dispatcher(Generic[C]):
    """Dispatches each request to the first endpoint that matches its path and method. `identify` authenticates the caller
    unless the endpoint is public. `fallback` handles all other paths.
    """

    def __init__(
        self,
        endpoints: Iterable[Public | Identified[C]],
        *,
        identify: Callable[[Request, Record], C],
        fallback: Callable[[Request, C, Record], Response | None] | None = None,
    ) -> None:
        self._endpoints: dict[str, list[Public | Identified[C]]] = {}
        for endpoint in endpoints:
            self._endpoints.setdefault(endpoint.path, []).append(endpoint)
        self._identify = identify
        self._fallback = fallback

    def handle(self, request: Request, record: Record) -> Response:
        """Return the response. Raises NotFound, MethodNotAllowed, and what `identify` and the handler raise."""
        endpoints = self._at(request.path)
        method = request.method
        endpoint = next((each for each in endpoints if not each.methods or method in each.methods), None)
        if isinstance(endpoint, Public):
            return endpoint.handler(request)
        wrong_method = endpoint is None and bool(endpoints)
        if wrong_method and all(isinstance(each, Public) for each in endpoints):
            raise _method_not_allowed(endpoints)
        caller = self._identify(request, record)
        if wrong_method:
            raise _method_not_allowed(endpoints)
        handler = endpoint.handler if endpoint else self._fallback
        response = handler(request, caller, record) if handler else None
        if response is None:
            raise NotFound
        return response

    def _at(self, path: str) -> list[Public | Identified[C]]:
        endpoints = self._endpoints.get(path)
        if endpoints is None:
            endpoints = [each for each in self._endpoints.get(path.rstrip("/") or "/", ()) if not each.exact]
        return endpoints


def _method_not_allowed(endpoints: Iterable[Public | Identified[Any]]) -> MethodNotAllowed:
    return MethodNotAllowed(tuple(dict.fromkeys(method for each in endpoints for method in each.methods)))
