"""Write docs/reference and the openapi.yaml of hub and gateway; `--check` fails if one of them is out of date."""

import contextlib
import importlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from a2a_hub.a2a.errors import KINDS
from a2a_hub.a2a.operations import OPERATIONS
from a2a_hub.agents import settings as agent_settings
from a2a_hub.settings.reader import SettingsError
from a2a_hub.telemetry import start as telemetry
from gateway import generate as gateway
from hubctl.main import commands
from local.docs import openapi
from local.docs.links import ROOT

_OF_FUNCTIONS = sorted(file.parent.name for file in ROOT.glob("functions/*/config.py"))
READERS: Mapping[str, Callable[[Mapping[str, str]], object]] = {
    "agent": agent_settings.read,
    **{name: importlib.import_module(f"functions.{name}.config").read for name in _OF_FUNCTIONS},
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


def settings() -> Iterator[str]:
    """Yield the lines of settings.md."""
    yield "# All settings\n\nGenerated from the code and the pages of the subjects by `make reference`."
    yield "\n| setting | read by | meaning | page |\n|---|---|---|---|"
    readers = {function: read_by(function) for function in READERS}
    lines = []
    for page in sorted({*(ROOT / "docs").glob("*.md")} - {ROOT / "docs/conformance.md"}):
        for names, meaning in rows(page):
            read = ", ".join(function for function, its in readers.items() if its.intersection(names)) or "—"
            # From one folder further down.
            moved = re.sub(r"\]\((?!\w+://|#)", "](../", meaning).replace("](#", f"](../{page.name}#")
            named = ", ".join(f"`{name}`" for name in names)
            lines.append(f"| {named} | {read} | {moved} | [{page.stem}](../{page.name}) |")
    yield from sorted(lines)


def protocol() -> Iterator[str]:
    """Yield the lines of protocol.md."""
    yield "# Operations and errors of A2A\n\nGenerated from the code by `make reference`. Names are those of A2A 1.0."
    yield "\n## Operations\n\n| JSON-RPC | HTTP+JSON | members of the request |\n|---|---|---|"
    for each in OPERATIONS:
        paths = ", ".join(f"`{rest.method} {rest.path}`" for rest in each.rest)
        members = ", ".join(f"`{field.encode_name}`" for field in msgspec.structs.fields(each.request))
        yield f"| `{each.name}`{' (stream)' if each.streaming else ''} | {paths} | {members} |"
    yield "\n## Errors\n\n| reason | JSON-RPC | HTTP | message |\n|---|---|---|---|"
    for kind in KINDS:
        yield f"| `{kind.reason}` | {kind.code} | {kind.http_status} `{kind.status}` | {kind.message} |"


def cli() -> Iterator[str]:
    """Yield the lines of cli.md."""
    yield "# hubctl\n\nGenerated from the program by `make reference`. `hubctl COMMAND --help` shows the same.\n"
    yield "Exit status: 0 if all is well, 1 if something was found wrong, 2 if the command cannot be carried out."
    for name, table in commands().items():
        yield from _command(f"hubctl {name}", table)


def _command(name: str, table: Mapping[str, Any]) -> Iterator[str]:
    yield f"\n## {name}\n\n{_sentence(table['help'])}"
    if "arguments" in table:
        yield "\n| argument | meaning |\n|---|---|"
    for argument, of in table.get("arguments", {}).items():
        bare = of.get("dest") or argument.removeprefix("--")
        value = of.get("metavar") or "|".join(of.get("choices", ())) or bare.upper()
        names = [argument] * argument.startswith("--") + [value] * (of.get("action") != "store_true")
        yield "| `{}` | {} |".format(*(text.replace("|", "\\|") for text in (" ".join(names), of.get("help", ""))))
    for action, each in table.get("actions", {}).items():
        yield from _command(f"{name} {action}", each)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith(".") else ".")


def main(arguments: list[str]) -> int:
    """Write the files, or compare them; return 1 if one is out of date."""
    status = 0
    pages = (("settings.md", settings()), ("cli.md", cli()), ("protocol.md", protocol()))
    texts = {f"docs/reference/{name}": "\n".join(lines) + "\n" for name, lines in pages}
    texts |= {"functions/hub/openapi.yaml": openapi.rendered(), "gateway/openapi.yaml": gateway.rendered()}
    texts["gateway/openapi-plain.yaml"] = gateway.rendered(plain=True)
    for name, text in texts.items():
        page = ROOT / name
        if "--check" not in arguments:
            page.write_text(text, encoding="utf-8")
        elif not page.exists() or page.read_text(encoding="utf-8") != text:
            print(f"{name} is out of date: run `make reference`")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
