"""Collects what the doctor looks at: everything that can be asked from outside, asked once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hubctl.cards.check import check_text
from hubctl.cards.rule import Finding as CardFinding
from hubctl.cards.source import fetched_card, read_card
from hubctl.main import CommandError
from hubctl.registration import calls
from hubctl.registration.agent import RegisteredAgent, candidates, read_agent
from hubctl.registration.api import Api, Refused
from hubctl.registration.oauth import REDIRECT_URIS, OAuthClient
from hubctl.registration.probes import Probe, probe_redirect_uri, probe_secret
from hubctl.registration.target import Target, location_of, same_resource


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What was found. `bound` names the authorization that the agent uses, `authorization` is it, None where it is not there."""

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
    card_findings: tuple[CardFinding, ...]
    live_card: dict[str, Any] | None
    live_card_problem: str | None
    card_options: tuple[str, ...]
    """With which the card was chosen, to repeat them in commands."""

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
    """Everything about the agent of this card. `live_card` is where its card is published, else the address on the card.

    Raises CommandError where the API itself cannot be asked.
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
            if bound
            and same_resource(each.authorization, bound)
            and (agent is None or each.name != agent.name)
        ),
        secret=probe_secret(api.http, api.endpoints, oauth, secret=held_secret)
        if oauth and held_secret
        else None,
        redirects={uri: _redirect(api, client, oauth, uri) for uri in REDIRECT_URIS} if oauth else {},
        card_findings=_findings_on(agent),
        live_card=live,
        live_card_problem=live_problem,
        card_options=card_options,
    )


def _findings_on(agent: RegisteredAgent | None) -> tuple[CardFinding, ...]:
    if agent is None:
        return ()
    return check_text(str((agent.fields.get("a2aAgentDefinition") or {}).get("jsonAgentCard", "")))


def _redirect(api: Api, client: OAuthClient, oauth: dict[str, Any], uri: str) -> tuple[Probe, str]:
    if (
        client.redirect_uris is not None
        and client.id == oauth.get("clientId")
        and uri not in client.redirect_uris
    ):
        return Probe.BAD, "not in the client's file"
    return probe_redirect_uri(api.http, api.endpoints, oauth, uri)


def _elsewhere(api: Api, name: str) -> tuple[str, ...]:
    """The other locations, of those that there can be, with an authorization of this id."""
    found = []
    for location in dict.fromkeys(("global", api.target.location, api.target.authorization_location)):
        if location == location_of(name):
            continue
        try:
            api.tried(calls.get(name.replace(f"/locations/{location_of(name)}/", f"/locations/{location}/")))
            found.append(location)
        except Refused:
            continue
    return tuple(found)


def _live_card(
    api: Api, agent: RegisteredAgent | None, place: str | None
) -> tuple[dict[str, Any] | None, str | None]:
    if place is None and (agent is None or agent.card is None):
        return None, None
    try:
        if place is not None:
            text = read_card(place, http=api.http)
        else:
            text = fetched_card(str((agent.card if agent and agent.card else {}).get("url")), http=api.http)
        value = json.loads(text)
    except CommandError as problem:
        return None, str(problem)
    except ValueError:
        return None, "what is published is no JSON"
    return (value, None) if isinstance(value, dict) else (None, "what is published is no card")
