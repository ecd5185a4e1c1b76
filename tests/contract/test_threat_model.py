"""docs/threat-model.md: every threat has its tests, and every test that it names exists."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_TEST = re.compile(r"`(test_\w+)`")


def rows() -> Iterator[tuple[str, list[str]]]:
    """Each threat of the table, with the names of its tests; headings within the table are no threats."""
    for line in (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 3 and cells[0] != "threat" and not cells[0].startswith("**"):
            yield cells[0], _TEST.findall(cells[2])


@cache
def known_tests() -> set[str]:
    """The name of every test function."""
    return {
        node.name
        for file in (ROOT / "tests").rglob("test_*.py")
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


@pytest.mark.parametrize(("threat", "tests"), list(rows()), ids=lambda value: value if isinstance(value, str) else "")
def test_a_threat_has_tests_and_they_exist(threat: str, tests: list[str]) -> None:
    assert tests, threat
    assert set(tests) <= known_tests()


def test_the_table_is_read() -> None:
    assert len(list(rows())) >= 25
    assert "test_the_table_is_read" in known_tests()
    assert "test_that_nobody_wrote" not in known_tests()
