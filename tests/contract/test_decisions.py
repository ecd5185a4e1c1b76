"""docs/decisions: the index has every decision, with its title and the sentence that it opens with."""

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "decisions"
_ROW = re.compile(r"^\| \[(.+)\]\((.+\.md)\) \| (.+) \|$", re.MULTILINE)
DECISIONS = sorted(page.name for page in FOLDER.glob("*.md") if page.name != "README.md")


@pytest.mark.parametrize("name", DECISIONS)
def test_a_decision_is_in_the_index_by_its_title_and_first_sentence(name: str) -> None:
    rows = {page: (title, sentence) for title, page, sentence in _ROW.findall(_text("README.md"))}
    first, blank, second, *_ = _text(name).splitlines()
    assert (first, blank, second) == (f"# {rows[name][0]}", "", rows[name][1])


def test_the_index_has_nothing_else() -> None:
    assert sorted(page for _, page, _ in _ROW.findall(_text("README.md"))) == DECISIONS


def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
