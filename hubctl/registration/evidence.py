"""The facts that the doctor examines, each collected once."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from a2a_hub.card_rules.card import Finding
from a2a_hub.card_rules.check import check_text
from hubctl.connection import fetched_card, read_card
from hubctl.main import CommandError
from hubctl.registration.agent import RegisteredAgent, candidates, read_agent
from hubctl.registration.api import Api, Refused
from hubctl.registration.oauth import REDIRECT_URIS, OAuthClient, Probe, probe_redirect_uri, probe_secret
from hubctl.registration.target import Target, get_resource, location_of, same_resource


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The facts about one registration. `bound` names the authorization that the agent uses; `authorization` is its content,
    None if it is missing.
    """

    target: Target
    client: OAuthClient
    alike: tuple[RegisteredAgent, ...]
    agent: RegisteredAgent | None
    bound: str | None
    authorization: dict[str, Any] | None
    elsewhere: tuple[str, ...]
    """Other locations that have an authorization of this id."""
    also_used_by: tuple[RegisteredAgent, ...]
    secret: tuple[Probe, str] | None
    redirects: Mapping[str, tuple[Probe, str]]
    card_findings: tuple[Finding, ...]
    live_card: dict[str, Any] | None
    live_card_problem: str | None
    card_options: tuple[str, ...]
    """The options that chose the card, to repeat them in commands."""

    @property
    def oauth(self) -> dict[str, Any]:
        """The authorization's serverSideOauth2."""
        return (self.authorization or {}).get("serverSideOauth2") or {}


def collect(
    api: Api,
    *,
    card: dict[str, Any],
    card_options: tuple[str, ...],
    agent_id: str | None,
    client: OAuthClient,
    live_card: str | None,
) -> Evidence:
    """Collect everything about the agent of this card. `live_card` is the place of the published card, else that on the card.

    Raises CommandError where the API itself cannot be reached.
    """
    agents = list(api.agents())
    alike = candidates(agents, card)
    if agent_id is not None:
        alike = [each for each in map(read_agent, agents) if each.id == agent_id.rpartition("/")[2]]
    agent = alike[0] if alike else None
    bound = agent.authorization if agent else api.target.authorization
    authorization = api.found(bound) if bound else None
    oauth = (authorization or {}).get("serverSideOauth2") or {}
    # The secret of one client says nothing about another.
    own_secret = client.secret if client.id in (None, oauth.get("clientId")) else None
    held_secret = oauth.get("clientSecret") or own_secret
    live, live_problem = _live_card(api, agent, live_card)
    definition = (agent.fields.get("a2aAgentDefinition") or {}) if agent else {}
    return Evidence(
        target=api.target,
        client=client,
        alike=tuple(alike),
        agent=agent,
        bound=bound,
        authorization=authorization,
        elsewhere=_elsewhere(api, bound) if bound and authorization is None else (),
        also_used_by=tuple(
            each
            for each in map(read_agent, agents)
            if bound and same_resource(each.authorization, bound) and (agent is None or each.name != agent.name)
        ),
        secret=probe_secret(api.http, api.endpoints, oauth, secret=held_secret) if oauth and held_secret else None,
        redirects={uri: _redirect(api, client, oauth, uri) for uri in REDIRECT_URIS} if oauth else {},
        card_findings=check_text(str(definition.get("jsonAgentCard", ""))) if agent else (),
        live_card=live,
        live_card_problem=live_problem,
        card_options=card_options,
    )


def _redirect(api: Api, client: OAuthClient, oauth: dict[str, Any], uri: str) -> tuple[Probe, str]:
    if client.redirect_uris is not None and client.id == oauth.get("clientId") and uri not in client.redirect_uris:
        return Probe.BAD, "not in the client's file"
    return probe_redirect_uri(api.http, api.endpoints, oauth, uri)


def _elsewhere(api: Api, name: str) -> tuple[str, ...]:
    """Return the other possible locations that have an authorization of this id."""
    found = []
    for location in dict.fromkeys(("global", api.target.location, api.target.authorization_location)):
        if location == location_of(name):
            continue
        try:
            api.tried(get_resource(name.replace(f"/locations/{location_of(name)}/", f"/locations/{location}/")))
            found.append(location)
        except Refused:
            continue
    return tuple(found)


def _live_card(api: Api, agent: RegisteredAgent | None, place: str | None) -> tuple[dict[str, Any] | None, str | None]:
    try:
        if place is not None:
            text = read_card(place, http=api.http)
        elif agent is not None and agent.card is not None:
            text = fetched_card(str(agent.card.get("url")), http=api.http)
        else:
            return None, None
        value = json.loads(text)
    except CommandError as problem:
        return None, str(problem)
    except ValueError:
        return None, "what is published is no JSON"
    return (value, None) if isinstance(value, dict) else (None, "what is published is no card")
