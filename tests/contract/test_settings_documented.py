"""Every setting that a function reads is in the documentation, and every one that is in its tables is read."""

import contextlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.agents import settings
from a2a_hub.routing.parser import unset_variables
from a2a_hub.settings.reader import SettingsError
from deploy.config_checks import documented_settings
from deploy.config_reader import SET_BY_DEPLOYMENT
from functions.agent_card import config as agent_card
from functions.devtool import config as devtool
from functions.docqa import config as docqa
from functions.gate import config as gate
from functions.general import config as general
from functions.hub import config as hub
from functions.tasks import config as tasks

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))
READERS: Mapping[str, Callable[[Mapping[str, str]], object]] = {
    "agent": settings.read,
    "agent_card": agent_card.read,
    "devtool": devtool.read,
    "docqa": docqa.read,
    "gate": gate.read,
    "general": general.read,
    "hub": hub.read,
    "tasks": tasks.read,
}
# With these on, nothing is left out because of what it belongs to.
EVERYTHING_ON = {
    "TASK_STORE": "firestore",
    "WEBHOOK_PUBLIC_KEYS": "none",
    "WEBHOOK_SIGNING_KEY": "none",
    "DEVTOOL_MODEL": "gemini",
    "GENERAL_MODEL": "gemini",
    "PHRASE_MODEL": "gemini",
    "SELECT_MODEL": "gemini",
    "DISCOVERY_ENGINE_DATA_STORE": "documents",
}
# The platform's own, and what stands in for it over the local cloud.
OF_THE_PLATFORM = {"PATH", "PORT", "K_SERVICE", "SERVICE_NAME"}
NAME = re.compile(r"`([A-Z][A-Z0-9_]+)(?:=[^`]*)?`")


class Environment(dict[str, str]):
    """Notes what is asked for."""

    def __init__(self) -> None:
        super().__init__(EVERYTHING_ON)
        self.asked: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        self.asked.add(name)
        return super().get(name, default)


def read_by(read: Callable[[Mapping[str, str]], object]) -> set[str]:
    environment = Environment()
    with contextlib.suppress(SettingsError):
        read(environment)
    return environment.asked


def in_tables(page: Path) -> set[str]:
    """The names in the first column of the tables of settings."""
    rows = re.findall(r"^\| setting\b.*\n\|[-| ]+\n((?:\|.*\n)+)", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {name for table in rows for row in table.splitlines() for name in NAME.findall(row.split("|")[1])}


@pytest.mark.parametrize("function", READERS)
def test_every_setting_is_documented(function: str) -> None:
    told = {name for page in PAGES for name in NAME.findall(page.read_text(encoding="utf-8"))}
    assert read_by(READERS[function]) - OF_THE_PLATFORM - told == set()


def test_deploy_toml_knows_every_setting_that_is_read() -> None:
    read = set().union(*map(read_by, READERS.values()))
    of_the_routes = set(unset_variables((ROOT / "routes.toml").read_text(encoding="utf-8"), {}))
    assert read - OF_THE_PLATFORM - of_the_routes - SET_BY_DEPLOYMENT.keys() <= documented_settings()


def test_every_documented_setting_is_read() -> None:
    told = set().union(*map(in_tables, PAGES))
    assert len(told) > 60
    assert told - set().union(*map(read_by, READERS.values())) == set()
