"""The local cloud as the unmodified Google libraries see it: the metadata server, and Cloud Run's front."""

import base64
import http.client
import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.fakes.http_server import Exchange, HttpServer
from tests.fakes.local_cloud import (
    HUB,
    STRANGER,
    TokenHolder,
    account,
    behind_iam,
    call,
    environment_of_account,
    inject,
)


def claims_of(token: str) -> dict[str, Any]:
    segment = token.split(".")[1]
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4)))
    return claims


def get(url: str, path: str = "/", **headers: str) -> tuple[int, Mapping[str, str], bytes]:
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)
    connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, dict(answer.headers), body


def identity_requests(account_url: str) -> list[str]:
    received = call(f"{account_url}/__received")
    return [each["target"] for each in received if "/identity?" in each["target"]]


@pytest.fixture
def hub_account() -> Iterator[str]:
    with account(HUB) as url:
        yield url


@pytest.fixture
def service() -> Iterator[HttpServer]:
    with HttpServer(lambda exchange: exchange.json({"here": "I am"})) as server:
        yield server


def test_google_auth_gets_an_id_token_for_the_audience_that_it_asks_for(hub_account: str) -> None:
    with TokenHolder(environment_of_account(hub_account)) as holder:
        (token,) = holder.ask("https://pm.example")

    claims = claims_of(token)
    assert (claims["aud"], claims["email"], claims["email_verified"]) == ("https://pm.example", HUB, True)
    assert 3590 < claims["exp"] - time.time() <= 3600


def test_google_auth_gets_an_access_token(hub_account: str) -> None:
    with TokenHolder(environment_of_account(hub_account)) as holder:
        first, second = holder.ask("", "")

    assert first.startswith("ya29.")
    assert second == first


def test_a_token_is_fetched_once_for_each_audience(hub_account: str) -> None:
    with TokenHolder(environment_of_account(hub_account)) as holder:
        tokens = holder.ask("https://a.example", "https://a.example", "https://b.example", "https://a.example")

    assert tokens[0] == tokens[1] == tokens[3] != tokens[2]
    assert len(identity_requests(hub_account)) == 2


def test_a_token_that_is_about_to_expire_is_fetched_anew(hub_account: str) -> None:
    inject(hub_account, "expire-token", seconds=30)
    with TokenHolder(environment_of_account(hub_account)) as holder:
        holder.ask("https://a.example")
        holder.ask("https://a.example")
        call(f"{hub_account}/__faults", "DELETE")
        (fresh,) = holder.ask("https://a.example")
        (again,) = holder.ask("https://a.example")

    assert len(identity_requests(hub_account)) == 3
    assert fresh == again


def test_without_a_metadata_server_there_is_no_token(hub_account: str) -> None:
    inject(hub_account, "metadata-down")
    with TokenHolder(environment_of_account(hub_account, GCE_METADATA_DETECT_RETRIES="1")) as holder:
        assert holder.ask("https://a.example", "") == ["no token", "no token"]


@pytest.mark.parametrize(
    "headers",
    [{}, {"Metadata_Flavor": "google"}, {"Metadata_Flavor": "Google", "X_Forwarded_For": "10.0.0.1"}],
)
def test_the_metadata_server_tells_nothing_to_those_who_do_not_know_it(
    hub_account: str, headers: dict[str, str]
) -> None:
    status, told, body = get(hub_account, "/computeMetadata/v1/instance/service-accounts/default/token", **headers)

    assert (status, told["metadata-flavor"]) == (403, "Google")
    assert b"ya29" not in body


def test_without_an_audience_there_is_no_id_token(hub_account: str) -> None:
    path = "/computeMetadata/v1/instance/service-accounts/default/identity?format=full"
    assert get(hub_account, path, Metadata_Flavor="Google")[0] == 400


def token_of(account_url: str, audience: str) -> str:
    path = f"/computeMetadata/v1/instance/service-accounts/default/identity?format=full&audience={audience}"
    return get(account_url, path, Metadata_Flavor="Google")[2].decode()


def test_an_invoker_with_a_token_for_the_service_gets_through(hub_account: str, service: HttpServer) -> None:
    with behind_iam(service.url, trusts=hub_account) as url:
        token = token_of(hub_account, url)
        status, _, body = get(url, "/here?is=it", Authorization=f"Bearer {token}")

    assert (status, json.loads(body)) == (200, {"here": "I am"})
    (received,) = service.received
    assert received.path == "/here?is=it"
    head, _, signature = received.headers["authorization"].rpartition(".")
    assert head == "Bearer " + token.rpartition(".")[0]
    assert signature == "SIGNATURE_REMOVED_BY_GOOGLE"


def test_who_comes_without_a_token_gets_403(hub_account: str, service: HttpServer) -> None:
    with behind_iam(service.url, trusts=hub_account) as url:
        assert get(url)[0] == 403
    assert service.received == []


def test_a_token_for_another_audience_gets_401(hub_account: str, service: HttpServer) -> None:
    with behind_iam(service.url, trusts=hub_account) as url:
        token = token_of(hub_account, "https://another.example")
        status, headers, _ = get(url, Authorization=f"Bearer {token}")

    assert status == 401
    assert 'error="invalid_token"' in headers["www-authenticate"]
    assert service.received == []


def test_a_changed_an_expired_and_an_opaque_token_get_401(hub_account: str, service: HttpServer) -> None:
    with behind_iam(service.url, trusts=hub_account) as url:
        token = token_of(hub_account, url)
        inject(hub_account, "expire-token")
        expired = token_of(hub_account, url)
        head, _, signature = token.rpartition(".")
        changed = f"{head}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}"
        answers = [get(url, Authorization=f"Bearer {each}")[0] for each in (changed, expired, "ya29.opaque")]

    assert answers == [401, 401, 401]
    assert service.received == []


def test_a_key_that_the_service_does_not_trust_signs_nothing_it_believes(hub_account: str, service: HttpServer) -> None:
    with account(HUB) as forger, behind_iam(service.url, trusts=hub_account) as url:
        assert get(url, Authorization=f"Bearer {token_of(forger, url)}")[0] == 401


def test_who_is_no_invoker_gets_403(service: HttpServer) -> None:
    with account(STRANGER) as stranger, behind_iam(service.url, trusts=stranger) as url:
        assert get(url, Authorization=f"Bearer {token_of(stranger, url)}")[0] == 403
    assert service.received == []


def test_a_revoked_invoker_is_let_in_again_when_it_is_granted(hub_account: str, service: HttpServer) -> None:
    with behind_iam(service.url, trusts=hub_account) as url:
        bearer = f"Bearer {token_of(hub_account, url)}"
        inject(url, "revoke-invoker")
        refused = get(url, Authorization=bearer)[0]
        call(f"{url}/__service", "POST", {"add_invoker": f"serviceAccount:{HUB}"})
        granted = get(url, Authorization=bearer)[0]
        on = call(f"{url}/__faults")["on"]

    assert (refused, granted, on) == (403, 200, {})


def test_x_serverless_authorization_is_what_is_checked_and_authorization_passes(
    hub_account: str, service: HttpServer
) -> None:
    with behind_iam(service.url, trusts=hub_account) as url:
        token = token_of(hub_account, url)
        status, *_ = get(url, X_Serverless_Authorization=f"Bearer {token}", Authorization="Bearer ya29.user")

    assert status == 200
    (received,) = service.received
    assert received.headers["authorization"] == "Bearer ya29.user"
    assert received.headers["x-serverless-authorization"].endswith(".SIGNATURE_REMOVED_BY_GOOGLE")


def test_a_stream_passes_event_by_event(hub_account: str) -> None:
    def two_events(exchange: Exchange) -> None:
        exchange.start_stream()
        exchange.event("first")
        exchange.wait_until_left()

    with HttpServer(two_events) as service, behind_iam(service.url, trusts=hub_account) as url:
        connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)
        connection.request("GET", "/", headers={"authorization": f"Bearer {token_of(hub_account, url)}"})
        answer = connection.getresponse()
        assert answer.headers["content-type"] == "text/event-stream"
        # The service says nothing more: only what is passed at once arrives.
        assert answer.readline() == b'data: "first"\n'
        answer.close()
        connection.close()


def test_an_unknown_fault_names_the_known_ones(hub_account: str) -> None:
    connection = http.client.HTTPConnection(hub_account.removeprefix("http://"), timeout=10)
    connection.request("POST", "/__faults/no-such-fault")
    answer = connection.getresponse()
    assert answer.status == 404
    assert set(json.loads(answer.read())["known"]) == {"metadata-down", "expire-token", "latency"}
    connection.close()
