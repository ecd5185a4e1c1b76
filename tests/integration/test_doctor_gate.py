"""The gate's part of `GET /doctor`, and what callers see while the hub's own IAM refuses the gate."""

import json
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.diagnosis.gcloud import Service
from a2a_hub.diagnosis.report import Report, Step, read_report
from a2a_hub.http.client import HttpClient
from a2a_hub.http.messages import Request, Response
from a2a_hub.identity.authentication import PRINCIPAL_HEADER
from a2a_hub.identity.principal import digest
from a2a_hub.identity.service_tokens import ServiceTokens
from a2a_hub.runtime.upstream import Upstream
from functions.gate.app import build
from functions.gate.config import read
from functions.gate.doctor import Doctor
from tests.fakes.http_server import Exchange, HttpServer
from tests.fakes.service_tokens import NoTokens, SignedTokens
from tests.fakes.signatures import GATE_SETTINGS
from tests.integration.gates import TOKEN

GATE = "gate@my-hub-project.iam.gserviceaccount.com"
FOUND = {"account": "hub@p", "examined": [{"subject": "pm", "steps": []}]}


def cloud_run(status: int) -> HttpServer:
    return HttpServer(lambda exchange: exchange.answer(status, b"<html>", content_type="text/html; charset=UTF-8"))


def answered(hub_url: str, tokens: ServiceTokens | None) -> Response:
    upstream = Upstream(hub_url, http=HttpClient(), tokens=tokens)
    return Doctor(upstream, hub_url=hub_url, service=Service(name="gate")).report({}, is_operator=True)


def report(hub_url: str, tokens: ServiceTokens | None) -> Report:
    body = answered(hub_url, tokens).body
    assert isinstance(body, bytes)
    found = read_report(body)
    assert found is not None
    return found


def steps(hub_url: str, tokens: ServiceTokens | None) -> dict[str, Step]:
    (examined,) = report(hub_url, tokens).examined
    assert examined.subject == "gate"
    return {step.check: step for step in examined.steps}


def test_what_the_hub_found_comes_after_the_way_to_it() -> None:
    with HttpServer(lambda exchange: exchange.json(FOUND)) as hub:
        found = report(hub.url, SignedTokens(email=GATE))
    assert [examined.subject for examined in found.examined] == ["gate", "pm"]
    assert found.account == "hub@p"


@pytest.mark.parametrize(
    ("status", "command"),
    [
        (401, "gcloud run services update hub --add-custom-audiences={url}"),
        (
            403,
            f"gcloud run services add-iam-policy-binding hub --member=serviceAccount:{GATE} --role=roles/run.invoker",
        ),
        (429, "gcloud run services update hub --max-instances=100"),
    ],
)
def test_each_refusal_of_the_hubs_front_has_its_command(status: int, command: str) -> None:
    with cloud_run(status) as hub:
        assert steps(hub.url, SignedTokens(email=GATE))["hub"].command == command.format(url=hub.url)


def test_without_a_token_and_with_an_expired_one_new_instances_are_started() -> None:
    restart = "gcloud run services update gate --update-env-vars=RESTARTED=$(date +%s)"
    with cloud_run(401) as hub:
        assert steps(hub.url, NoTokens())["credential"].command == restart
        expired = steps(hub.url, SignedTokens(email=GATE, lifetime_seconds=-600))
    assert expired["credential"].command == restart
    assert expired["hub"].message == "HTTP 401: the ID token has expired"


def test_a_hub_that_does_not_answer_is_said_not_to() -> None:
    found = steps("http://127.0.0.1:9", None)
    assert "does not answer" in found["hub"].message
    assert found["hub"].command == "gcloud run services describe hub --format='value(status.url)'"


def test_the_hubs_own_refusal_of_the_caller_is_passed_on() -> None:
    refusal = json.dumps({"error": {"code": 403}}).encode()
    with HttpServer(lambda exchange: exchange.answer(403, refusal, content_type="application/json")) as hub:
        answer = answered(hub.url, None)
    assert (answer.status, answer.body) == (403, refusal)


@pytest.mark.parametrize("is_operator", [True, False])
def test_a_signature_that_the_hub_does_not_know_is_told_to_operators(is_operator: bool) -> None:
    refusal = json.dumps({"error": {"code": 401}}).encode()
    with HttpServer(
        lambda exchange: exchange.answer(
            200 if exchange.received.path == "/health" else 401, refusal, content_type="application/json"
        )
    ) as hub:
        upstream = Upstream(hub.url, http=HttpClient(), tokens=None)
        doctor = Doctor(upstream, hub_url=hub.url, service=None)
        answer = doctor.report({PRINCIPAL_HEADER: "signed"}, is_operator=is_operator)
    assert isinstance(answer.body, bytes)
    assert (answer.status, b"GATE_PUBLIC_KEYS" in answer.body) == ((200, True) if is_operator else (401, False))


def asked(hub_url: str, path: str, *, token: str = TOKEN, **changes: str) -> tuple[int, Any]:
    settings = {
        "HUB_URL": hub_url,
        "AGENT_CARD_URL": hub_url,
        **GATE_SETTINGS,
        "HUB_DEV_TOKEN": TOKEN,
        "IAM_CREDENTIALS": "none",
    }
    method = "GET" if path == "/doctor" else "POST"
    response = build(read(settings | changes))(
        Request(method=method, path=path, headers={"authorization": f"Bearer {token}", "host": "hub.example"})
    )
    assert isinstance(response.body, bytes)
    return response.status, json.loads(response.body)


@pytest.mark.parametrize("status", [401, 403, 429])
@pytest.mark.parametrize("path", ["/", "/message:send", "/tools/query"])
def test_a_page_of_cloud_runs_does_not_reach_a_caller(status: int, path: str) -> None:
    with cloud_run(status) as hub:
        answered_status, told = asked(hub.url, path)
    assert answered_status == 503
    assert "html" not in json.dumps(told)


def test_who_has_no_token_learns_nothing() -> None:
    def hub_found(exchange: Exchange) -> None:
        exchange.json(FOUND)

    with HttpServer(hub_found) as hub:
        assert asked(hub.url, "/doctor", token="token-of-nobody")[0] == 401
        assert hub.received == []
        assert asked(hub.url, "/doctor")[0] == 200


def test_who_is_no_operator_learns_nothing_of_the_way_to_the_hub(tmp_path: Path) -> None:
    table = tmp_path / "clients.toml"
    limited = '[[clients]]\nname = "ci"\ntoken_sha256 = "{}"\noperations = ["SendMessage"]\n'
    table.write_text(limited.format(digest("ci-token")))
    with cloud_run(403) as hub:
        status, told = asked(hub.url, "/doctor", token="ci-token", CLIENTS_FILE=str(table))
        assert (status, told["error"]["status"]) == (503, "UNAVAILABLE")
        assert hub.url not in json.dumps(told)
        status, told = asked(hub.url, "/doctor", CLIENTS_FILE=str(table))
        assert (status, told["examined"][0]["subject"]) == (200, "gate")
