"""The checks for "The agent requires additional authorization" and for agents that nobody sees."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from a2a_hub.card_rules.card import Severity
from hubctl.registration.agent import RegisteredAgent, differences
from hubctl.registration.evidence import Evidence
from hubctl.registration.oauth import CREDENTIALS_PAGE, REDIRECT_URIS, REQUIRED_PARAMETERS, Probe
from hubctl.registration.target import location_of, same_resource

_ERRORS = (
    "not-registered authorization-unbound authorization-other authorization-missing authorization-location authorization-used "
    "client-id client-secret redirect-uris authorization-uri provider scopes not-shared card"
)
_WARNINGS = "duplicate card-advice card-outdated card-unpublished"
_NOTES = "authorization-other-location client-secret-unseen redirect-uris-unseen"
SEVERITIES = {
    check: severity
    for severity, checks in zip(Severity, (_ERRORS, _WARNINGS, _NOTES), strict=True)
    for check in checks.split()
}
"""The checks by their ids, in the order of the findings."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A symptom that a check has found, its fix, and the command that applies it, where there is one."""

    check: str
    message: str
    fix: str
    command: str | None = None

    @property
    def severity(self) -> Severity:
        """The severity of the check's symptoms."""
        return SEVERITIES[self.check]


def diagnose(evidence: Evidence) -> tuple[Diagnosis, ...]:
    """Return the findings of all checks, errors first."""
    found = [*_of_agent(evidence), *_of_authorization(evidence)]
    if evidence.oauth:
        found += [*_of_uris(evidence), *_of_client(evidence)]
    order = list(SEVERITIES)
    return tuple(sorted(found, key=lambda each: order.index(each.check)))


def has_errors(found: Sequence[Diagnosis]) -> bool:
    """Return True if an error was found."""
    return any(each.severity is Severity.ERROR for each in found)


def _of_agent(evidence: Evidence) -> Iterator[Diagnosis]:
    agent, register = evidence.agent, _register(evidence)
    if agent is None:
        yield Diagnosis(
            "not-registered",
            f"no agent of the app {evidence.target.app!r} has this card's name or url",
            "register it",
            _rewrite(evidence) if evidence.target.authorization_id else register,
        )
    for other in evidence.alike[1:]:
        yield Diagnosis(
            "duplicate",
            f"agent {other.id} ({other.display_name!r}) has this card's name or url too: people may be talking to it",
            "delete it",
            _delete(evidence, other.id),
        )
    if agent is not None:
        yield from _of_registered(agent, evidence, register)
    if evidence.live_card_problem is not None:
        yield Diagnosis(
            "card-unpublished",
            f"the agent's own card cannot be compared: {evidence.live_card_problem}",
            "is the hub up, and its card public? --live-card FILE|URL names another place",
        )


def _of_registered(agent: RegisteredAgent, evidence: Evidence, register: str) -> Iterator[Diagnosis]:
    wanted = evidence.target.authorization
    if evidence.bound is None and wanted is not None:
        yield Diagnosis(
            "authorization-unbound",
            "the agent uses no authorization: no user's token arrives, and the hub refuses or knows nobody",
            "register again: the authorization is bound",
            register,
        )
    if evidence.bound and not same_resource(evidence.bound, wanted):
        yield Diagnosis(
            "authorization-other",
            f"the agent uses {evidence.bound}, and not {wanted or 'none'}",
            "register again: the one that is meant is bound",
            register,
        )
    if not agent.shared:
        yield Diagnosis(
            "not-shared",
            "the agent is not shared: nobody but its administrators sees it",
            "register again: it is shared with all users",
            register,
        )
    for finding in evidence.card_findings:
        if finding.severity is not Severity.NOTE:
            yield Diagnosis(
                "card" if finding.severity is Severity.ERROR else "card-advice",
                f"registered card, {finding.path}: {finding.message}",
                f"{finding.fix}; then register again",
                register,
            )
    if agent.card is not None and evidence.live_card is not None:
        for difference in sorted(differences(agent.card, evidence.live_card)):
            yield Diagnosis(
                "card-outdated",
                f"the registered card is a snapshot: {difference}",
                "register again, then start a new conversation",
                register,
            )


def _of_authorization(evidence: Evidence) -> Iterator[Diagnosis]:
    """Check that the authorization exists where Gemini Enterprise takes it from, and serves one agent."""
    bound, app_location = evidence.bound, evidence.target.location
    for other in evidence.also_used_by:
        yield Diagnosis(
            "authorization-used",
            f"agent {other.id} ({other.display_name!r}) uses the authorization, and one authorization serves one agent",
            "delete that agent, or register this one with another --authorization ID",
            _delete(evidence, other.id),
        )
    if bound is None:
        return
    if evidence.authorization is None and evidence.elsewhere:
        place = evidence.elsewhere[0]
        yield Diagnosis(
            "authorization-missing",
            f"{bound} does not exist; one of this id is in location {place!r}: the agent looks in the wrong one",
            "bind that one",
            _register(evidence, authorization_location=place),
        )
        return
    if evidence.authorization is None:
        yield Diagnosis("authorization-missing", f"{bound} does not exist", "create it", _rewrite(evidence))
        return
    location = location_of(bound)
    if location not in ("global", app_location):
        yield Diagnosis(
            "authorization-location",
            f"the authorization is in {location!r}; it has to be in 'global' or the app's location {app_location!r}",
            "create it in the app's location, and bind that one",
            _rewrite(evidence, authorization_location=app_location),
        )
    other_location = "global" if location == app_location else app_location
    if location != other_location and "global" in (location, other_location):
        yield Diagnosis(
            "authorization-other-location",
            f"the authorization is in {location!r}; reports differ whether it has to be in 'global' or in the app's "
            f"location {app_location!r}",
            f"if the loop stays when all else is right, create it in {other_location!r}",
            _rewrite(evidence, authorization_location=other_location),
        )


def _of_uris(evidence: Evidence) -> Iterator[Diagnosis]:
    """Check that the authorization asks Google for a code and a refresh token, and for the user's identity."""
    oauth, rewrite = evidence.oauth, _rewrite(evidence)
    given = parse_qs(urlsplit(str(oauth.get("authorizationUri"))).query)
    wanted = {**REQUIRED_PARAMETERS, "client_id": str(oauth.get("clientId"))}
    lacking = [f"{name}={value}" for name, value in wanted.items() if given.get(name) != [value]]
    if lacking:
        yield Diagnosis(
            "authorization-uri",
            f"the authorization URI lacks {', '.join(lacking)}: without them no code, or no refresh token, is given",
            "write the authorization anew",
            rewrite,
        )
    redirect = next(iter(given.get("redirect_uri", ())), None)
    if redirect is not None and redirect not in REDIRECT_URIS:
        yield Diagnosis(
            "authorization-uri",
            f"the authorization URI sends people to {redirect}, which is not Gemini Enterprise's",
            "write the authorization anew",
            rewrite,
        )
    for field, host in (("authorizationUri", "accounts.google.com"), ("tokenUri", "oauth2.googleapis.com")):
        url = urlsplit(str(oauth.get(field)))
        if url.hostname != host or url.scheme != "https":
            yield Diagnosis(
                "provider",
                f"{field} is not Google's: a provider that signs nothing is rejected without a word, and the hub asks "
                "Google who the user is",
                "write the authorization anew, with an OAuth client of Google's",
                rewrite,
            )
    requested = set(" ".join(given.get("scope", ())).split()) | set(oauth.get("scopes") or ())
    if not requested & {"email", "https://www.googleapis.com/auth/userinfo.email"} or "openid" not in requested:
        yield Diagnosis(
            "scopes",
            "openid and the email address are not among the scopes: the token does not tell who the user is",
            "write the authorization anew",
            rewrite,
        )


def _of_client(evidence: Evidence) -> Iterator[Diagnosis]:
    """Check the OAuth client, its secret and its redirect URIs."""
    held, client_id = evidence.oauth.get("clientId"), evidence.client.id
    if client_id and held and held != client_id:
        yield Diagnosis(
            "client-id",
            f"the authorization holds the client {held}, and not {client_id}: an earlier PATCH may have changed nothing",
            "write the authorization anew: with an updateMask, and read back",
            _rewrite(evidence, client_id=client_id),
        )
    holds_secret = "clientSecret" in evidence.oauth
    match evidence.secret:
        case None:
            yield Diagnosis(
                "client-secret-unseen",
                "the client secret was not tried, since it cannot be read from Gemini Enterprise",
                "give it to the doctor: OAUTH_CLIENT_SECRET or --client-secret-file",
            )
        case (Probe.BAD, answer):
            which = "that Gemini Enterprise holds" if holds_secret else "that you gave"
            yield Diagnosis(
                "client-secret",
                f"the client secret {which} is stale: the token URI answers {answer} to a throw-away code",
                f"make a new secret at {CREDENTIALS_PAGE}, and write the authorization anew",
                _rewrite(evidence),
            )
        case (Probe.UNKNOWN, answer):
            yield Diagnosis("client-secret-unseen", f"the secret could not be verified: {answer}", "try again later")
        case (Probe.GOOD, _) if not holds_secret:
            yield Diagnosis(
                "client-secret-unseen",
                "the secret that you gave is good; whether Gemini Enterprise holds this one cannot be read",
                "if in doubt, write it again",
                _rewrite(evidence),
            )
    for uri, (probe, answer) in evidence.redirects.items():
        if probe is Probe.BAD:
            yield Diagnosis(
                "redirect-uris",
                f"the OAuth client does not take {uri} ({answer})",
                f"add it to the authorised redirect URIs of {held}: {CREDENTIALS_PAGE}",
            )
    unknown = [uri for uri, (probe, _) in evidence.redirects.items() if probe is Probe.UNKNOWN]
    if unknown:
        yield Diagnosis(
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
