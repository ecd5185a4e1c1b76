"""The README and the pages that it leads to: what people are told to write does what is said, and every link leads somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from werkzeug.test import Client

ROOT = Path(__file__).parents[2]
PAGES = (
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "functions/docqa/vocabulary/terms/README.md",
)


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


def test_the_agent_of_the_readme_has_the_form_that_make_check_wants() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    # The rules differ by folder, and ruff goes by the name that it is told.
    for words in (["check"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *words, "--stdin-filename", "functions/travel/main.py", "-"]
        done = subprocess.run(command, cwd=ROOT, input=code, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        there = page.parent / path if path else page
        assert there.exists(), link
        assert not anchor or anchor in _anchors(there), link


def test_every_page_is_found_from_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = [page.name for page in (ROOT / "docs").glob("*.md")]
    assert [name for name in pages if f"(docs/{name}" not in readme] == []


def _anchors(page: Path) -> set[str]:
    """As GitHub makes them from headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
