"""What a hub loads at its start: nothing that only some hubs, or hardly any request, need."""

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
# Loaded for a setting, or for a request that needs it.
_FOR_A_SETTING = {
    "a2a_hub.task_store.factory": "TASK_STORE",
    "a2a_hub.tasks.task_service": "TASK_STORE",
    "functions.hub.run_endpoint": "TASK_STORE",
    "sqlite3": "TASK_STORE",
    "a2a_hub.tasks.webhook_keys": "WEBHOOK_PUBLIC_KEYS",
}
_FOR_A_REQUEST = (
    "typing_extensions",
    "google.auth",
    "google.cloud.firestore",
    "google.cloud.pubsub_v1",
    "functions.hub.agent_examination",
    "functions.hub.commands",
    "functions.hub.doctor",
    "functions.hub.downstream.call_target",
    "functions.hub.downstream.history_replay",
    "functions.hub.downstream.command_line",
    "functions.hub.downstream.mirror",
    "functions.hub.execution",
    "functions.hub.slash_commands",
    "a2a_hub.diagnosis.gcloud",
    "a2a_hub.identity.google_auth",
    "a2a_hub.a2a.extensions.development_tool",
    "a2a_hub.a2a.extensions.methods",
    "a2a_hub.a2a.extensions.schema_json",
)
_FOR_AGENTS = ("a2a_hub.agents", "a2a_hub.gemini")
_TO_REACH_AN_AGENT = ("functions.hub.downstream.remote_agent", "a2a_hub.a2a.client")
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


@pytest.mark.parametrize("module", [*_FOR_A_SETTING, *_FOR_A_REQUEST, *_FOR_AGENTS])
def test_a_hub_starts_without_what_is_needed_later_or_not_at_all(module: str, loaded: set[str]) -> None:
    assert "functions.hub.app" in loaded
    assert module not in loaded


def test_a_hub_loads_what_its_settings_need(tmp_path: Path) -> None:
    clients = tmp_path / "clients.toml"
    clients.write_text(f'[[clients]]\nname = "one"\ntoken_sha256 = "{"0" * 64}"\n')
    loaded = _loaded(
        TASK_STORE=f"sqlite:{tmp_path / 'tasks.db'}",
        CLIENTS_FILE=str(clients),
        ID_TOKEN_CALLERS="job@project.iam.gserviceaccount.com",
        WEBHOOK_PUBLIC_KEYS=_PEM,
    )
    assert set(_FOR_A_SETTING) <= loaded
    assert not loaded.intersection(_FOR_A_REQUEST)


def test_only_a_hub_with_an_agent_elsewhere_loads_what_reaches_agents(loaded: set[str]) -> None:
    assert loaded.issuperset(_TO_REACH_AN_AGENT)
    assert not _loaded("bench.subjects.constant_hub").intersection(_TO_REACH_AN_AGENT)
    nowhere = dict.fromkeys(("EXPENSE_URL", "PM_URL", "DOCQA_URL", "GENERAL_URL"), "")
    assert not _loaded(**nowhere).intersection(_TO_REACH_AN_AGENT)
