"""What can be wrong with an authorization, so that people are asked for it again and again."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

from hubctl.registration.evidence import Evidence
from hubctl.registration.oauth import CREDENTIALS_PAGE, REDIRECT_URIS, REQUIRED_PARAMETERS
from hubctl.registration.probes import Probe
from hubctl.registration.symptom import Symptom, delete, register, rewrite
from hubctl.registration.target import location_of, same_resource


def unbound(evidence: Evidence) -> Iterator[Symptom]:
    """The agent uses an authorization."""
    if evidence.agent is not None and evidence.bound is None and evidence.target.authorization_id is not None:
        yield Symptom(
            message="the agent uses no authorization: no user's token arrives, and the hub refuses or knows nobody",
            fix="register again: the authorization is bound",
            command=register(evidence),
        )


def bound_elsewhere(evidence: Evidence) -> Iterator[Symptom]:
    """It uses the one that is meant."""
    wanted = evidence.target.authorization
    if evidence.agent is not None and evidence.bound and not same_resource(evidence.bound, wanted):
        yield Symptom(
            message=f"the agent uses {evidence.bound}, and not {wanted or 'none'}",
            fix="register again: the one that is meant is bound",
            command=register(evidence),
        )


def missing(evidence: Evidence) -> Iterator[Symptom]:
    """The authorization exists where the agent looks."""
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
    """The authorization is where Gemini Enterprise takes it from."""
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
    """Where reports differ on the location."""
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
    """No other agent uses the authorization."""
    for other in evidence.also_used_by:
        yield Symptom(
            message=f"agent {other.id} ({other.display_name!r}) uses the authorization, and one authorization serves one agent",
            fix="delete that agent, or register this one with another --authorization ID",
            command=delete(evidence, other.id),
        )


def parameters(evidence: Evidence) -> Iterator[Symptom]:
    """The authorization URI asks for a code and a refresh token, for this client."""
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
    """The provider is Google."""
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
    """The token tells who the user is."""
    if not evidence.oauth:
        return
    query = parse_qs(urlsplit(str(evidence.oauth.get("authorizationUri"))).query)
    asked = set(" ".join(query.get("scope", ())).split()) | set(evidence.oauth.get("scopes") or ())
    if not asked & {"email", "https://www.googleapis.com/auth/userinfo.email"} or "openid" not in asked:
        yield Symptom(
            message="openid and the email address are not among the scopes: the token does not tell who the user is",
            fix="write the authorization anew",
            command=rewrite(evidence),
        )


def client(evidence: Evidence) -> Iterator[Symptom]:
    """The authorization holds the client that is meant."""
    held = evidence.oauth.get("clientId")
    if evidence.client.id and held and held != evidence.client.id:
        yield Symptom(
            message=f"the authorization holds the client {held}, and not {evidence.client.id}: an earlier PATCH may have changed "
            "nothing",
            fix="write the authorization anew: with an updateMask, and read back",
            command=rewrite(evidence, client_id=evidence.client.id),
        )


def secret(evidence: Evidence) -> Iterator[Symptom]:
    """The client secret is not stale."""
    if evidence.secret is not None and evidence.secret[0] is Probe.BAD:
        which = "that Gemini Enterprise holds" if "clientSecret" in evidence.oauth else "that you gave"
        yield Symptom(
            message=f"the client secret {which} is stale: the token URI answers {evidence.secret[1]} to a throw-away code",
            fix=f"make a new secret at {CREDENTIALS_PAGE}, and write the authorization anew",
            command=rewrite(evidence),
        )


def secret_unknown(evidence: Evidence) -> Iterator[Symptom]:
    """What could not be told of the secret."""
    if not evidence.oauth:
        return
    if evidence.secret is None:
        yield Symptom(
            message="the client secret was not tried, since it cannot be read from Gemini Enterprise",
            fix="give it to the doctor: OAUTH_CLIENT_SECRET or --client-secret-file",
        )
    elif evidence.secret[0] is Probe.UNKNOWN:
        yield Symptom(
            message=f"whether the secret is good cannot be told: {evidence.secret[1]}", fix="try again later"
        )
    elif evidence.secret[0] is Probe.GOOD and "clientSecret" not in evidence.oauth:
        yield Symptom(
            message="the secret that you gave is good; whether Gemini Enterprise holds this one cannot be read",
            fix="if in doubt, write it again",
            command=rewrite(evidence),
        )


def redirects(evidence: Evidence) -> Iterator[Symptom]:
    """The OAuth client takes both redirect URIs."""
    for uri, (probe, told) in evidence.redirects.items():
        if probe is Probe.BAD:
            yield Symptom(
                message=f"the OAuth client does not take {uri} ({told})",
                fix=f"add it to the authorised redirect URIs of {evidence.oauth.get('clientId')}: {CREDENTIALS_PAGE}",
            )


def redirects_unknown(evidence: Evidence) -> Iterator[Symptom]:
    """What could not be told of the redirect URIs."""
    unknown = [uri for uri, (probe, _) in evidence.redirects.items() if probe is Probe.UNKNOWN]
    if unknown:
        yield Symptom(
            message=f"whether the OAuth client takes {' and '.join(unknown)} could not be seen",
            fix=f"look whether both are among its authorised redirect URIs: {CREDENTIALS_PAGE}",
        )
