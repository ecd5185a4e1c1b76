"""What the tests of kept tasks share: both versions over both bindings, and a hub's settings."""

from pathlib import Path

import pytest

from tests.fakes.task_client import WAYS


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def keeping(tmp_path: Path) -> dict[str, str]:
    """The settings of a hub that keeps tasks."""
    return {
        "TASK_STORE": f"sqlite:{tmp_path}/tasks.db",
        "TASK_STORE_AFTER_SECONDS": "0.05",
        "TASK_CANCEL_POLL_SECONDS": "0.05",
        "TASK_UI_SECONDS": "10",
    }
