"""docs/architecture.md and CONTRIBUTING.md: every path that they name exists, and the map lacks no package and no state."""

import re
from pathlib import Path

import pytest

from a2a_hub.a2a.live_turn import LiveTurn, TurnState
from a2a_hub.a2a.model import SendMessageConfiguration
from tests.fakes.task_instance import a_call, a_request

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


def test_the_diagram_of_a_turn_has_every_change_of_its_state_and_no_other() -> None:
    _, _, diagram = ARCHITECTURE.read_text(encoding="utf-8").partition("stateDiagram-v2")
    drawn = set(re.findall(r"^ +(\w+) --> (\w+)", diagram.partition("```")[0], re.MULTILINE))
    assert drawn == {(old, new) for old in TurnState for new in TurnState if _may_change(old, new)}


def _may_change(old: TurnState, new: TurnState) -> bool:
    turn = LiveTurn(a_request("hello", SendMessageConfiguration()), a_call())
    turn.state = old
    return turn.enter(new)
