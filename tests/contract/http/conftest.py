"""A function behind each server, for the tests of one file."""

from collections.abc import Iterator

import pytest

from tests.contract.http.servers import Server, running


@pytest.fixture(scope="module", params=["asgi", "flask"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(request.param, tmp_path_factory.mktemp(request.param)) as one:
        yield one
