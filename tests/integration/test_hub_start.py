"""What a hub loads at its start: nothing that only some hubs, or hardly any request, need."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_LIST = "import json, sys; import functions.hub.main; print(json.dumps(sorted(sys.modules)))"
_SETTINGS = {
    "HUB_DEV_TOKEN": "token",
    "HUB_PUBLIC_URL": "http://127.0.0.1:1",
    **dict.fromkeys(("EXPENSE_URL", "PM_URL", "DOCQA_URL", "GENERAL_URL"), "http://127.0.0.1:1"),
}
# Each with the setting that has a hub load it, None where a request does.
_LATER = {
    "typing_extensions": None,
    "google.auth": None,
    "functions.hub.doctor": None,
    "functions.hub.agent_examination": None,
    "shared.tasks.kept": "TASK_STORE",
    "functions.hub.run_door": "TASK_STORE",
    "sqlite3": "TASK_STORE",
    "google.cloud.firestore": None,
    "google.cloud.pubsub_v1": None,
}


def _loaded(**settings: str) -> set[str]:
    path = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    program = subprocess.run(
        [sys.executable, "-c", _LIST],
        env=path | _SETTINGS | settings,
        capture_output=True,
        check=True,
        text=True,
    )
    return set(json.loads(program.stdout.splitlines()[-1]))


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    return _loaded()


@pytest.mark.parametrize("module", _LATER)
def test_a_hub_starts_without_what_is_needed_later_or_not_at_all(module: str, loaded: set[str]) -> None:
    assert "functions.hub.app" in loaded
    assert module not in loaded


def test_a_hub_that_keeps_tasks_loads_what_keeps_them(tmp_path: Path) -> None:
    loaded = _loaded(TASK_STORE=f"sqlite:{tmp_path / 'tasks.db'}")
    assert {module for module, setting in _LATER.items() if setting == "TASK_STORE"} <= loaded
    assert "google.cloud.firestore" not in loaded
