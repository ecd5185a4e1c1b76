"""A hub starts without heavy packages that its settings do not ask for."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_SETTINGS = {
    "HUB_DEV_TOKEN": "token",
    "HUB_PUBLIC_URL": "http://127.0.0.1:1",
    **dict.fromkeys(("EXPENSE_URL", "PM_URL", "DOCQA_URL", "GENERAL_URL"), "http://127.0.0.1:1"),
}
_FOR_A_SETTING = {"sqlite3": "TASK_STORE"}
_CLOUD_SDKS = (
    "google.auth",
    "google.cloud.firestore",
    "google.cloud.pubsub_v1",
    "google.cloud.storage",
    "google.genai",
    "grpc",
    "requests",
)
_FOR_AGENTS = ("a2a_hub.agents", "a2a_hub.gemini")
_PEM = """-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEVs/o5+uQbTjL3chynL4wXgUg2R9
q9UU8I5mEovUf86QZ7kOBIjJwqnzD1omageEHWwHdBO6B+dFabmdT9POxg==
-----END PUBLIC KEY-----"""


def _loaded(program: str = "functions.hub.main", **settings: str) -> set[str]:
    path = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    lists = f"import json, sys; import {program}; print(json.dumps(sorted(sys.modules)))"
    process = subprocess.run(
        [sys.executable, "-c", lists],
        env=path | _SETTINGS | settings,
        capture_output=True,
        check=True,
        text=True,
    )
    return set(json.loads(process.stdout.splitlines()[-1]))


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    return _loaded()


@pytest.mark.parametrize("module", [*_FOR_A_SETTING, *_CLOUD_SDKS, *_FOR_AGENTS])
def test_a_hub_starts_without_stores_sdks_and_what_agents_are_made_of(module: str, loaded: set[str]) -> None:
    assert "functions.hub.app" in loaded
    assert module not in loaded


def test_a_hub_loads_what_its_settings_need_and_no_sdk(tmp_path: Path) -> None:
    clients = tmp_path / "clients.toml"
    clients.write_text(f'[[clients]]\nname = "one"\ntoken_sha256 = "{"0" * 64}"\n')
    loaded = _loaded(
        TASK_STORE=f"sqlite:{tmp_path / 'tasks.db'}",
        CLIENTS_FILE=str(clients),
        ID_TOKEN_CALLERS="job@project.iam.gserviceaccount.com",
        WEBHOOK_PUBLIC_KEYS=_PEM,
    )
    assert set(_FOR_A_SETTING) <= loaded
    assert not loaded.intersection(_CLOUD_SDKS)
