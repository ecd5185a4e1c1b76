"""The worker, and the Workspace that it works in."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.workspace import Workspace
from tests.fakes.workspace_tools import Bench
from tests.fakes.workspace_worker import Task, WorkspaceProgram, workspace_program


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkspaceProgram]:
    """One program for all tests of a file."""
    with workspace_program(tmp_path_factory.mktemp("workspace")) as program:
        yield program


@pytest.fixture
def program(running: WorkspaceProgram) -> Iterator[WorkspaceProgram]:
    """With a Workspace that is as at first, and a log that begins here."""
    running.reset()
    yield running
    running.reset()


@pytest.fixture
def task(program: WorkspaceProgram) -> Task:
    return program.task()


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    """An empty one, and a service account that acts for its owner."""
    workspace = Workspace()
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(workspace.key_file(tmp_path)))
    with workspace.server:
        yield workspace


@pytest.fixture
def bench(workspace: Workspace) -> Bench:
    return Bench(workspace)
