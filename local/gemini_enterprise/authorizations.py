"""The authorizations of a project's location."""

from __future__ import annotations

from typing import Any

from local.cloud.api_errors import ApiError
from local.gemini_enterprise import payload
from local.gemini_enterprise.world import Authorization, World

_REQUIRED = ("clientId", "clientSecret", "authorizationUri", "tokenUri")


def create(world: World, parent: str, body: bytes, *, id_: str | None) -> dict[str, Any]:
    """A new authorization. One that exists is 409, and keeps its values."""
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
    """The authorization, without its secret."""
    return written(_found(world, name))


def listed(world: World, parent: str) -> list[dict[str, Any]]:
    """All of a location."""
    return [
        written(each)
        for name, each in world.authorizations.items()
        if name.startswith(f"{parent}/authorizations/")
    ]


def patch(world: World, name: str, body: bytes, *, update_mask: str | None) -> dict[str, Any]:
    """What the mask names is changed. Without a mask nothing is changed, and the answer is 200 all the same."""
    authorization = _found(world, name)
    given = payload.read(body, payload.AUTHORIZATION)
    paths = payload.mask(update_mask, payload.AUTHORIZATION)
    old = {"displayName": authorization.display_name, "serverSideOauth2": authorization.oauth}
    new = payload.merge(old, given, paths)
    authorization.display_name = new.get("displayName", "")
    authorization.oauth = new.get("serverSideOauth2", {})
    return written(authorization)


def written(authorization: Authorization) -> dict[str, Any]:
    """The authorization as the API gives it out."""
    oauth = {name: value for name, value in authorization.oauth.items() if name != "clientSecret"}
    return {
        "name": authorization.name,
        "displayName": authorization.display_name,
        "serverSideOauth2": oauth,
    }


def _found(world: World, name: str) -> Authorization:
    if name not in world.authorizations:
        raise ApiError("NOT_FOUND", f"Authorization {name} not found.")
    return world.authorizations[name]
