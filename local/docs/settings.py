"""The settings that the functions read, by their code; and where the documentation explains them."""

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from a2a_hub.agents import settings
from a2a_hub.settings.reader import SettingsError
from a2a_hub.telemetry import start as telemetry
from functions.agent_card import config as agent_card
from functions.console import config as console
from functions.devtool import config as devtool
from functions.docqa import config as docqa
from functions.gate import config as gate
from functions.hub import config as hub
from functions.tasks import config as tasks

READERS: Mapping[str, Callable[[Mapping[str, str]], object]] = {
    "agent": settings.read,
    "agent_card": agent_card.read,
    "console": console.read,
    "devtool": devtool.read,
    "docqa": docqa.read,
    "gate": gate.read,
    "hub": hub.read,
    "tasks": tasks.read,
    "telemetry": telemetry.read,
}
# With these on, nothing is left out because of what it belongs to.
_EVERYTHING_ON = {
    "TASK_STORE": "firestore",
    "OTEL_EXPORTER_OTLP_ENDPOINT": "https://collector.example.com",
    "WAKEUPS": "hcs,pubsub",
    "WEBHOOK_PUBLIC_KEYS": "none",
    "WEBHOOK_SIGNING_KEY": "none",
    "DEVTOOL_MODEL": "gemini",
    "MODEL_ARMOR_TEMPLATE": "projects/p/locations/l/templates/t",
    "MCP_MODEL": "gemini",
    "ANSWER_MODEL": "gemini",
    "EMBEDDING_MODEL": "embedder",
    "DISCOVERY_ENGINE_DATA_STORE": "documents",
}
# Models are on Vertex AI, or behind an address.
_ADDRESSES = {f"{name}_URL": "https://models.example.com/v1" for name in _EVERYTHING_ON if name.endswith("_MODEL")}
# The platform's own, and what stands in for it over the local cloud.
OF_THE_PLATFORM = {"PATH", "PORT", "K_SERVICE", "SERVICE_NAME"}
NAME = re.compile(r"`([A-Z][A-Z0-9_]+)(?:=[^`]*)?`")
_TABLE = re.compile(r"^\| setting\b.*\n\|[-| ]+\n((?:\|.*\n)+)", re.MULTILINE)


class _Environment(dict[str, str]):
    """Notes which settings are read."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        super().__init__(settings)
        self.names: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        self.names.add(name)
        return super().get(name, default)


def read_by(function: str) -> set[str]:
    """Return the names of the settings that `function` reads, without the platform's."""
    names: set[str] = set()
    for values in (_EVERYTHING_ON, _EVERYTHING_ON | _ADDRESSES):
        environment = _Environment(values)
        with contextlib.suppress(SettingsError):
            READERS[function](environment)
        names |= environment.names
    return names - OF_THE_PLATFORM


def rows(page: Path) -> Iterator[tuple[list[str], str]]:
    """Yield the names, and the meaning, of each row in the tables of settings."""
    for table in _TABLE.findall(page.read_text(encoding="utf-8")):
        for row in table.splitlines():
            first, _, meaning = row.strip("| ").partition(" | ")
            yield NAME.findall(first), meaning
