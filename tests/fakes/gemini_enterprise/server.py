"""Serves a World over HTTP on the loopback interface: the Discovery Engine API, v1alpha, and Google's OAuth hosts."""

import base64
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from a2a_hub.http.messages import Request, Response
from local.cloud import program
from local.cloud.program import ApiError, denied, json_response
from tests.fakes.gemini_enterprise import resources
from tests.fakes.gemini_enterprise.world import ADMIN_ROLE, Agent, Authorization, Operator, World, found

_HOST = re.compile(r"(?:(us|eu)-)?discoveryengine\.googleapis\.com")
_PATH = re.compile(
    r"/v1alpha/projects/(?P<project>[^/]+)/locations/(?P<location>[^/]+)/"
    r"(?:authorizations(?:/(?P<authorization>[^/]+))?"
    r"|collections/(?P<collection>[^/]+)/engines/(?P<app>[^/]+)/assistants/(?P<assistant>[^/]+)/agents"
    r"(?:/(?P<agent>[^/]+)(?:/operations/(?P<operation>[^/]+))?)?)"
)
_MAX_BYTES = 10 << 20
_MAX_PER_PAGE = 100
_DEFAULT_PER_PAGE = 20
_JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


def _api_answer(world: World, region: str, path: str, request: Request) -> dict[str, Any]:
    """Return the API's answer at the host of a region."""
    parts = _PATH.fullmatch(path)
    if parts is None:
        raise ApiError("NOT_FOUND", "Method not found.")
    _check_caller(world, parts["project"], request)
    if parts["location"] != region:
        raise ApiError(
            "INVALID_ARGUMENT",
            f'Incorrect API endpoint used. The current endpoint can only serve traffic from "{region}" region, '
            f'but got "{parts["location"]}" region from the API request.',
        )
    location = f"projects/{world.project_number}/locations/{parts['location']}"
    if parts["app"] is None:
        return _of_authorizations(world, location, parts["authorization"], request)
    app = f"{location}/collections/{parts['collection']}/engines/{parts['app']}"
    known = (parts["location"], parts["app"]) in world.apps and parts["collection"] == "default_collection"
    if not known or parts["assistant"] != "default_assistant":
        raise ApiError("NOT_FOUND", f"Engine {app} not found.")
    parent = f"{app}/assistants/default_assistant"
    return _of_agents(world, parent, parts["agent"], parts["operation"], request)


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
        raise denied("discoveryengine.googleapis.com", "discoveryengine.agents.manage", f"projects/{project}")


def _of_authorizations(world: World, location: str, id_: str | None, request: Request) -> dict[str, Any]:
    name = f"{location}/authorizations/{id_}"
    match (request.method, id_):
        case ("POST", None):
            new_id = request.parameter("authorizationId")
            return resources.create_authorization(world, location, _body(request), id_=new_id)
        case ("GET", None):
            return _page(world.authorizations, f"{location}/authorizations/", request)
        case ("GET", _):
            return found(world.authorizations, name).resource
        case ("PATCH", str()):
            return resources.patch_authorization(
                world, name, _body(request), update_mask=request.parameter("updateMask")
            )
        case _:
            raise ApiError("NOT_FOUND", "Method not found.")


def _of_agents(world: World, parent: str, id_: str | None, operation: str | None, request: Request) -> dict[str, Any]:
    name = f"{parent}/agents/{id_}"
    match (request.method, id_, operation):
        case ("POST", None, None):
            return resources.create_agent(world, parent, _body(request))
        case ("GET", None, None):
            return _page(world.agents, f"{parent}/agents/", request)
        case ("GET", str(), None):
            return found(world.agents, name).resource
        case ("PATCH", str(), None):
            return resources.patch_agent(world, name, _body(request), update_mask=request.parameter("updateMask"))
        case ("DELETE", str(), None):
            return resources.delete_agent(world, name)
        case ("GET", str(), str()):
            return resources.operation(world, f"{name}/operations/{operation}")
        case _:
            raise ApiError("NOT_FOUND", "Method not found.")


def _page(resources: Mapping[str, Agent | Authorization], parent: str, request: Request) -> dict[str, Any]:
    """Return a page as the API does: nothing at all stands for an empty list, and no token for the end."""
    items = [each.resource for name, each in resources.items() if name.startswith(parent)]
    size_text, token = request.parameter("pageSize") or "0", request.parameter("pageToken") or "0"
    if not size_text.isdigit() or not token.isdigit():
        raise ApiError("INVALID_ARGUMENT", "Invalid page size or token.")
    size = min(int(size_text) or _DEFAULT_PER_PAGE, _MAX_PER_PAGE)
    start = int(token)
    page: dict[str, Any] = {parent.split("/")[-2]: items[start : start + size]} if items[start:] else {}
    if len(items) > start + size:
        page["nextPageToken"] = str(start + size)
    return page


def _body(request: Request) -> bytes:
    body = request.read_body(_MAX_BYTES)
    if body is None:
        raise ApiError("INVALID_ARGUMENT", "Request payload size exceeds the limit.")
    return body


def _token(world: World, request: Request) -> Response:
    """Answer `oauth2.googleapis.com/token`: codes of a consent (never valid here), and service accounts' assertions."""
    form = dict(parse_qsl((request.read_body(_MAX_BYTES) or b"").decode("utf-8", "replace")))
    match form.get("grant_type"):
        case "authorization_code":
            client = world.clients.get(form.get("client_id", ""))
            if client is None:
                return _refused(401, "invalid_client", "The OAuth client was not found.")
            if form.get("client_secret") != client.secret:
                return _refused(401, "invalid_client", "The provided client secret is invalid.")
            if form.get("redirect_uri") not in client.redirect_uris:
                return _refused(400, "redirect_uri_mismatch", "Bad Request")
            return _refused(400, "invalid_grant", "Malformed auth code.")
        case grant if grant == _JWT_BEARER:
            operator = _signer(world, form.get("assertion", ""))
            if operator is None:
                return _refused(400, "invalid_grant", "Invalid JWT Signature.")
            access_token = f"ya29.{world.next_id()}"
            world.operators[access_token] = operator
            value = {"access_token": access_token, "expires_in": 3599, "token_type": "Bearer"}
            return json_response(value)
        case _:
            return _refused(400, "unsupported_grant_type", "Invalid grant_type.")


def _consent(world: World, request: Request) -> Response:
    """Answer `accounts.google.com/o/oauth2/v2/auth`: redirect to the sign-in, or to the error page."""
    client = world.clients.get(request.parameter("client_id") or "")
    if client is None:
        return _error_page("invalid_client", "The OAuth client was not found.")
    redirect_uri = request.parameter("redirect_uri")
    if redirect_uri not in client.redirect_uris:
        return _error_page("redirect_uri_mismatch", f"redirect_uri={redirect_uri}")
    if request.parameter("response_type") != "code":
        return _error_page("invalid_request", "Required parameter is missing: response_type")
    return _redirect("https://accounts.google.com/v3/signin/identifier", client_id=client.id)


def _signer(world: World, assertion: str) -> Operator | None:
    from google.auth import exceptions, jwt

    for operator in world.service_accounts:
        try:
            claims: dict[str, Any] = jwt.decode(assertion, certs=operator.public_key)  # type: ignore[no-untyped-call]
        except (ValueError, exceptions.GoogleAuthError):
            continue
        if claims.get("iss") == operator.email:
            return operator
    return None


def _refused(status: int, error: str, description: str) -> Response:
    return json_response({"error": error, "error_description": description}, status=status)


def _error_page(error: str, description: str) -> Response:
    # A protobuf message whose first fields are the error and its description.
    fields = b"".join(
        bytes([number << 3 | 2, len(text)]) + text
        for number, text in ((1, error.encode()), (2, description.encode()[:120]))
    )
    auth_error = base64.urlsafe_b64encode(fields).decode()
    return _redirect("https://accounts.google.com/signin/oauth/error", authError=auth_error)


def _redirect(url: str, **query: str) -> Response:
    return Response(status=302, headers={"location": f"{url}?{urlencode(query)}"})


def handle(world: World, request: Request) -> Response:
    """Return the answer of the host that the path's first segment names."""
    host, _, rest = request.path.lstrip("/").partition("/")
    with world.lock:
        match (host, rest, request.method):
            case ("oauth2.googleapis.com", "token", "POST"):
                return _token(world, request)
            case ("accounts.google.com", "o/oauth2/v2/auth", "GET"):
                return _consent(world, request)
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
