"""The runs that the end-to-end tests talk to, each started once."""

from collections.abc import Generator, Iterator, Mapping
from pathlib import Path

import pytest

from tests.e2e.hubs import Hub, running
from tests.e2e.local_clouds import LocalCloud
from tests.e2e.routed_hub import RoutedHub, routed_hub

_running: list[Hub] = []
_LOG_SIZES = pytest.StashKey[Mapping[Path, int]]()


@pytest.fixture(scope="session")
def hub() -> Iterator[Hub]:
    """Everything, as `make run` starts it from the source tree."""
    with running("local.run") as hub:
        _running.append(hub)
        yield hub
        _running.remove(hub)


@pytest.fixture(scope="session")
def cloud_run() -> Iterator[LocalCloud]:
    """Everything over the local cloud, as `make run CLOUD=local` starts it."""
    with running("local.run", CLOUD="local") as hub:
        _running.append(hub)
        yield LocalCloud(hub)
        _running.remove(hub)


@pytest.fixture
def cloud(cloud_run: LocalCloud) -> Iterator[LocalCloud]:
    """The local cloud in its order: what a test did to it is undone."""
    yield cloud_run
    cloud_run.mend()


@pytest.fixture(scope="session")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    """Everything, from bundles, started in a folder that holds nothing."""
    with running("tests.e2e.bundled_run", tmp_path_factory.mktemp("bundles")) as hub:
        _running.append(hub)
        yield hub
        _running.remove(hub)


@pytest.fixture(scope="session")
def routed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RoutedHub]:
    """Everything again, with a route table of other people's agents."""
    with routed_hub(tmp_path_factory.mktemp("routes")) as routed:
        _running.append(routed.hub)
        yield routed
        _running.remove(routed.hub)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Remembers where the logs end before a test."""
    item.stash[_LOG_SIZES] = {log: size for hub in _running for log, size in hub.log_sizes().items()}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failure shows what the runs logged during the test."""
    report = yield
    if report.failed:
        for hub in _running:
            report.sections.append((f"logs of {hub.url}", hub.logged_since(item.stash.get(_LOG_SIZES, {}))))
    return report
