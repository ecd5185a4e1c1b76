"""The outputs in docs/gemini-enterprise.md are those of the commands."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.gemini_enterprise.world import OAuthClient
from tests.integration.registrations import Registrations, registrations
from tests.unit.test_hubctl_check import hubctl

DOCUMENT = (Path(__file__).parents[2] / "docs" / "gemini-enterprise.md").read_text(encoding="utf-8")
URL = "https://hub.example.com"


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Registrations]:
    with registrations(tmp_path) as each:
        each.world.clients["client-1"] = OAuthClient(id="client-1", secret="secret-1")
        each.environment |= {"OAUTH_CLIENT_ID": "client-1", "OAUTH_CLIENT_SECRET": "secret-1"}
        yield each


@pytest.fixture
def card() -> dict[str, Any]:
    value: dict[str, Any] = json.loads(hubctl("card", "--url", URL)[1])
    return value


def _block(first_words: str) -> str:
    """The block of output that begins with these words."""
    blocks = [block.partition("```")[0] for block in DOCUMENT.split("```text\n")[1:]]
    return next(block for block in blocks if block.startswith(first_words))


def test_a_registration_writes_what_stands_there(there: Registrations, card: dict[str, Any]) -> None:
    assert there.hubctl(card=card) == (0, _block("client client-1"))


def test_the_doctor_writes_what_stands_there(there: Registrations, card: dict[str, Any]) -> None:
    assert there.hubctl(card=card)[0] == 0
    there.world.clients["client-1"].secret = "rotated"
    status, told = hubctl(
        "register",
        "doctor",
        "--live-card",
        there.folder / "card.json",
        environment={**there.environment, "HUB_PUBLIC_URL": URL},
    )
    assert (status, told) == (1, _block("agent: "))


def test_a_check_writes_what_stands_there(
    tmp_path: Path, card: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    card |= {"schema_version": "v1", "defaultInputModes": ["text"]}
    del card["skills"][0]["tags"]
    (tmp_path / "agent.json").write_text(json.dumps(card))
    monkeypatch.chdir(tmp_path)
    assert hubctl("check", "--card", "agent.json") == (1, _block("error: $.skills"))
