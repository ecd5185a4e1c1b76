"""Serves a World over HTTP on the loopback interface: the Discovery Engine API, v1alpha, and Google's OAuth hosts."""

import re
from collections.abc import Callable
from typing import Any

from a2a_hub.http.messages import Request, Response
from local.cloud import program
from local.cloud.program import ApiError, json_response
from local.gemini_enterprise import agents, authorizations
from local.gemini_enterprise.world import ADMIN_ROLE, World

_HOST = re.compile(r"(?:(us|eu)-)?discoveryengine\.googleapis\.com")
_PATH = re.compile(
    r"/v1alpha/projects/(?P<project>[^/]+)/locations/(?P<location>[^/]+)/"
    r"(?:authorizations(?:/(?P<authorization>[^/]+))?"
    r"|collections/(?P<collection>[^/]+)/engines/(?P<app>[^/]+)/assistants/(?P<assistant>[^/]+)/agents"
    r"(?:/(?P<agent>[^/]+)(?:/operations/(?P<operation>[^/]+))?)?)"
)
_MOST_BYTES = 10 << 20
_MOST_PER_PAGE = 100
_DEFAULT_PER_PAGE = 20


def _api_answer(world: World, region: str, path: str, request: Request) -> dict[str, Any]:
    """Return the API's answer at the host of a region."""
    found = _PATH.fullmatch(path)
    if found is None:
        raise ApiError("NOT_FOUND", "Method not found.")
    _check_caller(world, found["project"], request)
    if found["location"] != region:
        raise ApiError(
            "INVALID_ARGUMENT",
            f'Incorrect API endpoint used. The current endpoint can only serve traffic from "{region}" region, '
            f'but got "{found["location"]}" region from the API request.',
        )
    location = f"projects/{world.project_number}/locations/{found['location']}"
    if found["app"] is None:
        return _of_authorizations(world, location, found["authorization"], request)
    app = f"{location}/collections/{found['collection']}/engines/{found['app']}"
    known = (found["location"], found["app"]) in world.apps and found["collection"] == "default_collection"
    if not known or found["assistant"] != "default_assistant":
        raise ApiError("NOT_FOUND", f"Engine {app} not found.")
    parent = f"{app}/assistants/default_assistant"
    return _of_agents(world, parent, found["agent"], found["operation"], request)


def _check_caller(world: World, project: str, request: Request) -> None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    operator = world.operators.get(token) if scheme.lower() == "bearer" else None
    if operator is None:
        raise ApiError(
            "UNAUTHENTICATED",
            "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid "
            "authentication credential.",
            reason="ACCESS_TOKEN_TYPE_UNSUPPORTED" if token else "CREDENTIALS_MISSING",
        )
    billed = request.headers.get("x-goog-user-project")
    names = (world.project_id, world.project_number)
    if billed is not None and billed not in names:
        raise ApiError(
            "PERMISSION_DENIED",
            f"Caller does not have required permission to use project {billed}.",
            reason="USER_PROJECT_DENIED",
        )
    if operator.is_user and billed is None:
        raise ApiError(
            "PERMISSION_DENIED",
            "Your application is authenticating by using local Application Default Credentials. The "
            "discoveryengine.googleapis.com API requires a quota project, which is not set by default.",
            reason="SERVICE_DISABLED",
        )
    if not world.api_enabled:
        raise ApiError(
            "PERMISSION_DENIED",
            f"Discovery Engine API has not been used in project {project} before or it is disabled.",
            reason="SERVICE_DISABLED",
        )
    if project not in names or ADMIN_ROLE not in operator.roles:
        raise ApiError(
            "PERMISSION_DENIED",
            f"Permission 'discoveryengine.agents.manage' denied on resource '//discoveryengine.googleapis.com/projects/"
            f"{project}' (or it may not exist).",
            reason="IAM_PERMISSION_DENIED",
        )


def _of_authorizations(world: World, location: str, id_: str | None, request: Request) -> dict[str, Any]:
    name = f"{location}/authorizations/{id_}"
    match (request.method, id_):
        case ("POST", None):
            new_id = request.parameter("authorizationId")
            return authorizations.create(world, location, _body(request), id_=new_id)
        case ("GET", None):
            return _page("authorizations", authorizations.listed(world, location), request)
        case ("GET", _):
            return authorizations.get(world, name)
        case ("PATCH", str()):
            return authorizations.patch(world, name, _body(request), update_mask=request.parameter("updateMask"))
        case _:
            raise ApiError("NOT_FOUND", "Method not found.")


def _of_agents(world: World, parent: str, id_: str | None, operation: str | None, request: Request) -> dict[str, Any]:
    name = f"{parent}/agents/{id_}"
    match (request.method, id_, operation):
        case ("POST", None, None):
            return agents.create(world, parent, _body(request))
        case ("GET", None, None):
            return _page("agents", agents.listed(world, parent), request)
        case ("GET", str(), None):
            return agents.get(world, name)
        case ("PATCH", str(), None):
            return agents.patch(world, name, _body(request), update_mask=request.parameter("updateMask"))
        case ("DELETE", str(), None):
            return agents.delete(world, name)
        case ("GET", str(), str()):
            return agents.operation(world, f"{name}/operations/{operation}")
        case _:
            raise ApiError("NOT_FOUND", "Method not found.")


def _page(kind: str, items: list[dict[str, Any]], request: Request) -> dict[str, Any]:
    """Return a page as the API does: nothing at all stands for an empty list, and no token for the end."""
    size_text, token = request.parameter("pageSize") or "0", request.parameter("pageToken") or "0"
    if not size_text.isdigit() or not token.isdigit():
        raise ApiError("INVALID_ARGUMENT", "Invalid page size or token.")
    size = min(int(size_text) or _DEFAULT_PER_PAGE, _MOST_PER_PAGE)
    start = int(token)
    page: dict[str, Any] = {kind: items[start : start + size]} if items[start:] else {}
    if len(items) > start + size:
        page["nextPageToken"] = str(start + size)
    return page


def _body(request: Request) -> bytes:
    body = request.read_body(_MOST_BYTES)
    if body is None:
        raise ApiError("INVALID_ARGUMENT", "Request payload size exceeds the limit.")
    return body


def handle(world: World, request: Request) -> Response:
    """Return the answer of the host that the path's first segment names."""
    host, _, rest = request.path.lstrip("/").partition("/")
    with world.lock:
        match (host, rest, request.method):
            case ("oauth2.googleapis.com", "token", "POST"):
                return authorizations.token(world, request)
            case ("accounts.google.com", "o/oauth2/v2/auth", "GET"):
                return authorizations.consent(world, request)
        try:
            if at := _HOST.fullmatch(host):
                return json_response(_api_answer(world, at[1] or "global", f"/{rest}", request))
            raise ApiError("NOT_FOUND", f"Nothing is served at {host}/{rest}.")
        except ApiError as error:
            return error.response()


class Server(program.Server):
    """A World at `url` while it is entered. `seen` gets method, path and status of every request."""

    def __init__(self, world: World, *, port: int = 0, seen: Callable[[str, str, int], None] | None = None) -> None:
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
