"""The authorizations of a project, and the OAuth endpoints that their clients use."""

import base64
from typing import Any
from urllib.parse import parse_qsl, urlencode

from a2a_hub.http.messages import Request, Response
from local.cloud.program import ApiError, json_response
from local.gemini_enterprise import payload
from local.gemini_enterprise.world import Authorization, Operator, World

_REQUIRED = ("clientId", "clientSecret", "authorizationUri", "tokenUri")
_MOST_BYTES = 64 << 10
_JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


def create(world: World, parent: str, body: bytes, *, id_: str | None) -> dict[str, Any]:
    """Create an authorization. If it exists, answer 409 and keep its values."""
    given = payload.read(body, payload.AUTHORIZATION)
    if not id_:
        raise ApiError("INVALID_ARGUMENT", "authorization_id is required.")
    name = f"{parent}/authorizations/{id_}"
    if name in world.authorizations:
        raise ApiError("ALREADY_EXISTS", f"Authorization {name} already exists.")
    oauth = given.get("serverSideOauth2", {})
    for field in _REQUIRED:
        if not oauth.get(field):
            raise ApiError("INVALID_ARGUMENT", f"server_side_oauth2.{field} is required.")
    authorization = Authorization(name=name, display_name=given.get("displayName", ""), oauth=oauth)
    world.authorizations[name] = authorization
    return written(authorization)


def get(world: World, name: str) -> dict[str, Any]:
    """Return the authorization, without its secret."""
    return written(_found(world, name))


def listed(world: World, parent: str) -> list[dict[str, Any]]:
    """Return all authorizations of a location."""
    return [
        written(each) for name, each in world.authorizations.items() if name.startswith(f"{parent}/authorizations/")
    ]


def patch(world: World, name: str, body: bytes, *, update_mask: str | None) -> dict[str, Any]:
    """Change the fields that the mask names. Without a mask, change nothing and answer 200 all the same."""
    authorization = _found(world, name)
    given = payload.read(body, payload.AUTHORIZATION)
    paths = payload.mask(update_mask, payload.AUTHORIZATION)
    old = {"displayName": authorization.display_name, "serverSideOauth2": authorization.oauth}
    new = payload.merge(old, given, paths)
    authorization.display_name = new.get("displayName", "")
    authorization.oauth = new.get("serverSideOauth2", {})
    return written(authorization)


def written(authorization: Authorization) -> dict[str, Any]:
    """Return the authorization as the API gives it out."""
    oauth = {name: value for name, value in authorization.oauth.items() if name != "clientSecret"}
    return {"name": authorization.name, "displayName": authorization.display_name, "serverSideOauth2": oauth}


def _found(world: World, name: str) -> Authorization:
    if name not in world.authorizations:
        raise ApiError("NOT_FOUND", f"Authorization {name} not found.")
    return world.authorizations[name]


def token(world: World, request: Request) -> Response:
    """Answer `oauth2.googleapis.com/token`: codes of a consent (never valid here), and service accounts' assertions."""
    form = dict(parse_qsl((request.read_body(_MOST_BYTES) or b"").decode("utf-8", "replace")))
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


def consent(world: World, request: Request) -> Response:
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
