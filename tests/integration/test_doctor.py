"""`GET /doctor` of the hub: the way to an agent, whatever stands on it."""

import json
import time
from collections.abc import Callable
from email.utils import formatdate

import pytest

from a2a_hub.boundaries.boundary import Boundary
from a2a_hub.boundaries.kinds import GoogleApi, Iam, Public
from a2a_hub.boundaries.sources import CredentialSources
from a2a_hub.diagnosis.gcloud import Service
from a2a_hub.diagnosis.report import Outcome, Step
from a2a_hub.http.client import HttpClient
from a2a_hub.identity.principal import Principal
from a2a_hub.identity.service_tokens import ServiceTokens
from a2a_hub.routing.routes import Route
from functions.hub.doctor import Doctor
from tests.fakes.http_server import Behaviour, Exchange, HttpServer
from tests.fakes.hub import Hub, route
from tests.fakes.service_tokens import EMAIL, NoTokens, SignedTokens
from tests.fakes.signatures import signed
from tests.unit.cards import good_card

KEY = "a-signing-key-of-thirty-two-characters"
CARD = json.dumps(good_card()).encode()


def test_nobody_is_called_where_workers_fetch_the_tasks() -> None:
    examined = steps(route("alpha", "", role="developer"))
    assert {check: step.outcome for check, step in examined.items()} == {"workers": Outcome.OK}


def steps(
    agent: Route,
    tokens: ServiceTokens | None = None,
    *,
    on_cloud_run: bool = True,
    now: Callable[[], float] = time.time,
) -> dict[str, Step]:
    """The steps to one agent, by check."""
    doctor = Doctor(
        lambda: (agent,),
        sources=CredentialSources(tokens=tokens),
        http=HttpClient(),
        service=Service(name="a2a-hub") if on_cloud_run else None,
        operators=frozenset(),
        now=now,
    )
    (examined,) = doctor.report().examined
    assert examined.subject == agent.id
    return {step.check: step for step in examined.steps}


def agent_that(answer: Behaviour) -> HttpServer:
    """Its card is good; everything else is up to `answer`."""

    def behave(exchange: Exchange) -> None:
        if exchange.received.path.startswith("/.well-known/"):
            exchange.answer(200, CARD, content_type="application/json", date=formatdate(usegmt=True))
        else:
            answer(exchange)

    return HttpServer(behave)


def refusing(status: int) -> HttpServer:
    return HttpServer(lambda exchange: exchange.answer(status, b"<html>", content_type="text/html"))


def test_an_agent_that_answers_is_well_and_its_credential_is_named() -> None:
    with agent_that(lambda exchange: exchange.answer(404)) as agent:
        found = steps(route("alpha", agent.url, boundary=Iam()), SignedTokens())
    assert {found[check].outcome for check in ("network", "credential", "iam", "clock", "card")} == {Outcome.OK}
    assert found["credential"].message == f"ID token of {EMAIL} for {agent.url}, 60 min left"


@pytest.mark.parametrize(
    ("boundary", "told"),
    [
        (Public(), "none is sent: the agent is public"),
        (GoogleApi(), "an access token of the hub's own"),
    ],
)
def test_each_boundary_says_what_it_sends(boundary: Boundary, told: str) -> None:
    with agent_that(lambda exchange: exchange.answer(404)) as agent:
        assert steps(route("alpha", agent.url, boundary=boundary), SignedTokens())["credential"].message == told


def test_a_missing_invoker_is_named_with_the_account_that_was_refused() -> None:
    with refusing(403) as agent:
        found = steps(route("alpha", agent.url, boundary=Iam()), SignedTokens())["iam"]
    assert found.command == (
        f"gcloud run services add-iam-policy-binding alpha --member=serviceAccount:{EMAIL} --role=roles/run.invoker"
    )
    assert (found.fix or "").startswith(f"{EMAIL} lacks roles/run.invoker on alpha: ")


def test_an_audience_that_is_not_taken_is_named_with_the_command_that_adds_it() -> None:
    with refusing(401) as agent:
        found = steps(route("alpha", agent.url, boundary=Iam()), SignedTokens())["iam"]
    assert f"audience was {agent.url}" in (found.fix or "")
    assert found.command == f"gcloud run services update alpha --add-custom-audiences={agent.url}"


@pytest.mark.parametrize("status", [401, 403])
def test_a_public_route_to_an_agent_that_is_not_public_is_said_to_be_one(status: int) -> None:
    with refusing(status) as agent:
        found = steps(route("alpha", agent.url))["iam"]
    assert (found.message, "wants a credential" in (found.fix or "")) == (
        f"HTTP {status}: the agent refuses the hub (boundary public)",
        True,
    )
    assert found.command == (
        "gcloud run services add-iam-policy-binding alpha --member=allUsers --role=roles/run.invoker"
    )


def test_an_expired_token_is_told_and_not_taken_for_a_wrong_audience() -> None:
    with refusing(401) as agent:
        found = steps(route("alpha", agent.url, boundary=Iam()), SignedTokens(lifetime_seconds=-600))
    assert found["credential"].outcome is Outcome.ERROR
    assert "expired 60" in found["credential"].message
    assert "iam" not in found


@pytest.mark.parametrize(
    ("on_cloud_run", "command"),
    [(True, "gcloud run services update a2a-hub --update-env-vars=RESTARTED=$(date +%s)"), (False, None)],
)
def test_without_a_token_the_way_ends_before_the_agent(on_cloud_run: bool, command: str | None) -> None:
    with refusing(500) as agent:
        found = steps(route("alpha", agent.url, boundary=Iam()), NoTokens(), on_cloud_run=on_cloud_run)
    assert list(found) == ["credential"]
    assert found["credential"].command == command
    assert "--impersonate-service-account" in (found["credential"].fix or "")
    assert agent.received == []


def test_a_host_that_does_not_resolve_and_a_port_where_nobody_listens_are_told_apart() -> None:
    unresolved = steps(route("alpha", "https://no-such-host.invalid"))["dns"]
    refused = steps(route("alpha", "http://127.0.0.1:9"))["connection"]
    assert unresolved.message.startswith("the host name could not be resolved")
    assert refused.message == "the connection was refused"
    assert refused.command == "gcloud run services describe alpha --format='value(status.url)'"


def test_a_certificate_that_does_not_hold_is_shown_how_to_be_seen() -> None:
    with HttpServer(lambda exchange: exchange.answer(200), greeting=b"this is no TLS") as agent:
        found = steps(route("alpha", agent.url.replace("http:", "https:")))["tls"]
    assert found.command == f"openssl s_client -connect 127.0.0.1:{agent.port} </dev/null"


@pytest.mark.parametrize(
    "body",
    [b'{"account":"\x8cv\x8eZ"}', b'{"examined":' + b"[" * 100_000, b"<html>"],
    ids=["cp932", "deep", "page"],
)
def test_an_agent_that_answers_anything_to_the_doctor_is_one_that_does_not_know_it(body: bytes) -> None:
    def behave(exchange: Exchange) -> None:
        exchange.answer(200, CARD if "agent-card" in exchange.received.path else body)

    with HttpServer(behave) as agent:
        found = steps(route("alpha", agent.url))["agent"]
    assert (found.outcome, found.message) == (Outcome.SKIPPED, "it does not say what it finds of itself")


@pytest.mark.parametrize("skew_seconds", [-3600, 3600])
def test_a_clock_that_is_off_is_found(skew_seconds: float) -> None:
    now = 1_800_000_000.0
    date = formatdate(now + skew_seconds, usegmt=True)
    with HttpServer(lambda exchange: exchange.answer(200, CARD, date=date)) as agent:
        found = steps(route("alpha", agent.url), now=lambda: now)["clock"]
    assert found.outcome is Outcome.ERROR
    assert f"{-skew_seconds:+.0f} s" in found.message


@pytest.mark.parametrize("date", ["soon", "Mon, 01 Jan 99999999999999999999 00:00:00 GMT"])
def test_a_date_that_is_none_says_nothing_of_a_clock(date: str) -> None:
    with HttpServer(lambda exchange: exchange.answer(200, CARD, date=date)) as agent:
        found = steps(route("alpha", agent.url))
    assert found["clock"].outcome is Outcome.SKIPPED
    assert found["card"].outcome is Outcome.OK


def test_a_route_without_an_address_names_the_variable() -> None:
    found = steps(route("alpha", "https://alpha-url.is-not-set.invalid"))
    assert list(found) == ["address"]
    assert found["address"].command == (
        "gcloud run services update a2a-hub "
        "--update-env-vars=ALPHA_URL=$(gcloud run services describe a2a-alpha --format='value(status.url)')"
    )


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (b"{}", Outcome.ERROR),
        (b"<html>", Outcome.ERROR),
        (CARD, Outcome.OK),
    ],
)
def test_a_card_that_cannot_be_read_is_an_error(answer: bytes, outcome: Outcome) -> None:
    with HttpServer(lambda exchange: exchange.answer(200, answer)) as agent:
        assert steps(route("alpha", agent.url))["card"].outcome is outcome


def test_a_card_that_only_others_cannot_read_is_worth_a_warning_that_names_the_field() -> None:
    card = good_card()
    del card["skills"][0]["tags"]
    with HttpServer(lambda exchange: exchange.answer(200, json.dumps(card).encode())) as agent:
        found = steps(route("alpha", agent.url))["card"]
    assert found.outcome is Outcome.WARNING
    assert "skills[0].tags is required" in found.message


def test_an_agent_without_a_card_is_only_worth_a_warning() -> None:
    with refusing(404) as agent:
        assert steps(route("alpha", agent.url))["card"].outcome is Outcome.WARNING


@pytest.mark.parametrize("said", [b"", b"<html>", b'{"examined": 1}', b'{"examined": [{"subject": "x"}]}'])
def test_an_agent_that_says_nothing_of_itself_is_not_tested_further(said: bytes) -> None:
    with agent_that(lambda exchange: exchange.answer(200, said)) as agent:
        assert steps(route("alpha", agent.url))["agent"].outcome is Outcome.SKIPPED


def test_what_an_agent_finds_of_itself_is_told() -> None:
    own = {"examined": [{"subject": "agent", "steps": [{"check": "model", "outcome": "error", "message": "none"}]}]}
    with agent_that(lambda exchange: exchange.json(own)) as agent:
        assert steps(route("alpha", agent.url))["model"].message == "none"


def test_nothing_of_a_token_is_in_a_report() -> None:
    token = SignedTokens().id_token("x").split(".")[0]
    with refusing(403) as agent:
        found = steps(route("alpha", agent.url, boundary=Iam()), SignedTokens())
    assert token[:8] not in repr(found)


def asked(hub: Hub, principal: Principal) -> int:
    return hub.request("GET", "/doctor", token=None, headers=signed(principal, "GET", "/doctor")).status


@pytest.mark.parametrize(
    ("principal", "status"),
    [
        (Principal(subject="client:ci", client="ci", operator=True), 200),
        (Principal(subject="client:ci", client="ci"), 403),
        (Principal(subject="client:ci", client="ci", operator=True, operations=frozenset({"doctor"})), 200),
        (Principal(subject="client:ci", client="ci", operator=True, operations=frozenset({"SendMessage"})), 403),
        (Principal(subject="google:1", email="operator@example.com", hosted_domain="example.com"), 200),
        (Principal(subject="google:1", email="operator@example.com", hosted_domain="example.org"), 403),
        (Principal(subject="google:1", email="operator@example.com"), 403),
        (Principal(subject="google:2", email="somebody@example.com", hosted_domain="example.com"), 403),
        (Principal(subject="google:3"), 403),
    ],
    ids=str,
)
def test_only_operators_see_a_report(principal: Principal, status: int) -> None:
    with agent_that(lambda exchange: exchange.answer(404)) as agent:
        hub = Hub(route("alpha", agent.url), behind_gate=True, settings={"OPERATORS": "operator@example.com"})
        assert asked(hub, principal) == status


def test_a_client_of_some_routes_sees_only_these() -> None:
    principal = Principal(subject="client:ci", client="ci", operator=True, routes=frozenset({"beta"}))
    with agent_that(lambda exchange: exchange.answer(404)) as agent:
        hub = Hub(route("alpha", agent.url), route("beta", agent.url), behind_gate=True)
        answer = hub.request("GET", "/doctor", token=None, headers=signed(principal, "GET", "/doctor"))
    assert isinstance(answer.body, bytes)
    assert [each["subject"] for each in json.loads(answer.body)["examined"]] == ["beta"]


def test_an_anonymous_caller_sees_no_report() -> None:
    with agent_that(lambda exchange: exchange.answer(404)) as agent:
        hub = Hub(route("alpha", agent.url), anonymous=True)
        assert hub.request("GET", "/doctor", token=None).status == 403
