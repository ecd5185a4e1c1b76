"""What all tests share."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings
from xdist.remote import Producer

from tests.fakes import emulators
from tests.sharing import FilesTogether

# A busy machine is no reason to fail: time is for benchmarks. `make test TESTS=--hypothesis-profile=thorough` looks longer.
settings.register_profile("patient", deadline=None, max_examples=30)
settings.register_profile("thorough", deadline=None, max_examples=500)
settings.load_profile("patient")


@pytest.fixture(scope="session")
def firestore_emulator() -> Iterator[str]:
    """The address of a Firestore emulator; databases are made by naming them."""
    with emulators.firestore() as address:
        yield address


@pytest.fixture(scope="session")
def pubsub_emulator() -> Iterator[str]:
    """The address of a Pub/Sub emulator; its project is `emulators.PROJECT`."""
    with emulators.pubsub() as address:
        yield address


def pytest_xdist_auto_num_workers() -> int:
    """Return one process more than there are cores: many tests wait for what they have started."""
    return (os.cpu_count() or 1) + 1


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FilesTogether:
    """Return how `make test` divides the tests among its processes."""
    return FilesTogether(config, log)
