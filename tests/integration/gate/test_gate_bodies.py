"""Bodies that take their time: how many of one caller's the gate waits for, and of whom it takes none at all."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from a2a_hub.http.messages import Body, Handler, Request, body_of
from functions.gate.app import build
from functions.gate.config import read
from tests.fakes.http_server import HttpServer
from tests.integration.gates import KEY, OTHER_TOKEN, TOKEN

_MOST = 40


@pytest.fixture
def handle(hub: HttpServer) -> Handler:
    told = {"HUB_URL": hub.url, "AGENT_CARD_URL": hub.url, "GATE_SIGNING_KEY": KEY}
    return build(
        read(told | {"HUB_DEV_TOKEN": f"{TOKEN},{OTHER_TOKEN}", "IAM_CREDENTIALS": "none"}),
    )


def _status(handle: Handler, body: Body, token: str = TOKEN) -> int:
    headers = {"host": "hub.example", "authorization": f"Bearer {token}"}
    return handle(Request(method="POST", path="/", headers=headers, read_body=body)).status


def test_one_callers_slow_bodies_leave_room_for_everybody_else(handle: Handler, hub: HttpServer) -> None:
    all_are_waited_for, arrive = threading.Barrier(_MOST + 1), threading.Event()

    def slow(limit_bytes: int) -> bytes:
        all_are_waited_for.wait(30)
        assert arrive.wait(30)
        return b"{}"

    with ThreadPoolExecutor(_MOST) as threads:
        slow_ones = [threads.submit(_status, handle, slow) for _ in range(_MOST)]
        all_are_waited_for.wait(30)
        assert _status(handle, body_of(b"{}")) == 429
        assert _status(handle, body_of(b"{}"), OTHER_TOKEN) == 200
        arrive.set()
        assert {each.result(30) for each in slow_ones} == {200}
    assert _status(handle, body_of(b"{}")) == 200
    assert len(hub.received) == _MOST + 2


def test_without_a_token_no_body_is_waited_for(handle: Handler, hub: HttpServer) -> None:
    def never(limit_bytes: int) -> bytes:
        raise AssertionError("it was waited for")

    for method in ("GET", "POST"):
        request = Request(method=method, path="/openapi.yaml", headers={"host": "hub.example"}, read_body=never)
        assert handle(request).status == 200
    assert [received.body for received in hub.received] == [b"", b""]
