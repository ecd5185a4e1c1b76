"""The agents and authorizations of a project as the API reads and writes them: names in either spelling, unknown ones refused."""

import json
import re
from collections.abc import Mapping
from typing import Any

from a2a_hub.card_rules.card import Departure, Missing, Unknown, departures
from local.cloud.program import ApiError
from tests.fakes.gemini_enterprise.world import Agent, Authorization, World, found

# A field's value: a type, or the fields of an inner object.
Fields = Mapping[str, Any]

_AGENT: Fields = {
    "name": str,
    "displayName": str,
    "description": str,
    "icon": {"uri": str, "content": str},
    "a2aAgentDefinition": {"jsonAgentCard": str},
    "authorizationConfig": {"agentAuthorization": str, "toolAuthorizations": list},
    "sharingConfig": {"scope": str},
}
_AUTHORIZATION: Fields = {
    "name": str,
    "displayName": str,
    "serverSideOauth2": {
        "clientId": str,
        "clientSecret": str,
        "authorizationUri": str,
        "tokenUri": str,
        "scopes": list,
    },
}
_SNAKE = re.compile(r"_([a-z0-9])")
_SCOPES = ("ALL_USERS", "RESTRICTED")
_POLLS_UNTIL_DONE = 2
_REQUIRED = ("clientId", "clientSecret", "authorizationUri", "tokenUri")


def _check_card(text: str) -> None:
    """Check the card in `text`. Raises ApiError INVALID_ARGUMENT with the first error."""
    try:
        card = json.loads(text)
    except ValueError:
        raise ApiError("INVALID_ARGUMENT", "Invalid agent card: parse error") from None
    for departure in departures(card):
        raise ApiError("INVALID_ARGUMENT", _message(departure))
    if not str(card["url"]).startswith("https://"):
        raise ApiError("INVALID_ARGUMENT", "Invalid agent card: url must use https")


def _message(departure: Departure) -> str:
    match departure:
        case Missing(name=name):
            return f"required property '{name}' not found in object"
        case Unknown(name=name):
            return f"validation failed for additional property '{name}': instance invalid as per false-schema"
        case _:
            return f"At {_pointer(departure.path)} - unexpected instance type"


def _pointer(path: str) -> str:
    return path.removeprefix("$").replace("[", "/").replace("]", "").replace(".", "/") or "/"


def create_agent(world: World, parent: str, body: bytes) -> dict[str, Any]:
    """Create an agent under an id of the server's; one that is like another is not refused."""
    agent = Agent(name=f"{parent}/agents/{world.next_id()}", fields=_read(body, _AGENT))
    _check(world, agent)
    world.agents[agent.name] = agent
    return agent.resource


def patch_agent(world: World, name: str, body: bytes, *, update_mask: str | None) -> dict[str, Any]:
    """Change the fields that the mask names; without a mask, those of the body."""
    agent = found(world.agents, name)
    given = _read(body, _AGENT)
    given.pop("name", None)
    paths = _mask(update_mask, _AGENT) or tuple(given)
    changed = Agent(name=name, fields=_merge(agent.fields, given, paths))
    _check(world, changed)
    world.agents[name] = changed
    return changed.resource


def delete_agent(world: World, name: str) -> dict[str, Any]:
    """Start an operation that deletes the agent."""
    found(world.agents, name)
    operation = f"{name}/operations/delete-agent-{world.next_id()}"
    world.operations[operation] = _POLLS_UNTIL_DONE
    return {"name": operation, "done": False}


def operation(world: World, name: str) -> dict[str, Any]:
    """Return the operation's state, which here advances with each request for it."""
    if name not in world.operations:
        raise ApiError("NOT_FOUND", f"Operation {name} not found.")
    world.operations[name] -= 1
    if world.operations[name] > 0:
        return {"name": name, "done": False}
    world.agents.pop(name.partition("/operations/")[0], None)
    return {"name": name, "done": True, "response": {"@type": "type.googleapis.com/google.protobuf.Empty"}}


def _check(world: World, agent: Agent) -> None:
    for field in ("displayName", "description"):
        if not agent.fields.get(field):
            raise ApiError("INVALID_ARGUMENT", f"Agent {field} is required.")
    card = agent.fields.get("a2aAgentDefinition", {}).get("jsonAgentCard")
    if not card:
        raise ApiError("INVALID_ARGUMENT", "One of the agent definitions is required.")
    _check_card(card)
    scope = agent.fields.get("sharingConfig", {}).get("scope")
    if scope is not None and scope not in _SCOPES:
        raise ApiError("INVALID_ARGUMENT", f"Invalid value at 'agent.sharing_config.scope': {scope}")
    if agent.authorization is not None:
        agent.fields["authorizationConfig"] = {"agentAuthorization": _bound(world, agent, agent.authorization)}


def _bound(world: World, agent: Agent, given: str) -> str:
    """Return the authorization's name with the project's number. It has to exist, and serves one agent.

    Whether its location has to be `global` or the app's own is reported either way; both are taken here, and no other.
    """
    name = given.replace(f"projects/{world.project_id}/", f"projects/{world.project_number}/", 1)
    location = agent.name.split("/")[3]
    if name not in world.authorizations or name.split("/")[3] not in ("global", location):
        raise ApiError("INVALID_ARGUMENT", f"Authorization {given} not found.")
    for other in world.agents.values():
        if other.name != agent.name and other.authorization == name:
            raise ApiError("FAILED_PRECONDITION", f"Authorization {name} is used by another agent.")
    return name


def create_authorization(world: World, parent: str, body: bytes, *, id_: str | None) -> dict[str, Any]:
    """Create an authorization. If it exists, answer 409 and keep its values."""
    given = _read(body, _AUTHORIZATION)
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
    return authorization.resource


def patch_authorization(world: World, name: str, body: bytes, *, update_mask: str | None) -> dict[str, Any]:
    """Change the fields that the mask names. Without a mask, change nothing and answer 200 all the same."""
    authorization = found(world.authorizations, name)
    given = _read(body, _AUTHORIZATION)
    paths = _mask(update_mask, _AUTHORIZATION)
    old = {"displayName": authorization.display_name, "serverSideOauth2": authorization.oauth}
    new = _merge(old, given, paths)
    authorization.display_name = new.get("displayName", "")
    authorization.oauth = new.get("serverSideOauth2", {})
    return authorization.resource


def _read(body: bytes, fields: Fields) -> dict[str, Any]:
    """Return the body with camelCase names. Raises ApiError INVALID_ARGUMENT."""
    try:
        value = json.loads(body or b"{}")
    except ValueError:
        raise ApiError("INVALID_ARGUMENT", "Invalid JSON payload received.") from None
    return _object(value, fields, "")


def _mask(text: str | None, fields: Fields) -> tuple[str, ...]:
    """Return the paths of an update mask, in camelCase; none where there is no mask. Raises ApiError INVALID_ARGUMENT."""
    paths = tuple(_camel(path.strip()) for path in (text or "").split(",") if path.strip())
    for path in paths:
        inner: Any = fields
        for step in path.split("."):
            if not isinstance(inner, Mapping) or step not in inner:
                raise ApiError("INVALID_ARGUMENT", f"Invalid field mask: {path}")
            inner = inner[step]
    return paths


def _merge(old: dict[str, Any], new: dict[str, Any], paths: tuple[str, ...]) -> dict[str, Any]:
    """Return `old` with the fields of `paths` taken from `new`; a field that `new` lacks is cleared."""
    merged = dict(old)
    for path in paths:
        step, _, rest = path.partition(".")
        if rest:
            merged[step] = _merge(dict(merged.get(step, {})), new.get(step, {}), (rest,))
        elif step in new:
            merged[step] = new[step]
        else:
            merged.pop(step, None)
    return merged


def _object(value: Any, fields: Fields, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ApiError("INVALID_ARGUMENT", f"Invalid value at '{path or 'body'}': an object is expected")
    read_: dict[str, Any] = {}
    for given, item in value.items():
        name = _camel(given)
        if name not in fields:
            where = f" at '{path}'" if path else ""
            raise ApiError(
                "INVALID_ARGUMENT",
                f'Invalid JSON payload received. Unknown name "{given}"{where}: Cannot find field.',
            )
        kind = fields[name]
        if isinstance(kind, Mapping):
            read_[name] = _object(item, kind, f"{path}.{name}".strip("."))
        elif not isinstance(item, kind):
            raise ApiError("INVALID_ARGUMENT", f"Invalid value at '{path}.{name}': {kind.__name__} is expected")
        else:
            read_[name] = item
    return read_


def _camel(name: str) -> str:
    return _SNAKE.sub(lambda found: found[1].upper(), name)
