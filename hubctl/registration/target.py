"""An app of Gemini Enterprise, its agents, Google's hosts, and the requests of a registration as values; nothing is sent here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from a2a_hub.card_rules.addresses import parsed
from a2a_hub.settings.reader import LOOPBACK_HOSTS
from hubctl.main import CommandError

LOCATIONS = ("global", "us", "eu")
_API_HOST = "discoveryengine.googleapis.com"
_GOOGLE_OAUTH_HOSTS = frozenset({"accounts.google.com", "oauth2.googleapis.com"})
_PROJECT = re.compile(r"[a-z][a-z0-9-]{4,28}[a-z0-9]|[a-z0-9.]+:[a-z0-9-]+|[0-9]+|[a-z][a-z0-9-]*")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
AGENT_MASK = "displayName,description,icon,a2aAgentDefinition,authorizationConfig,sharingConfig"
AUTHORIZATION_MASK = "serverSideOauth2"
_MASKED = "***"
SHARED = "ALL_USERS"
# What Gemini Enterprise acts on or shows. The others differ on purpose: a registered card is a reduced one.
_COMPARED = ("name", "description", "url", "version", "defaultInputModes", "iconUrl")
_OF_SKILLS = ("name", "description", "tags", "examples")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """An app of Gemini Enterprise, and the authorization that its agent uses; without an id there is none."""

    project: str
    location: str
    app: str
    authorization_id: str | None
    authorization_location: str

    def __post_init__(self) -> None:
        for option, value, pattern in (
            ("--project", self.project, _PROJECT),
            ("--app", self.app, _ID),
            ("--authorization", self.authorization_id, _ID),
        ):
            if value is not None and not pattern.fullmatch(value):
                raise CommandError(f"{option} {value!r} is not an id: lower-case letters, digits and hyphens")
        if self.location not in LOCATIONS:
            raise CommandError(f"the location is {self.location!r}, and must be one of {', '.join(LOCATIONS)}")

    @property
    def assistant(self) -> str:
        """The resource that holds the app's agents."""
        return (
            f"projects/{self.project}/locations/{self.location}/collections/default_collection/"
            f"engines/{self.app}/assistants/default_assistant"
        )

    @property
    def authorizations(self) -> str:
        """The resource that holds the authorizations."""
        return f"projects/{self.project}/locations/{self.authorization_location}"

    @property
    def authorization(self) -> str | None:
        """The authorization's resource name."""
        return self.authorization_id and f"{self.authorizations}/authorizations/{self.authorization_id}"

    def create_authorization(self, oauth: dict[str, Any], *, display_name: str) -> Call:
        """Create the authorization. Answers 409 where it exists, and changes nothing then."""
        return Call(
            method="POST",
            path=f"{self.authorizations}/authorizations",
            query={"authorizationId": self.authorization_id or ""},
            body={"name": self.authorization, "displayName": display_name, "serverSideOauth2": oauth},
        )

    def update_authorization(self, oauth: dict[str, Any]) -> Call:
        """Replace the authorization's content. Without the mask the API answers 200 and changes nothing."""
        return Call(
            method="PATCH",
            path=self.authorization or "",
            query={"updateMask": AUTHORIZATION_MASK},
            body={"name": self.authorization, "serverSideOauth2": oauth},
        )

    def list_agents(self, *, page_token: str | None = None) -> Call:
        """Read one page of the app's agents."""
        query = {"pageSize": "100"} | ({"pageToken": page_token} if page_token else {})
        return Call(method="GET", path=f"{self.assistant}/agents", query=query)

    def create_agent(self, body: dict[str, Any]) -> Call:
        """Create an agent. The server chooses the id, and accepts a second agent like it."""
        return Call(method="POST", path=f"{self.assistant}/agents", body=body)


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The addresses of Google's hosts: their own, or those that `template` makes of their names (a stand-in)."""

    template: str | None = None

    def __post_init__(self) -> None:
        if self.template is None:
            return
        # The template is no URL yet: what it becomes for a host has to be one.
        parts = parsed(self.template.replace("{host}", _API_HOST))
        safe = parts and (parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK_HOSTS))
        if "{host}" not in self.template or not safe:
            raise CommandError(
                f"--endpoint {self.template!r} must hold {{host}}, as in http://127.0.0.1:8800/{{host}}, and be https "
                "unless it is this machine: tokens and secrets are sent there"
            )

    def api(self, location: str) -> str:
        """Return the base URL of the API for a location."""
        return self._base(_API_HOST if location == "global" else f"{location}-{_API_HOST}")

    def oauth(self, url: str) -> str:
        """Return the address of one of Google's OAuth URLs. Any other URL stays as it is."""
        parts = urlsplit(url)
        if parts.hostname not in _GOOGLE_OAUTH_HOSTS:
            return url
        query = f"?{parts.query}" if parts.query else ""
        return f"{self._base(parts.hostname)}{parts.path}{query}"

    def _base(self, host: str) -> str:
        return self.template.replace("{host}", host) if self.template else f"https://{host}"


def location_of(name: str) -> str:
    """Return the location in a resource's name; "global" where there is none."""
    found = re.search(r"/locations/([^/]+)", name)
    return found[1] if found else "global"


def same_resource(one: str | None, other: str | None) -> bool:
    """Return True if two names mean one resource: the server writes a project's number for its id."""
    if one is None or other is None:
        return one is other
    return one.partition("/locations/")[2] == other.partition("/locations/")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request to the API; the location in its path selects its host."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: dict[str, Any] | None = None

    def url(self, endpoints: Endpoints) -> str:
        """Return the whole URL."""
        query = f"?{urlencode(self.query, safe=',')}" if self.query else ""
        return f"{endpoints.api(location_of(self.path))}/v1alpha/{self.path}{query}"

    def shown(self, endpoints: Endpoints, *, project: str) -> str:
        """Return the request for people to read, its secrets masked."""
        lines = [f"{self.method} {self.url(endpoints)}"]
        lines += [f"Authorization: Bearer {_MASKED}", f"X-Goog-User-Project: {project}"]
        if self.body is not None:
            lines += ["Content-Type: application/json", "", _shown_body(self.body)]
        return "\n".join(lines)


def _shown_body(body: dict[str, Any]) -> str:
    oauth = body.get("serverSideOauth2")
    if oauth and "clientSecret" in oauth:
        body = {**body, "serverSideOauth2": {**oauth, "clientSecret": _MASKED}}
    return json.dumps(body, ensure_ascii=False, indent=2)


def get_resource(name: str) -> Call:
    """Read a resource, or an operation."""
    return Call(method="GET", path=name)


def update_agent(name: str, body: dict[str, Any]) -> Call:
    """Replace everything that `body` could hold; what it does not hold is cleared."""
    return Call(method="PATCH", path=name, query={"updateMask": AGENT_MASK}, body=body)


def delete_agent(name: str) -> Call:
    """Delete an agent. Answers an operation."""
    return Call(method="DELETE", path=name)


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


def written_agent(card: dict[str, Any], *, authorization: str | None, shared: bool) -> dict[str, Any]:
    """Return the body of a request that creates or replaces the agent of this card."""
    body: dict[str, Any] = {
        "displayName": card["name"],
        "description": card["description"],
        "a2aAgentDefinition": {"jsonAgentCard": json.dumps(card, ensure_ascii=False, separators=(",", ":"))},
    }
    if card.get("iconUrl"):
        body["icon"] = {"uri": card["iconUrl"]}
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
    yield from (name for name in ("displayName", "description") if written[name] != read.get(name))
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
