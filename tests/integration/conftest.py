"""What all tests in one process share."""

from collections.abc import Iterator

import pytest

from tests.fakes.hub import settle


@pytest.fixture(autouse=True)
def nothing_left_running() -> Iterator[None]:
    """No test leaves to the next what its callers left behind."""
    yield
    settle()
