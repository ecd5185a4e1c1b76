"""The agents of an app's default assistant, and the schema of their cards."""

import json
from typing import Any

from hubctl.cards.card import Departure, Missing, Unknown, departures
from local.cloud.program import ApiError
from local.gemini_enterprise import payload
from local.gemini_enterprise.world import Agent, World

_SCOPES = ("ALL_USERS", "RESTRICTED")
_POLLS_UNTIL_DONE = 2


def _check_card(text: str) -> None:
    """Check the card in `text`. Raises ApiError INVALID_ARGUMENT with the first error."""
    try:
        card = json.loads(text)
    except ValueError:
        raise ApiError("INVALID_ARGUMENT", "Invalid agent card: parse error") from None
    for found in departures(card):
        raise ApiError("INVALID_ARGUMENT", _message(found))
    if not str(card["url"]).startswith("https://"):
        raise ApiError("INVALID_ARGUMENT", "Invalid agent card: url must use https")


def _message(found: Departure) -> str:
    match found:
        case Missing(name=name):
            return f"required property '{name}' not found in object"
        case Unknown(name=name):
            return f"validation failed for additional property '{name}': instance invalid as per false-schema"
        case _:
            return f"At {_pointer(found.path)} - unexpected instance type"


def _pointer(path: str) -> str:
    return path.removeprefix("$").replace("[", "/").replace("]", "").replace(".", "/") or "/"


def create(world: World, parent: str, body: bytes) -> dict[str, Any]:
    """Create an agent under an id of the server's; one that is like another is not refused."""
    agent = Agent(name=f"{parent}/agents/{world.next_id()}", fields=payload.read(body, payload.AGENT))
    _check(world, agent)
    world.agents[agent.name] = agent
    return written(agent)


def get(world: World, name: str) -> dict[str, Any]:
    """Return the agent."""
    return written(_found(world, name))


def listed(world: World, parent: str) -> list[dict[str, Any]]:
    """Return all agents of an app, shared or not."""
    return [written(each) for name, each in world.agents.items() if name.startswith(f"{parent}/agents/")]


def patch(world: World, name: str, body: bytes, *, update_mask: str | None) -> dict[str, Any]:
    """Change the fields that the mask names; without a mask, those of the body."""
    agent = _found(world, name)
    given = payload.read(body, payload.AGENT)
    given.pop("name", None)
    paths = payload.mask(update_mask, payload.AGENT) or tuple(given)
    changed = Agent(name=name, fields=payload.merge(agent.fields, given, paths))
    _check(world, changed)
    world.agents[name] = changed
    return written(changed)


def delete(world: World, name: str) -> dict[str, Any]:
    """Start an operation that deletes the agent."""
    _found(world, name)
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


def written(agent: Agent) -> dict[str, Any]:
    """Return the agent as the API gives it out."""
    return {**agent.fields, "name": agent.name, "state": "ENABLED"}


def _found(world: World, name: str) -> Agent:
    if name not in world.agents:
        raise ApiError("NOT_FOUND", f"Agent {name} not found.")
    return world.agents[name]


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
