"""The facts on a registration, and the checks for "requires additional authorization" and for agents that nobody sees."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from a2a_hub.card_rules.card import Finding, Severity
from a2a_hub.card_rules.check import check_text
from a2a_hub.diagnosis.report import Outcome, Step
from hubctl.connection import fetched_card, read_card
from hubctl.main import CommandError
from hubctl.registration.api import Api, Refused
from hubctl.registration.oauth import (
    CREDENTIALS_PAGE,
    REDIRECT_URIS,
    REQUIRED_PARAMETERS,
    OAuthClient,
    Probe,
    probe_redirect_uri,
    probe_secret,
)
from hubctl.registration.target import (
    RegisteredAgent,
    Target,
    candidates,
    differences,
    get_resource,
    location_of,
    read_agent,
    same_resource,
)

_ERRORS = (
    "not-registered authorization-unbound authorization-other authorization-missing authorization-location authorization-used "
    "client-id client-secret redirect-uris authorization-uri provider scopes not-shared card"
)
_WARNINGS = "duplicate card-advice card-outdated card-unpublished"
_NOTES = "authorization-other-location client-secret-unseen redirect-uris-unseen"
OUTCOMES = {
    check: outcome
    for outcome, checks in ((Outcome.ERROR, _ERRORS), (Outcome.WARNING, _WARNINGS), (Outcome.SKIPPED, _NOTES))
    for check in checks.split()
}
"""The checks by their ids, in the order of the findings."""


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
    elsewhere: str | None
    """Another location that has an authorization of this id."""
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
        elsewhere=_elsewhere(api, bound) if bound and authorization is None else None,
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


def _elsewhere(api: Api, name: str) -> str | None:
    """Return another possible location that has an authorization of this id."""
    here = location_of(name)
    for location in ("global", api.target.location, api.target.authorization_location):
        if location != here:
            with suppress(Refused):
                api.tried(get_resource(name.replace(f"/locations/{here}/", f"/locations/{location}/")))
                return location
    return None


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


def diagnose(evidence: Evidence) -> tuple[Step, ...]:
    """Return the findings of all checks, errors first."""
    found = [*_of_agent(evidence), *_of_authorization(evidence)]
    if evidence.oauth:
        found += [*_of_uris(evidence), *_of_client(evidence)]
    order = list(OUTCOMES)
    return tuple(sorted(found, key=lambda each: order.index(each.check)))


def _found(check: str, message: str, fix: str, command: str | None = None) -> Step:
    return Step(check=check, outcome=OUTCOMES[check], message=message, fix=fix, command=command)


def _of_agent(evidence: Evidence) -> Iterator[Step]:
    agent, register = evidence.agent, _register(evidence)
    if agent is None:
        yield _found(
            "not-registered",
            f"no agent of the app {evidence.target.app!r} has this card's name or url",
            "register it",
            _rewrite(evidence) if evidence.target.authorization_id else register,
        )
    for other in evidence.alike[1:]:
        yield _found(
            "duplicate",
            f"agent {other.id} ({other.display_name!r}) has this card's name or url too: people may be talking to it",
            "delete it",
            _delete(evidence, other.id),
        )
    if agent is not None:
        yield from _of_registered(agent, evidence, register)
    if evidence.live_card_problem is not None:
        yield _found(
            "card-unpublished",
            f"the agent's own card cannot be compared: {evidence.live_card_problem}",
            "is the hub up, and its card public? --live-card FILE|URL names another place",
        )


def _of_registered(agent: RegisteredAgent, evidence: Evidence, register: str) -> Iterator[Step]:
    wanted = evidence.target.authorization
    if evidence.bound is None and wanted is not None:
        yield _found(
            "authorization-unbound",
            "the agent uses no authorization: no user's token arrives, and the hub refuses or knows nobody",
            "register again: the authorization is bound",
            register,
        )
    if evidence.bound and not same_resource(evidence.bound, wanted):
        yield _found(
            "authorization-other",
            f"the agent uses {evidence.bound}, and not {wanted or 'none'}",
            "register again: the one that is meant is bound",
            register,
        )
    if not agent.shared:
        yield _found(
            "not-shared",
            "the agent is not shared: nobody but its administrators sees it",
            "register again: it is shared with all users",
            register,
        )
    for finding in evidence.card_findings:
        if finding.severity is not Severity.NOTE:
            yield _found(
                "card" if finding.severity is Severity.ERROR else "card-advice",
                f"registered card, {finding.path}: {finding.message}",
                f"{finding.fix}; then register again",
                register,
            )
    if agent.card is not None and evidence.live_card is not None:
        for difference in sorted(differences(agent.card, evidence.live_card)):
            yield _found(
                "card-outdated",
                f"the registered card is a snapshot: {difference}",
                "register again, then start a new conversation",
                register,
            )


def _of_authorization(evidence: Evidence) -> Iterator[Step]:
    """Check that the authorization exists where Gemini Enterprise takes it from, and serves one agent."""
    bound, app_location = evidence.bound, evidence.target.location
    for other in evidence.also_used_by:
        yield _found(
            "authorization-used",
            f"agent {other.id} ({other.display_name!r}) uses the authorization, and one authorization serves one agent",
            "delete that agent, or register this one with another --authorization ID",
            _delete(evidence, other.id),
        )
    if bound is None:
        return
    if evidence.authorization is None and evidence.elsewhere:
        place = evidence.elsewhere
        yield _found(
            "authorization-missing",
            f"{bound} does not exist; one of this id is in location {place!r}: the agent looks in the wrong one",
            "bind that one",
            _register(evidence, authorization_location=place),
        )
        return
    if evidence.authorization is None:
        yield _found("authorization-missing", f"{bound} does not exist", "create it", _rewrite(evidence))
        return
    location = location_of(bound)
    if location not in ("global", app_location):
        yield _found(
            "authorization-location",
            f"the authorization is in {location!r}; it has to be in 'global' or the app's location {app_location!r}",
            "create it in the app's location, and bind that one",
            _rewrite(evidence, authorization_location=app_location),
        )
    other_location = "global" if location == app_location else app_location
    if location != other_location and "global" in (location, other_location):
        yield _found(
            "authorization-other-location",
            f"the authorization is in {location!r}; reports differ whether it has to be in 'global' or in the app's "
            f"location {app_location!r}",
            f"if the loop stays when all else is right, create it in {other_location!r}",
            _rewrite(evidence, authorization_location=other_location),
        )


def _of_uris(evidence: Evidence) -> Iterator[Step]:
    """Check that the authorization asks Google for a code and a refresh token, and for the user's identity."""
    oauth, rewrite = evidence.oauth, _rewrite(evidence)
    given = parse_qs(urlsplit(str(oauth.get("authorizationUri"))).query)
    wanted = {**REQUIRED_PARAMETERS, "client_id": str(oauth.get("clientId"))}
    lacking = [f"{name}={value}" for name, value in wanted.items() if given.get(name) != [value]]
    if lacking:
        yield _found(
            "authorization-uri",
            f"the authorization URI lacks {', '.join(lacking)}: without them no code, or no refresh token, is given",
            "write the authorization anew",
            rewrite,
        )
    redirect = next(iter(given.get("redirect_uri", ())), None)
    if redirect is not None and redirect not in REDIRECT_URIS:
        yield _found(
            "authorization-uri",
            f"the authorization URI sends people to {redirect}, which is not Gemini Enterprise's",
            "write the authorization anew",
            rewrite,
        )
    for field, host in (("authorizationUri", "accounts.google.com"), ("tokenUri", "oauth2.googleapis.com")):
        url = urlsplit(str(oauth.get(field)))
        if url.hostname != host or url.scheme != "https":
            yield _found(
                "provider",
                f"{field} is not Google's: a provider that signs nothing is rejected without a word, and the hub asks "
                "Google who the user is",
                "write the authorization anew, with an OAuth client of Google's",
                rewrite,
            )
    requested = set(" ".join(given.get("scope", ())).split()) | set(oauth.get("scopes") or ())
    if not requested & {"email", "https://www.googleapis.com/auth/userinfo.email"} or "openid" not in requested:
        yield _found(
            "scopes",
            "openid and the email address are not among the scopes: the token does not tell who the user is",
            "write the authorization anew",
            rewrite,
        )


def _of_client(evidence: Evidence) -> Iterator[Step]:
    """Check the OAuth client, its secret and its redirect URIs."""
    held, client_id = evidence.oauth.get("clientId"), evidence.client.id
    if client_id and held and held != client_id:
        yield _found(
            "client-id",
            f"the authorization holds the client {held}, and not {client_id}: an earlier PATCH may have changed nothing",
            "write the authorization anew: with an updateMask, and read back",
            _rewrite(evidence, client_id=client_id),
        )
    holds_secret = "clientSecret" in evidence.oauth
    match evidence.secret:
        case None:
            yield _found(
                "client-secret-unseen",
                "the client secret was not tried, since it cannot be read from Gemini Enterprise",
                "give it to the doctor: OAUTH_CLIENT_SECRET or --client-secret-file",
            )
        case (Probe.BAD, answer):
            which = "that Gemini Enterprise holds" if holds_secret else "that you gave"
            yield _found(
                "client-secret",
                f"the client secret {which} is stale: the token URI answers {answer} to a throw-away code",
                f"make a new secret at {CREDENTIALS_PAGE}, and write the authorization anew",
                _rewrite(evidence),
            )
        case (Probe.UNKNOWN, answer):
            yield _found("client-secret-unseen", f"the secret could not be verified: {answer}", "try again later")
        case (Probe.GOOD, _) if not holds_secret:
            yield _found(
                "client-secret-unseen",
                "the secret that you gave is good; whether Gemini Enterprise holds this one cannot be read",
                "if in doubt, write it again",
                _rewrite(evidence),
            )
    for uri, (probe, answer) in evidence.redirects.items():
        if probe is Probe.BAD:
            yield _found(
                "redirect-uris",
                f"the OAuth client does not take {uri} ({answer})",
                f"add it to the authorised redirect URIs of {held}: {CREDENTIALS_PAGE}",
            )
    unknown = [uri for uri, (probe, _) in evidence.redirects.items() if probe is Probe.UNKNOWN]
    if unknown:
        yield _found(
            "redirect-uris-unseen",
            f"the client's redirect URIs {' and '.join(unknown)} could not be verified",
            f"look whether both are among its authorised redirect URIs: {CREDENTIALS_PAGE}",
        )


def _register(evidence: Evidence, *, authorization_location: str | None = None) -> str:
    """Return the command that registers this agent again: everything is written anew but the authorization's content."""
    target = evidence.target
    words = ["hubctl register", _app(evidence)]
    if target.authorization_id is None:
        words.append("--no-authorization")
    else:
        place = authorization_location or target.authorization_location
        words.append(f"--authorization {target.authorization_id} --authorization-location {place}")
    return " ".join([*words, *evidence.card_options])


def _rewrite(evidence: Evidence, *, client_id: str | None = None, authorization_location: str | None = None) -> str:
    """Return the command that also writes the authorization's content anew: with an updateMask, and read back."""
    client = client_id or evidence.client.id or evidence.oauth.get("clientId") or "CLIENT_ID"
    command = _register(evidence, authorization_location=authorization_location)
    return f"OAUTH_CLIENT_SECRET=SECRET {command} --client-id {client}"


def _delete(evidence: Evidence, agent_id: str) -> str:
    """Return the command that deletes another agent of the app."""
    return f"hubctl register delete {agent_id} {_app(evidence)}"


def _app(evidence: Evidence) -> str:
    target = evidence.target
    return f"--project {target.project} --app {target.app} --location {target.location}"
