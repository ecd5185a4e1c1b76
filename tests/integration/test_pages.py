"""The pages: what people are told to write does what is said, and every failure that they may see is explained."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from werkzeug.test import Client

from a2a_hub.text.language import Language
from functions.hub import texts
from local.docs import links

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/tutorial.md"


def test_the_agent_of_the_tutorial_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
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


def test_the_agent_of_the_tutorial_has_the_form_that_make_check_wants() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    # The rules differ by folder, and ruff goes by the name that it is told.
    for words in (["check"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *words, "--stdin-filename", "functions/travel/main.py", "-"]
        done = subprocess.run(command, cwd=ROOT, input=code, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_text_of_a_failure_is_among_the_symptoms() -> None:
    symptoms = (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8")
    shown = [text[Language.EN].format(agent="…", seconds="…", fields="…", last="…") for text in texts._WHAT.values()]
    assert [text for text in shown if f"| {text} |" not in symptoms] == []


def test_a_link_or_an_anchor_that_leads_nowhere_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "mkdocs.yml").write_text("nav:\n  - docs/listed.md\n")
    (tmp_path / "docs/listed.md").write_text(
        "# A title\n[here](#a-title) [web](https://example.com) [no](#other) [gone](x.md)\n"
    )
    (tmp_path / "docs/unlisted.md").write_text("[there](listed.md#a-title)")
    monkeypatch.setattr(links, "ROOT", tmp_path)
    assert list(links.problems()) == [
        "docs/listed.md: #other: there is no such heading",
        "docs/listed.md: x.md: there is no such file",
        "docs/unlisted.md: it is missing in the navigation of mkdocs.yml",
    ]
