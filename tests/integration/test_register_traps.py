"""`hubctl register` where the API is not as good as its word, and with the operator's real credentials library."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from a2a_hub.http.messages import Request, Response, body_of
from tests.fakes.gemini_enterprise import server
from tests.fakes.gemini_enterprise.world import Operator
from tests.fakes.http_server import Exchange, HttpServer
from tests.integration.registrations import CLIENT, SECRET, Registrations, registrations

ROOT = Path(__file__).parents[2]
AUTHORIZATION = "projects/123456789012/locations/global/authorizations/a2a-hub"


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Registrations]:
    with registrations(tmp_path) as each:
        yield each


def _through(there: Registrations, change: Callable[[Request], Request | Response]) -> HttpServer:
    """The stand-in behind something that changes requests, or answers them itself."""

    def behave(exchange: Exchange) -> None:
        received = exchange.received
        parts = urlsplit(received.path)
        request = Request(
            method=received.method,
            path=parts.path,
            headers=received.headers,
            query=parse_qs(parts.query),
            read_body=body_of(received.body),
        )
        changed = change(request)
        answer = changed if isinstance(changed, Response) else server.handle(there.world, changed)
        assert isinstance(answer.body, bytes)
        exchange.answer(answer.status, answer.body, content_type="application/json")

    return HttpServer(behave)


def test_an_update_that_answers_200_and_changes_nothing_is_found_by_reading_back(
    there: Registrations, capsys: pytest.CaptureFixture[str]
) -> None:
    there.registered()
    oauth = there.world.authorizations[AUTHORIZATION].oauth
    oauth["authorizationUri"] = "https://accounts.google.com/o/oauth2/v2/auth"

    def without_mask(request: Request) -> Request:
        return Request(method=request.method, path=request.path, headers=request.headers, read_body=request.read_body)

    with _through(there, without_mask) as faulty:
        assert there.hubctl("--endpoint", f"{faulty.url}/{{host}}")[0] == 2
    assert "answered 200, and still holds other values of authorizationUri" in capsys.readouterr().err


def test_an_agent_that_keeps_its_old_card_is_found_by_reading_back(
    there: Registrations, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = there.registered()
    agent.fields["a2aAgentDefinition"] = {
        "jsonAgentCard": agent.fields["a2aAgentDefinition"]["jsonAgentCard"].replace("1.0.0", "0.9.0")
    }

    def deaf(request: Request) -> Request | Response:
        is_update = request.method == "PATCH" and "/agents/" in request.path
        return Response(body=b"{}") if is_update else request

    with _through(there, deaf) as faulty:
        assert there.hubctl("--endpoint", f"{faulty.url}/{{host}}")[0] == 2
    assert "still holds other values of a2aAgentDefinition.jsonAgentCard" in capsys.readouterr().err


def test_an_authorization_that_appears_in_between_is_updated(there: Registrations) -> None:
    there.registered()
    there.world.authorizations[AUTHORIZATION].oauth["scopes"] = []
    unseen = ["first look"]

    def late(request: Request) -> Request | Response:
        if request.method == "GET" and "/authorizations/" in request.path and unseen:
            unseen.clear()
            return Response(status=404, body=b'{"error": {"code": 404, "status": "NOT_FOUND", "message": ""}}')
        return request

    with _through(there, late) as server_:
        assert there.hubctl("--endpoint", f"{server_.url}/{{host}}")[0] == 0
    assert there.world.authorizations[AUTHORIZATION].oauth["scopes"]


@pytest.mark.parametrize(("status", "body"), [(502, b"<html>bad gateway</html>"), (200, b"[]"), (500, b"{}")])
def test_an_answer_that_is_none_of_the_apis_is_told_as_such(
    there: Registrations, status: int, body: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    with _through(there, lambda _: Response(status=status, body=body)) as other:
        assert there.hubctl("list", "--endpoint", f"{other.url}/{{host}}")[0] == 2
    assert f"UNKNOWN (HTTP {status}): the answer is not one of the API's" in capsys.readouterr().err


def _run(there: Registrations, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("CLOUDSDK_")}
    return subprocess.run(
        [sys.executable, "-m", "hubctl", "register", *arguments],
        cwd=ROOT,
        env={**inherited, **there.environment, "CLOUDSDK_AUTH_ACCESS_TOKEN": "", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_application_default_credentials_of_a_service_account_are_used(there: Registrations) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    email = "deployer@demo.iam.gserviceaccount.com"
    public_key = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    there.world.service_accounts.append(Operator(email=email, is_user=False, public_key=public_key))
    private_key = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = there.folder / "key.json"
    file.write_text(
        json.dumps(
            {
                "type": "service_account",
                "client_email": email,
                "private_key_id": "1",
                "private_key": private_key.decode(),
                "token_uri": there.endpoint.replace("{host}", "oauth2.googleapis.com") + "/token",
            }
        )
    )
    ran = _run(there, "list", GOOGLE_APPLICATION_CREDENTIALS=str(file))
    assert (ran.returncode, ran.stdout) == (0, "0 agents in the app hub-app\n"), ran.stderr


def test_without_credentials_the_command_that_gets_them_is_told(there: Registrations) -> None:
    nowhere = str(there.folder / "none")
    ran = _run(there, "list", GOOGLE_APPLICATION_CREDENTIALS=nowhere, HOME=nowhere, CLOUDSDK_CONFIG=nowhere)
    assert ran.returncode == 2
    assert "gcloud auth application-default login" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_the_secret_and_the_token_are_in_no_output(there: Registrations) -> None:
    for action in ("apply", "list", "doctor"):
        status, told = there.hubctl(action)
        assert status in (0, 1)
        assert SECRET not in told
        assert there.environment["CLOUDSDK_AUTH_ACCESS_TOKEN"] not in told
    assert CLIENT in there.hubctl()[1]


def test_a_card_that_only_the_api_refuses_is_told_with_where_to_look(
    there: Registrations, capsys: pytest.CaptureFixture[str]
) -> None:
    def strict(request: Request) -> Request | Response:
        if request.method != "POST" or not request.path.endswith("/agents"):
            return request
        error = {"code": 400, "status": "INVALID_ARGUMENT", "message": "unexpected instance type"}
        return Response(status=400, body=json.dumps({"error": error}).encode())

    with _through(there, strict) as server_:
        assert there.hubctl("--endpoint", f"{server_.url}/{{host}}")[0] == 2
    told = capsys.readouterr().err
    assert "INVALID_ARGUMENT (HTTP 400): unexpected instance type" in told
    assert "hubctl check --card FILE" in told


def test_where_the_secret_cannot_be_tried_the_registration_goes_on_and_says_so(there: Registrations) -> None:
    def without_oauth(request: Request) -> Request | Response:
        is_oauth = request.path.startswith(("/oauth2.googleapis.com", "/accounts.google.com"))
        return Response(status=503, body=b"") if is_oauth else request

    with _through(there, without_oauth) as server_:
        status, told = there.hubctl("--endpoint", f"{server_.url}/{{host}}")
        assert (status, len(there.world.agents)) == (0, 1)
        assert "its secret could not be verified" in told
        found = there.doctor("--endpoint", f"{server_.url}/{{host}}")
    assert {"client-secret-unseen", "redirect-uris-unseen"} <= set(found)
    assert "could not be verified" in found["client-secret-unseen"]["message"]


def test_a_secret_is_sent_to_google_alone(there: Registrations) -> None:
    there.registered()
    with HttpServer(lambda exchange: exchange.json({"error": "invalid_grant"})) as other:
        oauth = there.world.authorizations[AUTHORIZATION].oauth
        oauth["tokenUri"] = other.url.replace("http:", "https:")
        found = there.doctor()
        assert other.connections == 0
    assert "not sent there" in found["client-secret-unseen"]["message"]
    assert "tokenUri is not Google's" in found["provider"]["message"]


def test_the_secret_of_one_client_is_not_tried_with_another(there: Registrations) -> None:
    there.registered()
    found = there.doctor("--client-id", "another", OAUTH_CLIENT_SECRET="of-another")
    assert "client-secret" not in found
    assert "was not tried" in found["client-secret-unseen"]["message"]
