"""Every kind of boundary has a row and a section in docs/boundaries.md, and is named in the head of routes.toml."""

import re
from pathlib import Path

import pytest

from a2a_hub.boundaries.kinds import KINDS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/boundaries.md").read_text(encoding="utf-8")
HEAD = (ROOT / "routes.toml").read_text(encoding="utf-8").partition("[hub]")[0]


def test_the_table_of_boundaries_has_the_kinds_of_the_registry() -> None:
    rows = re.findall(r"^\| \[`(\w+)`\]\(#(\w+)\) \|", PAGE, re.MULTILINE)
    assert sorted(rows) == sorted((kind, kind) for kind in KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_a_section_with_the_line_of_its_route(kind: str) -> None:
    section = PAGE.partition(f"\n## {kind}\n")[2].partition("\n## ")[0]
    assert f'boundary = "{kind}"' in section


def test_the_head_of_the_route_table_names_each_kind_with_its_credential() -> None:
    paragraph = HEAD.partition("#   boundary ")[2].partition("docs/boundaries.md")[0]
    assert set(re.findall(r"(\w+) \(", paragraph)) == KINDS.keys()
