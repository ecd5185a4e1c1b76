"""`hubctl register doctor` against the stand-in: each cause of the endless authorization loop is seen, and no other."""

import json
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hubctl.registration.doctor import STEPS
from tests.fakes.gemini_enterprise.world import Agent, Authorization, World
from tests.integration.registrations import CLIENT, SECRET, Registrations, registrations
from tests.unit.cards import good_card

UNSEEN = "client-secret-unseen"


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Registrations]:
    with registrations(tmp_path) as each:
        yield each


def _agent(world: World) -> Agent:
    return next(iter(world.agents.values()))


def _authorization(world: World) -> Authorization:
    return next(iter(world.authorizations.values()))


def _card(world: World, **changed: object) -> None:
    card = json.dumps(good_card() | changed)
    _agent(world).fields["a2aAgentDefinition"]["jsonAgentCard"] = card


def _move(world: World, location: str) -> None:
    """The authorization is somewhere else than the agent says."""
    authorization = _authorization(world)
    world.authorizations.clear()
    authorization.name = authorization.name.replace("/us/", f"/{location}/")
    world.authorizations[authorization.name] = authorization


def _twin(world: World, *, bound: bool) -> None:
    agent = _agent(world)
    fields = dict(agent.fields)
    if not bound:
        fields["authorizationConfig"] = {}
    else:
        other = good_card() | {"name": "Other", "url": "https://other.example.com"}
        fields["a2aAgentDefinition"] = {"jsonAgentCard": json.dumps(other)}
    world.agents[agent.name + "1"] = Agent(name=agent.name + "1", fields=fields)


def _uri(world: World, old: str, new: str) -> None:
    oauth = _authorization(world).oauth
    oauth["authorizationUri"] = oauth["authorizationUri"].replace(old, new)


def _unscoped(world: World) -> None:
    _uri(world, "&scope=openid%20https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fuserinfo.email", "&scope=openid")
    _authorization(world).oauth["scopes"] = ["openid"]


# Check, what breaks the registration that is in `us`, options, a piece of what is told or of the fix.
CAUSES: list[tuple[str, Callable[[World], object], list[str], str]] = [
    ("not-registered", lambda w: w.agents.clear(), [], "hubctl register --project demo --app hub-app"),
    ("authorization-unbound", lambda w: _agent(w).fields.pop("authorizationConfig"), [], "hubctl register"),
    ("authorization-other", lambda _: None, ["--authorization", "new"], "--authorization new"),
    ("authorization-missing", lambda w: w.authorizations.clear(), [], "does not exist"),
    ("authorization-missing", lambda w: _move(w, "global"), [], "--authorization-location global"),
    ("authorization-used", lambda w: _twin(w, bound=True), [], "hubctl register delete"),
    ("client-id", lambda _: None, ["--client-id", "new-client"], "--client-id new-client"),
    ("client-secret", lambda w: setattr(w.clients[CLIENT], "secret", "rotated"), [], "invalid_client"),
    (
        "redirect-uris",
        lambda w: setattr(w.clients[CLIENT], "redirect_uris", w.clients[CLIENT].redirect_uris[1:]),
        [],
        "https://vertexaisearch.cloud.google.com/oauth-redirect (redirect_uri_mismatch)",
    ),
    ("authorization-uri", lambda w: _uri(w, "&access_type=offline", ""), [], "access_type=offline"),
    ("authorization-uri", lambda w: _uri(w, "prompt=consent", "prompt=none"), [], "prompt=consent"),
    ("authorization-uri", lambda w: _uri(w, "vertexaisearch", "elsewhere"), [], "not Gemini Enterprise's"),
    (
        "provider",
        lambda w: _uri(w, "https://accounts.google.com", "http://accounts.example"),
        [],
        "authorizationUri is not",
    ),
    ("scopes", _unscoped, [], "does not tell who the user is"),
    ("not-shared", lambda w: _agent(w).fields.pop("sharingConfig"), [], "nobody but its administrators"),
    ("card", lambda w: _card(w, url="https://hub.internal"), [], "$.url"),
    ("duplicate", lambda w: _twin(w, bound=False), [], "hubctl register delete"),
    ("card-advice", lambda w: _card(w, capabilities={"streaming": False}), [], "$.capabilities.streaming"),
    ("card-outdated", lambda w: _card(w, version="0.9.0"), [], "'0.9.0' is registered, '1.0.0' is published"),
    ("card-unpublished", lambda _: None, ["--live-card", "none.json"], "none.json cannot be read"),
    ("authorization-other-location", lambda _: None, [], "reports differ"),
    ("client-secret-unseen", lambda _: None, [], "cannot be read"),
]
# What is seen with a cause because it follows from it, or because the stand-in serves Google's OAuth alone.
FOLLOWS = {
    "not-registered": {"card-outdated"},
    "card": {"card-outdated"},
    "card-advice": {"card-outdated"},
    "provider": {"redirect-uris-unseen"},
}


@pytest.mark.parametrize(("check", "cause", "options", "told"), CAUSES, ids=[f"{c[0]} {c[3]}" for c in CAUSES])
def test_a_cause_is_seen_and_told_with_what_mends_it(
    there: Registrations, check: str, cause: Callable[[World], object], options: list[str], told: str
) -> None:
    there.registered("--location", "us")
    cause(there.world)
    found = there.doctor("--location", "us", *options)
    usual = {UNSEEN, "authorization-other-location"}
    assert {check} <= set(found) <= {check} | usual | FOLLOWS.get(check, set())
    seen = found[check]
    assert told in f"{seen['message']} {seen['fix']} {seen['command']}"


# A command cannot change the OAuth client in the console, and what is only noted is not wrong.
NOT_BY_COMMAND = {"redirect-uris", "client-id", "card-unpublished", "authorization-other-location", UNSEEN}
MENDED = [cause for cause in CAUSES if cause[0] not in NOT_BY_COMMAND]


@pytest.mark.parametrize(("check", "cause", "options", "_"), MENDED, ids=[f"{c[0]} {c[3]}" for c in MENDED])
def test_the_command_that_is_told_mends_it(
    there: Registrations, check: str, cause: Callable[[World], object], options: list[str], _: str
) -> None:
    there.registered("--location", "us")
    cause(there.world)
    command = shlex.split(there.doctor("--location", "us", *options)[check]["command"])
    environment = {}
    if command[0].startswith("OAUTH_CLIENT_SECRET="):
        environment = {"OAUTH_CLIENT_SECRET": there.world.clients[CLIENT].secret}
        command = command[1:]
    assert command[:2] == ["hubctl", "register"]
    status, told = there.hubctl(*command[2:], **environment)
    assert status == 0, told
    options = ["--authorization-location", "global"] if "global" in command else options
    assert check not in there.doctor("--location", "us", *options, **environment)


def test_an_authorization_in_a_third_location_is_seen(there: Registrations) -> None:
    agent = there.registered()
    authorization = _authorization(there.world)
    authorization.name = authorization.name.replace("/global/", "/eu/")
    there.world.authorizations = {authorization.name: authorization}
    agent.fields["authorizationConfig"] = {"agentAuthorization": authorization.name}
    found = there.doctor("--authorization-location", "eu")
    assert found["authorization-location"]["message"].startswith("the authorization is in 'eu'")
    assert "--authorization-location global" in found["authorization-location"]["command"]


def test_redirect_uris_that_the_clients_file_lacks_are_seen_without_a_probe(there: Registrations) -> None:
    there.registered()
    file = there.folder / "client.json"
    file.write_text(json.dumps({"web": {"client_id": CLIENT, "client_secret": SECRET, "redirect_uris": []}}))
    found = there.doctor("--client-secret-file", str(file))
    assert "not in the client's file" in found["redirect-uris"]["message"]


def test_where_the_consent_page_cannot_be_asked_both_redirect_uris_are_named(there: Registrations) -> None:
    there.registered()
    _uri(there.world, "https://accounts.google.com", "http://accounts.example")
    told = there.doctor()["redirect-uris-unseen"]["message"]
    assert "https://vertexaisearch.cloud.google.com/oauth-redirect and https://vertexaisearch" in told


def test_every_check_has_a_cause_here() -> None:
    elsewhere = {"authorization-location", "redirect-uris-unseen"}
    assert {cause[0] for cause in CAUSES} | elsewhere == {each.check for each in STEPS.templates.values()}


def test_of_a_good_registration_only_what_cannot_be_seen_is_told(there: Registrations) -> None:
    there.registered()
    assert set(there.doctor()) == {UNSEEN}


def test_without_the_secret_it_is_said_that_it_was_not_tried(there: Registrations) -> None:
    there.registered()
    assert "was not tried" in there.doctor(OAUTH_CLIENT_SECRET="")[UNSEEN]["message"]


def test_an_agent_without_authorization_needs_none_of_its_checks(there: Registrations) -> None:
    there.registered("--no-authorization")
    assert there.doctor("--no-authorization") == {}


def test_a_registration_mends_what_the_doctor_saw(there: Registrations) -> None:
    agent = there.registered()
    _uri(there.world, "&access_type=offline", "")
    agent.fields.pop("sharingConfig")
    _card(there.world, version="0.9.0")
    assert {"authorization-uri", "not-shared", "card-outdated"} <= set(there.doctor())
    there.registered()
    assert set(there.doctor()) == {UNSEEN}


def test_the_text_names_agent_check_and_fix_and_never_the_secret(there: Registrations) -> None:
    agent = there.registered()
    agent.fields.pop("sharingConfig")
    status, told = there.hubctl("doctor", "--live-card", str(there.folder / "card.json"))
    assert status == 1
    assert told.startswith(f"agent: {agent.name}\nauthorization: ")
    assert "error: not-shared: the agent is not shared: nobody but its administrators sees it\n    fix: " in told
    assert told.endswith("something is wrong\n")
    assert SECRET not in told
