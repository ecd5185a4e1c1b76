"""Bodies that nobody reads."""

import pytest

from a2a_hub.http.messages import Handler, Request
from functions.gate.app import build
from functions.gate.config import read
from tests.fakes.http_server import HttpServer
from tests.fakes.signatures import GATE_SETTINGS
from tests.integration.gates import OTHER_TOKEN, TOKEN


@pytest.fixture
def handle(hub: HttpServer) -> Handler:
    told = {"HUB_URL": hub.url, "AGENT_CARD_URL": hub.url, **GATE_SETTINGS}
    return build(
        read(told | {"HUB_DEV_TOKEN": f"{TOKEN},{OTHER_TOKEN}", "IAM_CREDENTIALS": "none"}),
    )


def test_without_a_token_no_body_is_waited_for(handle: Handler, hub: HttpServer) -> None:
    def never(limit_bytes: int) -> bytes:
        raise AssertionError("it was waited for")

    for method in ("GET", "POST"):
        request = Request(method=method, path="/openapi.yaml", headers={"host": "hub.example"}, read_body=never)
        assert handle(request).status == 200
    assert [received.body for received in hub.received] == [b"", b""]
