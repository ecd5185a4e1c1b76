"""The checks for "The agent requires additional authorization" and for agents that nobody sees."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from urllib.parse import parse_qs, urlsplit

from hubctl.cards.card import Severity
from hubctl.registration.agent import differences
from hubctl.registration.evidence import Check, Evidence, Symptom, delete, register, rewrite
from hubctl.registration.oauth import CREDENTIALS_PAGE, REDIRECT_URIS, REQUIRED_PARAMETERS, Probe
from hubctl.registration.target import location_of, same_resource

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE


def unbound(evidence: Evidence) -> Iterator[Symptom]:
    """Check that the agent uses an authorization."""
    if evidence.agent is not None and evidence.bound is None and evidence.target.authorization_id is not None:
        yield Symptom(
            message="the agent uses no authorization: no user's token arrives, and the hub refuses or knows nobody",
            fix="register again: the authorization is bound",
            command=register(evidence),
        )


def bound_elsewhere(evidence: Evidence) -> Iterator[Symptom]:
    """Check that the agent uses the intended authorization."""
    wanted = evidence.target.authorization
    if evidence.agent is not None and evidence.bound and not same_resource(evidence.bound, wanted):
        yield Symptom(
            message=f"the agent uses {evidence.bound}, and not {wanted or 'none'}",
            fix="register again: the one that is meant is bound",
            command=register(evidence),
        )


def missing(evidence: Evidence) -> Iterator[Symptom]:
    """Check that the authorization exists where the agent looks."""
    if evidence.bound is None or evidence.authorization is not None:
        return
    if evidence.elsewhere:
        place = evidence.elsewhere[0]
        yield Symptom(
            message=f"{evidence.bound} does not exist; one of this id is in location {place!r}: the agent looks in the wrong one",
            fix="bind that one",
            command=register(evidence, authorization_location=place),
        )
    else:
        yield Symptom(message=f"{evidence.bound} does not exist", fix="create it", command=rewrite(evidence))


def location(evidence: Evidence) -> Iterator[Symptom]:
    """Check that the authorization is where Gemini Enterprise takes it from."""
    if evidence.authorization is None or evidence.bound is None:
        return
    location = location_of(evidence.bound)
    if location not in ("global", evidence.target.location):
        yield Symptom(
            message=f"the authorization is in {location!r}; it has to be in 'global' or the app's location "
            f"{evidence.target.location!r}",
            fix="create it in the app's location, and bind that one",
            command=rewrite(evidence, authorization_location=evidence.target.location),
        )


def other_location(evidence: Evidence) -> Iterator[Symptom]:
    """Name the other location, since reports differ on the right one."""
    if evidence.authorization is None or evidence.bound is None:
        return
    location = location_of(evidence.bound)
    other = "global" if location == evidence.target.location else evidence.target.location
    if location != other and "global" in (location, other):
        yield Symptom(
            message=f"the authorization is in {location!r}; reports differ whether it has to be in 'global' or in the app's "
            f"location {evidence.target.location!r}",
            fix=f"if the loop stays when all else is right, create it in {other!r}",
            command=rewrite(evidence, authorization_location=other),
        )


def used_by_another(evidence: Evidence) -> Iterator[Symptom]:
    """Check that no other agent uses the authorization."""
    for other in evidence.also_used_by:
        yield Symptom(
            message=f"agent {other.id} ({other.display_name!r}) uses the authorization, and one authorization serves one agent",
            fix="delete that agent, or register this one with another --authorization ID",
            command=delete(evidence, other.id),
        )


def parameters(evidence: Evidence) -> Iterator[Symptom]:
    """Check that the authorization URI asks for a code and a refresh token, for this client."""
    if not evidence.oauth:
        return
    given = parse_qs(urlsplit(str(evidence.oauth.get("authorizationUri"))).query)
    wanted = {**REQUIRED_PARAMETERS, "client_id": str(evidence.oauth.get("clientId"))}
    lacking = [f"{name}={value}" for name, value in wanted.items() if given.get(name) != [value]]
    if lacking:
        yield Symptom(
            message=f"the authorization URI lacks {', '.join(lacking)}: without them no code, or no refresh token, is given",
            fix="write the authorization anew",
            command=rewrite(evidence),
        )
    redirect = next(iter(given.get("redirect_uri", ())), None)
    if redirect is not None and redirect not in REDIRECT_URIS:
        yield Symptom(
            message=f"the authorization URI sends people to {redirect}, which is not Gemini Enterprise's",
            fix="write the authorization anew",
            command=rewrite(evidence),
        )


def provider(evidence: Evidence) -> Iterator[Symptom]:
    """Check that the provider is Google."""
    for field, host in (("authorizationUri", "accounts.google.com"), ("tokenUri", "oauth2.googleapis.com")):
        url = str(evidence.oauth.get(field))
        if evidence.oauth and (urlsplit(url).hostname != host or urlsplit(url).scheme != "https"):
            yield Symptom(
                message=f"{field} is not Google's: a provider that signs nothing is rejected without a word, and the hub asks "
                "Google who the user is",
                fix="write the authorization anew, with an OAuth client of Google's",
                command=rewrite(evidence),
            )


def scopes(evidence: Evidence) -> Iterator[Symptom]:
    """Check that the token tells who the user is."""
    if not evidence.oauth:
        return
    query = parse_qs(urlsplit(str(evidence.oauth.get("authorizationUri"))).query)
    requested = set(" ".join(query.get("scope", ())).split()) | set(evidence.oauth.get("scopes") or ())
    if not requested & {"email", "https://www.googleapis.com/auth/userinfo.email"} or "openid" not in requested:
        yield Symptom(
            message="openid and the email address are not among the scopes: the token does not tell who the user is",
            fix="write the authorization anew",
            command=rewrite(evidence),
        )


def client(evidence: Evidence) -> Iterator[Symptom]:
    """Check that the authorization holds the intended client."""
    held = evidence.oauth.get("clientId")
    if evidence.client.id and held and held != evidence.client.id:
        yield Symptom(
            message=f"the authorization holds the client {held}, and not {evidence.client.id}: an earlier PATCH may have changed "
            "nothing",
            fix="write the authorization anew: with an updateMask, and read back",
            command=rewrite(evidence, client_id=evidence.client.id),
        )


def secret(evidence: Evidence) -> Iterator[Symptom]:
    """Check that the client secret is not stale."""
    if evidence.secret is not None and evidence.secret[0] is Probe.BAD:
        which = "that Gemini Enterprise holds" if "clientSecret" in evidence.oauth else "that you gave"
        yield Symptom(
            message=f"the client secret {which} is stale: the token URI answers {evidence.secret[1]} to a throw-away code",
            fix=f"make a new secret at {CREDENTIALS_PAGE}, and write the authorization anew",
            command=rewrite(evidence),
        )


def secret_unknown(evidence: Evidence) -> Iterator[Symptom]:
    """Report that the secret could not be verified."""
    if not evidence.oauth:
        return
    if evidence.secret is None:
        yield Symptom(
            message="the client secret was not tried, since it cannot be read from Gemini Enterprise",
            fix="give it to the doctor: OAUTH_CLIENT_SECRET or --client-secret-file",
        )
    elif evidence.secret[0] is Probe.UNKNOWN:
        yield Symptom(message=f"the secret could not be verified: {evidence.secret[1]}", fix="try again later")
    elif evidence.secret[0] is Probe.GOOD and "clientSecret" not in evidence.oauth:
        yield Symptom(
            message="the secret that you gave is good; whether Gemini Enterprise holds this one cannot be read",
            fix="if in doubt, write it again",
            command=rewrite(evidence),
        )


def redirects(evidence: Evidence) -> Iterator[Symptom]:
    """Check that the OAuth client takes both redirect URIs."""
    for uri, (probe, answer) in evidence.redirects.items():
        if probe is Probe.BAD:
            yield Symptom(
                message=f"the OAuth client does not take {uri} ({answer})",
                fix=f"add it to the authorised redirect URIs of {evidence.oauth.get('clientId')}: {CREDENTIALS_PAGE}",
            )


def redirects_unknown(evidence: Evidence) -> Iterator[Symptom]:
    """Report redirect URIs that could not be verified."""
    unknown = [uri for uri, (probe, _) in evidence.redirects.items() if probe is Probe.UNKNOWN]
    if unknown:
        yield Symptom(
            message=f"the client's redirect URIs {' and '.join(unknown)} could not be verified",
            fix=f"look whether both are among its authorised redirect URIs: {CREDENTIALS_PAGE}",
        )


def not_registered(evidence: Evidence) -> Iterator[Symptom]:
    """Check that there is an agent."""
    if evidence.agent is None:
        yield Symptom(
            message=f"no agent of the app {evidence.target.app!r} has this card's name or url",
            fix="register it",
            command=rewrite(evidence) if evidence.target.authorization_id else register(evidence),
        )


def duplicates(evidence: Evidence) -> Iterator[Symptom]:
    """Check that there is only one agent."""
    for other in evidence.alike[1:]:
        yield Symptom(
            message=f"agent {other.id} ({other.display_name!r}) has this card's name or url too: people may be talking to it",
            fix="delete it",
            command=delete(evidence, other.id),
        )


def not_shared(evidence: Evidence) -> Iterator[Symptom]:
    """Check that people see the agent."""
    if evidence.agent is not None and not evidence.agent.shared:
        yield Symptom(
            message="the agent is not shared: nobody but its administrators sees it",
            fix="register again: it is shared with all users",
            command=register(evidence),
        )


def _card(evidence: Evidence, severity: Severity) -> Iterator[Symptom]:
    for finding in evidence.card_findings:
        if finding.severity is severity:
            yield Symptom(
                message=f"registered card, {finding.path}: {finding.message}",
                fix=f"{finding.fix}; then register again",
                command=register(evidence),
            )


def card_errors(evidence: Evidence) -> Iterator[Symptom]:
    """Check that the registered card breaks no rule."""
    return _card(evidence, Severity.ERROR)


def card_warnings(evidence: Evidence) -> Iterator[Symptom]:
    """Pass on the warnings about the registered card."""
    return _card(evidence, Severity.WARNING)


def outdated(evidence: Evidence) -> Iterator[Symptom]:
    """Check that the registered card is the one that is published."""
    if evidence.agent is None or evidence.agent.card is None or evidence.live_card is None:
        return
    for difference in sorted(differences(evidence.agent.card, evidence.live_card)):
        yield Symptom(
            message=f"the registered card is a snapshot: {difference}",
            fix="register again, then start a new conversation",
            command=register(evidence),
        )


def unpublished(evidence: Evidence) -> Iterator[Symptom]:
    """Check that there is a published card to compare with."""
    if evidence.live_card_problem is not None:
        yield Symptom(
            message=f"the agent's own card cannot be compared: {evidence.live_card_problem}",
            fix="is the hub up, and its card public? --live-card FILE|URL names another place",
        )


CHECKS: tuple[Check, ...] = (
    Check(id="not-registered", severity=_E, examine=not_registered),
    Check(id="authorization-unbound", severity=_E, examine=unbound),
    Check(id="authorization-other", severity=_E, examine=bound_elsewhere),
    Check(id="authorization-missing", severity=_E, examine=missing),
    Check(id="authorization-location", severity=_E, examine=location),
    Check(id="authorization-used", severity=_E, examine=used_by_another),
    Check(id="client-id", severity=_E, examine=client),
    Check(id="client-secret", severity=_E, examine=secret),
    Check(id="redirect-uris", severity=_E, examine=redirects),
    Check(id="authorization-uri", severity=_E, examine=parameters),
    Check(id="provider", severity=_E, examine=provider),
    Check(id="scopes", severity=_E, examine=scopes),
    Check(id="not-shared", severity=_E, examine=not_shared),
    Check(id="card", severity=_E, examine=card_errors),
    Check(id="duplicate", severity=_W, examine=duplicates),
    Check(id="card-advice", severity=_W, examine=card_warnings),
    Check(id="card-outdated", severity=_W, examine=outdated),
    Check(id="card-unpublished", severity=_W, examine=unpublished),
    Check(id="authorization-other-location", severity=_N, examine=other_location),
    Check(id="client-secret-unseen", severity=_N, examine=secret_unknown),
    Check(id="redirect-uris-unseen", severity=_N, examine=redirects_unknown),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """One symptom under its check's name."""

    check: str
    severity: Severity
    message: str
    fix: str
    command: str | None


def diagnose(evidence: Evidence) -> tuple[Diagnosis, ...]:
    """Return the findings of all checks, errors first."""
    found = (
        Diagnosis(check=check.id, severity=check.severity, **asdict(symptom))
        for check in CHECKS
        for symptom in check.examine(evidence)
    )
    return tuple(sorted(found, key=lambda each: each.severity.rank))


def has_errors(found: Sequence[Diagnosis]) -> bool:
    """Return True if an error was found."""
    return any(each.severity is Severity.ERROR for each in found)
