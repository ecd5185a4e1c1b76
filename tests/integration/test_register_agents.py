"""What `hubctl register` lists and deletes."""

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from hubctl.main import main
from tests.integration.registrations import Registrations, registrations

AUTHORIZATION = "projects/123456789012/locations/global/authorizations/a2a-hub"


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Registrations]:
    with registrations(tmp_path) as each:
        yield each


def test_agents_are_listed_as_text_and_as_json(there: Registrations) -> None:
    agent = there.registered()
    status, told = there.hubctl("list")
    id_ = agent.name.rpartition("/")[2]
    assert (status, told.splitlines()[0]) == (
        0,
        f"{id_}  A2A hub  https://hub.example.com  shared, streaming",
    )
    assert told.splitlines()[-1] == "1 agent in the app hub-app"
    (row,) = json.loads(there.hubctl("list", "--json")[1])
    assert row == {
        "id": id_,
        "name": agent.name,
        "displayName": "A2A hub",
        "url": "https://hub.example.com",
        "streaming": True,
        "shared": True,
        "authorization": AUTHORIZATION,
    }


def test_an_agent_is_deleted_when_its_operation_is_done(there: Registrations) -> None:
    agent = there.registered()
    dry = there.hubctl("delete", "--dry-run")
    assert (dry[0], len(there.world.agents)) == (0, 1)
    assert "DELETE " in dry[1]
    status, told = there.hubctl("delete")
    assert (status, there.world.agents) == (0, {})
    assert f"agent {agent.name}: deleted; its authorization {AUTHORIZATION} is kept" in told
    assert "nothing to delete" in there.hubctl("delete")[1]


def test_an_agent_is_deleted_by_its_id(there: Registrations) -> None:
    agent = there.registered()
    assert there.hubctl("delete", agent.name.rpartition("/")[2])[0] == 0
    assert not there.world.agents


@pytest.mark.parametrize("action", ["delete", "doctor"])
def test_an_agent_is_named_by_the_address_of_its_hub_or_by_its_id(
    action: str, capsys: pytest.CaptureFixture[str]
) -> None:
    environment = {"GOOGLE_ENDPOINT": "http://127.0.0.1:9/{host}", "CLOUDSDK_AUTH_ACCESS_TOKEN": "operator"}
    arguments = ["register", action, "--project", "demo", "--app", "hub-app"]
    assert main(arguments, environment=environment, out=io.StringIO()) == 2
    assert "which agent? Give --url https://HUB, or its id" in capsys.readouterr().err
