"""docqa as it runs, with a model that chooses: its own account asks, and what mends a refusal is said."""

import json
from pathlib import Path
from typing import Any

from tests.fakes.local_cloud import account
from tests.fakes.vertex import MODEL, PROJECT, vertex
from tests.integration.gates import function

RACK = "Bicycles are left in the rack behind the kitchen."
HOUSE = f"# House rules\n\n## Kitchen\n\n{RACK}\n"
QUESTION = "Is there a kitchen rack for a velocipede?"
HEADERS = {"content-type": "application/json", "a2a-version": "1.0"}


def test_the_function_chooses_as_its_own_account_and_says_what_mends_a_refusal(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "house.md").write_text(HOUSE)
    docqa = f"docqa@{PROJECT}.iam.gserviceaccount.com"
    with account(docqa, PROJECT) as metadata, vertex(metadata) as service:
        host = metadata.removeprefix("http://")
        settings = {
            "CORPUS_DIR": str(tmp_path / "corpus"),
            "SELECT_MODEL": MODEL,
            "GOOGLE_CLOUD_PROJECT": PROJECT,
            "VERTEX_AI_ENDPOINT": service.url,
            "GCE_METADATA_HOST": host,
            "GCE_METADATA_IP": host,
            "HOME": str(tmp_path),
        }
        with function("docqa", tmp_path, **settings) as running:
            refused = parts_of(running.ask(body=sent(), headers=HEADERS).body)
            service.change(grant=f"serviceAccount:{docqa}")
            chosen = parts_of(running.ask(body=sent(), headers=HEADERS).body)
            log = running.log.read_text()

    assert refused[0]["text"].startswith("I found no passage in the documents that answers this question")
    (hint,) = refused[1]["data"]["hints"]
    assert f"--member=serviceAccount:{docqa} --role=roles/aiplatform.user" in hint["remedy"]
    assert chosen[0]["text"] == f"{RACK} [1]"
    assert '"cause":"denied"' in log
    assert "velocipede" not in log


def sent() -> bytes:
    params = {
        "message": {
            "messageId": "m",
            "role": "ROLE_USER",
            "parts": [{"text": QUESTION}],
        },
        "configuration": {"acceptedOutputModes": ["text/plain", "application/json"]},
    }
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params}).encode()


def parts_of(body: bytes) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = json.loads(body)["result"]["message"]["parts"]
    return parts
