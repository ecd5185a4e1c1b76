"""docs/architecture.md and CONTRIBUTING.md: every path that they name exists, and no package is missing from the map."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ARCHITECTURE = ROOT / "docs" / "architecture.md"
_PATH = re.compile(r"`((?:shared|functions|hubctl|deploy|gateway|local|workers|tests|docs|bench)/[\w./-]*)`")


@pytest.mark.parametrize("page", ["docs/architecture.md", "docs/agents.md", "CONTRIBUTING.md"])
def test_every_path_that_is_named_exists(page: str) -> None:
    named = _PATH.findall((ROOT / page).read_text(encoding="utf-8"))
    assert named
    # The agent that its readers write.
    assert [path for path in named if not (ROOT / path).exists() and path != "functions/travel/main.py"] == []


@pytest.mark.parametrize("folder", ["functions", "shared/a2a_hub"])
def test_the_map_has_every_package(folder: str) -> None:
    text = ARCHITECTURE.read_text(encoding="utf-8")
    packages = [init.parent.relative_to(ROOT).as_posix() for init in (ROOT / folder).glob("*/__init__.py")]
    assert packages
    assert [package for package in packages if f"`{package}`" not in text] == []
