"""`hubctl doctor` at the entrance: what is seen from the operator's machine, whatever answers there."""

import io
import json
import time
from collections.abc import Mapping
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.http.client import HttpClient
from hubctl.commands.doctor import Entrance
from hubctl.main import main
from local.cloud import gcloud
from tests.fakes.http_server import Exchange, HttpServer
from tests.integration.registrations import registrations
from tests.unit.cards import good_card

CARD = json.dumps(good_card()).encode()
GATEWAY_MAY_INVOKE = (
    "gcloud run services add-iam-policy-binding a2a-gate "
    "--member=serviceAccount:a2a-gateway@$(gcloud config get-value project).iam.gserviceaccount.com "
    "--role=roles/run.invoker"
)
WELL: dict[str, tuple[int, bytes]] = {
    "/health": (200, b'{"status":"ok"}'),
    "/.well-known/agent-card.json": (200, CARD),
    "/doctor": (200, b'{"examined":[]}'),
}


def hub(answers: Mapping[str, tuple[int, bytes]]) -> HttpServer:
    """A hub that is well but for these answers."""

    def behave(exchange: Exchange) -> None:
        status, body = {**WELL, **answers}[exchange.received.path]
        exchange.answer(status, body, content_type="application/json", date=formatdate(usegmt=True))

    return HttpServer(behave)


def doctor(url: str, *options: str, environment: Mapping[str, str] | None = None) -> tuple[int, dict[str, Any]]:
    """The exit status, and the findings by subject and check."""
    out = io.StringIO()
    status = main(["doctor", "--url", url, "--json", *options], environment=environment or {}, out=out)
    findings = json.loads(out.getvalue())["findings"]
    return status, {f"{each['subject']} {each['check']}": each for each in findings}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "HTTP 401: no token was given"),
        (("--token", "old"), "HTTP 401: the gate does not know the token"),
    ],
)
def test_a_refusal_says_whether_there_was_a_token(options: tuple[str, ...], message: str) -> None:
    with hub({"/doctor": (401, b"{}")}) as there:
        status, found = doctor(there.url, *options)
    assert (status, found["gateway token"]["message"]) == (1, message)


def test_a_used_up_quota_is_no_fault_of_the_gate() -> None:
    with hub({"/doctor": (429, b"{}")}) as there:
        status, found = doctor(there.url, "--token", "known")
    assert status == 1
    assert "RATE_LIMIT_PER_MINUTE" in found["gateway token"]["fix"]


def test_an_app_without_its_project_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    with hub({}) as there:
        status = main(["doctor", "--url", there.url], environment={"GEMINI_ENTERPRISE_APP": "hub-app"})
    assert status == 2
    assert "in which project is the app hub-app? Give --project" in capsys.readouterr().err


def test_a_location_that_gemini_enterprise_does_not_have_is_refused_wherever_it_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    environment = {
        "GEMINI_ENTERPRISE_APP": "hub-app",
        "GOOGLE_CLOUD_PROJECT": "demo-project",
        "GEMINI_ENTERPRISE_LOCATION": "moon",
    }
    with hub({}) as there:
        for command in (["doctor", "--url", there.url], ["register", "list"]):
            assert main(command, environment=environment) == 2
            told = capsys.readouterr().err
            assert "the location is 'moon', and must be one of global, us, eu" in told


def test_a_hub_that_is_well_is_found_to_be_well() -> None:
    with hub({}) as there:
        status, found = doctor(there.url)
    assert status == 0
    assert {each["outcome"] for each in found.values()} == {"ok"}


@pytest.mark.parametrize(
    ("path", "answer", "check", "command"),
    [
        (
            "/health",
            (403, b""),
            "gate",
            GATEWAY_MAY_INVOKE,
        ),
        ("/health", (503, b""), "gate", "gcloud run services logs read a2a-gate --limit=20"),
        (
            "/.well-known/agent-card.json",
            (403, b""),
            "card",
            GATEWAY_MAY_INVOKE.replace("a2a-gate ", "a2a-agent-card "),
        ),
        ("/.well-known/agent-card.json", (200, b"{}"), "card", "hubctl check --card URL"),
        ("/doctor", (401, b"{}"), "token", None),
        (
            "/doctor",
            (403, b"{}"),
            "token",
            "gcloud run services update a2a-hub --update-env-vars=OPERATORS=$(gcloud config get-value account)",
        ),
        ("/doctor", (404, b"{}"), "token", None),
        ("/doctor", (502, b"<html>"), "gate", "gcloud run services logs read a2a-gate --limit=20"),
        ("/doctor", (200, b"<html>"), "gate", "gcloud run services logs read a2a-gate --limit=20"),
    ],
)
def test_each_thing_that_can_be_wrong_at_the_entrance_has_what_mends_it(
    path: str, answer: tuple[int, bytes], check: str, command: str | None
) -> None:
    with hub({path: answer}) as there:
        status, found = doctor(there.url)
    (wrong,) = (each for each in found.values() if each["outcome"] == "error")
    assert (status, wrong["subject"], wrong["check"]) == (1, "gateway", check)
    assert wrong["command"] == (command.replace("URL", there.url) if command else None)
    assert wrong["fix"]


def test_the_operators_token_goes_to_the_report_and_nowhere_else() -> None:
    with hub({}) as there:
        doctor(there.url, environment={"HUB_DEV_TOKEN": "one,two"})
        sent = {each.path: each.headers.get("authorization") for each in there.received}
    assert sent == {"/health": None, "/.well-known/agent-card.json": None, "/doctor": "Bearer one"}


def test_a_clock_that_is_off_is_only_worth_a_warning() -> None:
    with hub({}) as there:
        report = Entrance(there.url, token=None, prefix="", http=HttpClient(), now=lambda: time.time() + 7200).report()
    (clock,) = (step for step in report.examined[0].steps if step.check == "clock")
    assert (clock.outcome, clock.command) == ("warning", "sudo timedatectl set-ntp true")


def test_what_is_registered_is_compared_with_what_is_published(tmp_path: Path) -> None:
    with hub({}) as there, registrations(tmp_path) as registered:
        agent = registered.registered()
        old = json.dumps(good_card() | {"url": there.url, "description": "As it was."})
        agent.fields["a2aAgentDefinition"]["jsonAgentCard"] = old
        _, found = doctor(there.url, environment=registered.environment)
    outdated = found["registered card-outdated"]
    assert outdated["outcome"] == "warning"
    assert outdated["command"].startswith("hubctl register --project demo --app hub-app")
    assert there.url in outdated["command"]


def test_an_api_that_refuses_the_operator_is_told(tmp_path: Path) -> None:
    with hub({}) as there, registrations(tmp_path) as registered:
        environment = {**registered.environment, "CLOUDSDK_AUTH_ACCESS_TOKEN": "ya29.of-nobody"}
        status, found = doctor(there.url, environment=environment)
    assert status == 1
    assert found["registered api"]["outcome"] == "error"
    assert found["registered api"]["message"].startswith("UNAUTHENTICATED (HTTP 401)")
    assert "gcloud auth application-default login" in found["registered api"]["fix"]


def test_the_local_clouds_gcloud_does_only_what_it_knows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cloud = tmp_path / "cloud.json"
    cloud.write_text("{}")
    for command in (
        "projects delete my-hub-project",
        "run services add-iam-policy-binding pm --member=allUsers --role=roles/run.invoker",
        "run services add-iam-policy-binding pm --member=allUsers",
        "run services add-iam-policy-binding",
    ):
        assert gcloud.main([str(cloud), *command.split()]) == 2
    told = capsys.readouterr().err
    assert "gcloud projects delete my-hub-project is not known to the local cloud" in told
    assert "there is no pm-front" in told
    assert "--role is missing" in told
