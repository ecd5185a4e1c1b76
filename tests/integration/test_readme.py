"""What the README tells people to write does what it says."""

import re
from pathlib import Path

import pytest
from werkzeug.test import Client

ROOT = Path(__file__).parents[2]


def test_the_agent_of_the_readme_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.setenv("PUBLIC_URL", "https://travel.example.com")
    written: dict[str, object] = {}
    exec(code, written)
    travel = written["travel"]
    assert callable(travel)
    client = Client(travel(None))
    message = {
        "kind": "message",
        "messageId": "1",
        "role": "user",
        "parts": [{"kind": "text", "text": "大阪へ"}],
    }
    asked = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
    answered = client.post("/", json=asked).get_json()
    assert answered["result"]["parts"][0]["text"] == "Where to? You said: 大阪へ"
    card = client.get("/.well-known/agent-card.json").get_json()
    assert (card["name"], card["url"]) == ("Travel desk", "https://travel.example.com")
