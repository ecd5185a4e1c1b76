"""An agent of Gemini Enterprise: as it is written, as it is read, and how it differs from what is published."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from hubctl.registration.target import same_resource

SHARED = "ALL_USERS"
# What Gemini Enterprise acts on or shows. The others differ on purpose: a registered card is a reduced one.
_COMPARED = ("name", "description", "url", "version", "defaultInputModes", "iconUrl")
_OF_SKILLS = ("name", "description", "tags", "examples")


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredAgent:
    """An agent as the API returns it. `card` is None for an agent that is no A2A agent, or whose card cannot be read."""

    name: str
    display_name: str
    card: dict[str, Any] | None
    authorization: str | None
    shared: bool
    fields: dict[str, Any]

    @property
    def id(self) -> str:
        """The id that the server gave it."""
        return self.name.rpartition("/")[2]


def read_agent(fields: dict[str, Any]) -> RegisteredAgent:
    """Return the agent in one of the API's answers."""
    try:
        card = json.loads(fields["a2aAgentDefinition"]["jsonAgentCard"])
    except (KeyError, TypeError, ValueError):
        card = None
    return RegisteredAgent(
        name=str(fields.get("name")),
        display_name=str(fields.get("displayName", "")),
        card=card if isinstance(card, dict) else None,
        authorization=(fields.get("authorizationConfig") or {}).get("agentAuthorization"),
        shared=(fields.get("sharingConfig") or {}).get("scope") == SHARED,
        fields=fields,
    )


def written_agent(card: dict[str, Any], *, authorization: str | None, icon: str | None, shared: bool) -> dict[str, Any]:
    """Return the body of a request that creates or replaces the agent of this card."""
    body: dict[str, Any] = {
        "displayName": card["name"],
        "description": card["description"],
        "a2aAgentDefinition": {"jsonAgentCard": json.dumps(card, ensure_ascii=False, separators=(",", ":"))},
    }
    if icon or card.get("iconUrl"):
        body["icon"] = {"uri": icon or card["iconUrl"]}
    if authorization:
        body["authorizationConfig"] = {"agentAuthorization": authorization}
    if shared:
        body["sharingConfig"] = {"scope": SHARED}
    return body


def candidates(agents: Iterable[dict[str, Any]], card: dict[str, Any]) -> list[RegisteredAgent]:
    """Return the agents whose card has this card's name or url: the server allows many alike."""
    return [
        agent
        for agent in map(read_agent, agents)
        if agent.card is not None
        and (agent.card.get("name") == card.get("name") or agent.card.get("url") == card.get("url"))
    ]


def unlike(written: dict[str, Any], read: dict[str, Any]) -> Iterator[str]:
    """Yield the fields that the server holds with another value than written."""
    wanted, held = read_agent(written), read_agent(read)
    for field in ("displayName", "description"):
        if written[field] != read.get(field):
            yield field
    if wanted.card != held.card:
        yield "a2aAgentDefinition.jsonAgentCard"
    if not same_resource(wanted.authorization, held.authorization):
        yield "authorizationConfig.agentAuthorization"
    if wanted.shared and not held.shared:
        yield "sharingConfig.scope"


def differences(registered: dict[str, Any], live: dict[str, Any]) -> Iterator[str]:
    """Yield JSON paths with both values, shortened."""
    for name in _COMPARED:
        yield from _difference(f"$.{name}", registered.get(name), live.get(name))
    streams = [bool((card.get("capabilities") or {}).get("streaming")) for card in (registered, live)]
    yield from _difference("$.capabilities.streaming", *streams)
    old, new = _skills(registered), _skills(live)
    for id_ in old.keys() | new.keys():
        if id_ not in new:
            yield f"$.skills: {id_!r} is not published any more"
        elif id_ not in old:
            yield f"$.skills: {id_!r} is new"
        else:
            for name in _OF_SKILLS:
                yield from _difference(f"$.skills[{id_}].{name}", old[id_].get(name), new[id_].get(name))


def _difference(path: str, registered: Any, live: Any) -> Iterator[str]:
    if registered != live:
        yield f"{path}: {_short(registered)} is registered, {_short(live)} is published"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _skills(card: dict[str, Any]) -> dict[str, dict[str, Any]]:
    skills = card.get("skills")
    return {str(skill.get("id")): skill for skill in skills or () if isinstance(skill, dict)}
