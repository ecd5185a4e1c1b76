"""The requests of a registration as values: one function for each, nothing is sent here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from hubctl.registration.target import Endpoints, Target, location_of

AGENT_MASK = "displayName,description,icon,a2aAgentDefinition,authorizationConfig,sharingConfig"
AUTHORIZATION_MASK = "serverSideOauth2"
_MASKED = "***"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request to the API; `location` decides its host."""

    method: str
    location: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: dict[str, Any] | None = None

    def url(self, endpoints: Endpoints) -> str:
        """The whole URL."""
        query = f"?{urlencode(self.query, safe=',')}" if self.query else ""
        return f"{endpoints.api(self.location)}/v1alpha/{self.path}{query}"

    def shown(self, endpoints: Endpoints, *, project: str) -> str:
        """The request for people to read, its secrets masked."""
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


def get(name: str) -> Call:
    """Reads a resource, or an operation."""
    return Call(method="GET", location=location_of(name), path=name)


def create_authorization(target: Target, oauth: dict[str, Any], *, display_name: str) -> Call:
    """Answers 409 where it exists, and changes nothing then."""
    return Call(
        method="POST",
        location=target.authorization_location,
        path=f"{target.authorizations}/authorizations",
        query={"authorizationId": target.authorization_id or ""},
        body={"name": target.authorization, "displayName": display_name, "serverSideOauth2": oauth},
    )


def update_authorization(target: Target, oauth: dict[str, Any]) -> Call:
    """Without the mask it would answer 200 and change nothing."""
    return Call(
        method="PATCH",
        location=target.authorization_location,
        path=target.authorization or "",
        query={"updateMask": AUTHORIZATION_MASK},
        body={"name": target.authorization, "serverSideOauth2": oauth},
    )


def list_agents(target: Target, *, page_token: str | None = None) -> Call:
    """One page of the app's agents."""
    query = {"pageSize": "100"} | ({"pageToken": page_token} if page_token else {})
    return Call(method="GET", location=target.location, path=f"{target.assistant}/agents", query=query)


def create_agent(target: Target, body: dict[str, Any]) -> Call:
    """The server chooses the id, and takes a second one like it."""
    return Call(method="POST", location=target.location, path=f"{target.assistant}/agents", body=body)


def update_agent(name: str, body: dict[str, Any]) -> Call:
    """Everything that `body` could hold is replaced, and cleared where it does not."""
    return Call(
        method="PATCH", location=location_of(name), path=name, query={"updateMask": AGENT_MASK}, body=body
    )


def delete_agent(name: str) -> Call:
    """Answers an operation."""
    return Call(method="DELETE", location=location_of(name), path=name)
