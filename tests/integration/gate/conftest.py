"""What the tests of the gate share: a hub that keeps what it receives, and a gate in front of it."""

from collections.abc import Iterator

import pytest

from tests.fakes.http_server import HttpServer
from tests.integration.gates import Gate, echo, gate


@pytest.fixture(scope="package")
def stub() -> Iterator[HttpServer]:
    """The hub, which keeps every request."""
    with HttpServer(echo) as server:
        yield server


@pytest.fixture
def hub(stub: HttpServer) -> Iterator[HttpServer]:
    """The hub, which has received nothing yet."""
    stub.received.clear()
    yield stub
    stub.behave = echo


@pytest.fixture(scope="package")
def running(stub: HttpServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gate with static tokens, in front of the hub."""
    with gate(stub.url, tmp_path_factory.mktemp("gate")) as one:
        yield one
