"""A hub starts without heavy packages that its settings do not ask for, and answers first without what follow-ups need."""

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


_ASK_ONCE = """
import json, os
from a2a_hub.http.messages import Request
from a2a_hub.text import follow_up
from functions.hub import config
from functions.hub.app import build

message = {"role": "ROLE_USER", "messageId": "1", "parts": [{"text": "What is the height of Mount Fuji?"}]}
call = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
headers = {"authorization": "Bearer token", "content-type": "application/json"}
asked = Request(method="POST", path="/", headers=headers, read_body=lambda _: json.dumps(call).encode())
assert build(config.read(os.environ))(asked).status == 200
caches = {name: each for name, each in vars(follow_up).items() if hasattr(each, "cache_info")}
assert caches
print(json.dumps([name for name, each in caches.items() if each.cache_info().currsize]))
"""


def _printed(program: str, **settings: str) -> set[str]:
    path = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    process = subprocess.run(
        [sys.executable, "-c", program],
        env=path | _SETTINGS | settings,
        capture_output=True,
        check=True,
        text=True,
    )
    return set(json.loads(process.stdout.splitlines()[-1]))


def _loaded(program: str = "functions.hub.main", **settings: str) -> set[str]:
    return _printed(f"import json, sys; import {program}; print(json.dumps(sorted(sys.modules)))", **settings)


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


def test_the_first_question_waits_for_no_expression_about_follow_ups() -> None:
    assert not _printed(_ASK_ONCE, IAM_CREDENTIALS="none")
