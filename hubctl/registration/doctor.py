"""The examination of a registration: checks for "requires additional authorization" and for agents that nobody sees."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec

from a2a_hub.card_rules.card import Severity
from a2a_hub.card_rules.check import check_text
from a2a_hub.diagnosis.report import Step
from a2a_hub.diagnosis.steps import steps_of
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
    candidates,
    differences,
    get_resource,
    location_of,
    read_agent,
    same_resource,
)

STEPS = steps_of(Path(__file__).with_name("findings.toml"))
"""The findings, in the order of the report."""


def _found(name: str, command: str | None = None, /, **about: object) -> Step:
    return msgspec.structs.replace(STEPS.filled(name, **about), command=command)


class Examination:
    """The registration of a card's agent: `steps` are the findings of all checks, errors first. `bound` names the authorization
    that the agent uses.

    `live_card` is the place of the published card, else that on the registered one. `card_options` are the options that chose
    the card, to repeat them in commands. Raises CommandError where the API itself cannot be reached.
    """

    def __init__(
        self,
        api: Api,
        *,
        card: dict[str, Any],
        card_options: tuple[str, ...],
        agent_id: str | None,
        client: OAuthClient,
        live_card: str | None,
    ) -> None:
        self._api, self._target, self._client = api, api.target, client
        self._card_options, self._place = card_options, live_card
        agents = list(api.agents())
        self._agents = [read_agent(each) for each in agents]
        if agent_id is None:
            self._alike = candidates(agents, card)
        else:
            self._alike = [each for each in self._agents if each.id == agent_id.rpartition("/")[2]]
        self.agent = self._alike[0] if self._alike else None
        self.bound = self.agent.authorization if self.agent else api.target.authorization
        self._authorization = api.found(self.bound) if self.bound else None
        self._oauth = (self._authorization or {}).get("serverSideOauth2") or {}
        found = [*self._of_agent(), *self._of_authorization()]
        if self._oauth:
            found += [*self._of_uris(), *self._of_client()]
        order = [each.check for each in STEPS.templates.values()]
        self.steps = tuple(sorted(found, key=lambda each: order.index(each.check)))

    def _of_agent(self) -> Iterator[Step]:
        agent, register = self.agent, self._register()
        if agent is None:
            command = self._rewrite() if self._target.authorization_id else register
            yield _found("not-registered", command, app=self._target.app)
        for other in self._alike[1:]:
            yield _found("duplicate", self._delete(other.id), id=other.id, name=other.display_name)
        live_card = None
        try:
            live_card = self._live_card()
        except CommandError as problem:
            yield _found("card-unpublished", problem=problem)
        if agent is not None:
            yield from self._of_registered(agent, live_card, register)

    def _of_registered(self, agent: RegisteredAgent, live_card: dict[str, Any] | None, register: str) -> Iterator[Step]:
        wanted = self._target.authorization
        if self.bound is None and wanted is not None:
            yield _found("authorization-unbound", register)
        if self.bound and not same_resource(self.bound, wanted):
            yield _found("authorization-other", register, bound=self.bound, wanted=wanted or "none")
        if not agent.shared:
            yield _found("not-shared", register)
        definition = agent.fields.get("a2aAgentDefinition") or {}
        for each in check_text(str(definition.get("jsonAgentCard", ""))):
            if each.severity is not Severity.NOTE:
                name = "card" if each.severity is Severity.ERROR else "card-advice"
                yield _found(name, register, path=each.path, message=each.message, fix=each.fix)
        if agent.card is not None and live_card is not None:
            for difference in sorted(differences(agent.card, live_card)):
                yield _found("card-outdated", register, difference=difference)

    def _of_authorization(self) -> Iterator[Step]:
        """Check that the authorization exists where Gemini Enterprise takes it from, and serves one agent."""
        bound, app_location = self.bound, self._target.location
        if bound is None:
            return
        for other in self._agents:
            if same_resource(other.authorization, bound) and (self.agent is None or other.name != self.agent.name):
                yield _found("authorization-used", self._delete(other.id), id=other.id, name=other.display_name)
        if self._authorization is None:
            if place := self._elsewhere(bound):
                command = self._register(authorization_location=place)
                yield _found("authorization-missing/elsewhere", command, bound=bound, place=place)
            else:
                yield _found("authorization-missing", self._rewrite(), bound=bound)
            return
        location = location_of(bound)
        places = {"location": location, "app_location": app_location}
        if location not in ("global", app_location):
            yield _found("authorization-location", self._rewrite(authorization_location=app_location), **places)
        other_location = "global" if location == app_location else app_location
        if location != other_location and "global" in (location, other_location):
            command = self._rewrite(authorization_location=other_location)
            yield _found("authorization-other-location", command, other_location=other_location, **places)

    def _of_uris(self) -> Iterator[Step]:
        """Check that the authorization asks Google for a code and a refresh token, and for the user's identity."""
        oauth, rewrite = self._oauth, self._rewrite()
        given = parse_qs(urlsplit(str(oauth.get("authorizationUri"))).query)
        wanted = {**REQUIRED_PARAMETERS, "client_id": str(oauth.get("clientId"))}
        lacking = [f"{name}={value}" for name, value in wanted.items() if given.get(name) != [value]]
        if lacking:
            yield _found("authorization-uri", rewrite, lacking=", ".join(lacking))
        redirect = next(iter(given.get("redirect_uri", ())), None)
        if redirect is not None and redirect not in REDIRECT_URIS:
            yield _found("authorization-uri/redirect", rewrite, redirect=redirect)
        for field, host in (("authorizationUri", "accounts.google.com"), ("tokenUri", "oauth2.googleapis.com")):
            url = urlsplit(str(oauth.get(field)))
            if url.hostname != host or url.scheme != "https":
                yield _found("provider", rewrite, field=field)
        requested = set(" ".join(given.get("scope", ())).split()) | set(oauth.get("scopes") or ())
        if not requested & {"email", "https://www.googleapis.com/auth/userinfo.email"} or "openid" not in requested:
            yield _found("scopes", rewrite)

    def _of_client(self) -> Iterator[Step]:
        """Check the OAuth client, its secret and its redirect URIs."""
        held, client_id = self._oauth.get("clientId"), self._client.id
        if client_id and held and held != client_id:
            yield _found("client-id", self._rewrite(client_id=client_id), held=held, client_id=client_id)
        holds_secret = "clientSecret" in self._oauth
        # The secret of one client says nothing about another.
        own_secret = self._client.secret if client_id in (None, held) else None
        secret = self._oauth.get("clientSecret") or own_secret
        probed = probe_secret(self._api.http, self._api.endpoints, self._oauth, secret=secret) if secret else None
        match probed:
            case None:
                yield _found("client-secret-unseen")
            case (Probe.BAD, answer):
                which = "that Gemini Enterprise holds" if holds_secret else "that you gave"
                yield _found("client-secret", self._rewrite(), which=which, answer=answer, page=CREDENTIALS_PAGE)
            case (Probe.UNKNOWN, answer):
                yield _found("client-secret-unseen/unknown", answer=answer)
            case (Probe.GOOD, _) if not holds_secret:
                yield _found("client-secret-unseen/good", self._rewrite())
        redirects = {uri: self._redirect(uri) for uri in REDIRECT_URIS}
        for uri, (probe, answer) in redirects.items():
            if probe is Probe.BAD:
                yield _found("redirect-uris", uri=uri, answer=answer, held=held, page=CREDENTIALS_PAGE)
        unknown = [uri for uri, (probe, _) in redirects.items() if probe is Probe.UNKNOWN]
        if unknown:
            yield _found("redirect-uris-unseen", uris=" and ".join(unknown), page=CREDENTIALS_PAGE)

    def _register(self, *, authorization_location: str | None = None) -> str:
        """Return the command that registers this agent again: everything is written anew but the authorization's content."""
        target = self._target
        words = ["hubctl register", self._app()]
        if target.authorization_id is None:
            words.append("--no-authorization")
        else:
            place = authorization_location or target.authorization_location
            words.append(f"--authorization {target.authorization_id} --authorization-location {place}")
        return " ".join([*words, *self._card_options])

    def _rewrite(self, *, client_id: str | None = None, authorization_location: str | None = None) -> str:
        """Return the command that also writes the authorization's content anew: with an updateMask, and read back."""
        client = client_id or self._client.id or self._oauth.get("clientId") or "CLIENT_ID"
        command = self._register(authorization_location=authorization_location)
        return f"OAUTH_CLIENT_SECRET=SECRET {command} --client-id {client}"

    def _delete(self, agent_id: str) -> str:
        """Return the command that deletes another agent of the app."""
        return f"hubctl register delete {agent_id} {self._app()}"

    def _app(self) -> str:
        target = self._target
        return f"--project {target.project} --app {target.app} --location {target.location}"

    def _redirect(self, uri: str) -> tuple[Probe, str]:
        known = self._client.redirect_uris
        if known is not None and self._client.id == self._oauth.get("clientId") and uri not in known:
            return Probe.BAD, "not in the client's file"
        return probe_redirect_uri(self._api.http, self._api.endpoints, self._oauth, uri)

    def _elsewhere(self, name: str) -> str | None:
        """Return another possible location that has an authorization of this id."""
        here = location_of(name)
        for location in ("global", self._target.location, self._target.authorization_location):
            if location != here:
                with suppress(Refused):
                    self._api.tried(get_resource(name.replace(f"/locations/{here}/", f"/locations/{location}/")))
                    return location
        return None

    def _live_card(self) -> dict[str, Any] | None:
        """Return the published card, None if its place is not known. Raises CommandError."""
        if self._place is not None:
            text = read_card(self._place, http=self._api.http)
        elif self.agent is not None and self.agent.card is not None:
            text = fetched_card(str(self.agent.card.get("url")), http=self._api.http)
        else:
            return None
        try:
            value = json.loads(text)
        except ValueError:
            raise CommandError("what is published is no JSON") from None
        if not isinstance(value, dict):
            raise CommandError("what is published is no card")
        return value
