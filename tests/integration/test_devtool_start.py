"""The modules that the development agent loads at its start: no SDK that only some settings need."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_NEEDED_LATER = ("google.auth", "google.cloud.firestore", "google.genai", "httpx2", "a2a_hub.gemini.vertex")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    settings = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "TASK_STORE": f"sqlite:{tmp_path_factory.mktemp('start') / 'tasks.db'}",
        "ALLOW_ANONYMOUS": "true",
        "ANONYMOUS_SUBJECT": "hub",
    }
    lists = "import json, sys; import functions.devtool.main; print(json.dumps(sorted(sys.modules)))"
    process = subprocess.run([sys.executable, "-c", lists], env=settings, capture_output=True, check=True, text=True)
    return set(json.loads(process.stdout.splitlines()[-1]))


@pytest.mark.parametrize("module", _NEEDED_LATER)
def test_the_agent_starts_without_what_is_needed_later_or_not_at_all(module: str, loaded: set[str]) -> None:
    assert "functions.devtool.app" in loaded
    assert module not in loaded
