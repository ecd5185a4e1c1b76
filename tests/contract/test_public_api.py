"""docs/api.md lists exactly the public names of the modules, and all that the tutorial's agent needs."""

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROWS = re.findall(r"^\| `(a2a_hub[\w.]+)` \| (.+?) \|", (ROOT / "docs" / "api.md").read_text(), re.MULTILINE)
LISTED = {module: re.findall(r"`(\w+)`", names) for module, names in ROWS}


@pytest.mark.parametrize("name", LISTED)
def test_the_page_lists_the_names_that_a_public_module_declares(name: str) -> None:
    module = importlib.import_module(name)
    assert sorted(LISTED[name]) == sorted(module.__all__)
    assert all(hasattr(module, each) for each in module.__all__)


def test_the_agent_of_the_tutorial_needs_nothing_private() -> None:
    [program] = re.findall(r"```python\n(.*?)```", (ROOT / "docs/tutorial.md").read_text(), re.DOTALL)
    for node in ast.walk(ast.parse(program)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("a2a_hub"):
            for alias in node.names:
                assert alias.name in LISTED.get(node.module or "", ()) or f"{node.module}.{alias.name}" in LISTED
