"""docs/glossary.md: every module that it names exists, and every link to it finds its term."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def entries() -> dict[str, str]:
    """The text of each term, by the anchor that GitHub gives its heading."""
    parts = re.split(r"^### (.+)\n", GLOSSARY.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {_anchor(term): text for term, text in zip(parts[1::2], parts[2::2], strict=True)}


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("term", entries())
def test_a_term_names_its_source_and_modules_that_exist(term: str) -> None:
    text = " ".join(entries()[term].split())
    assert "*From*: " in text
    _, _, modules = text.partition("*Module*: ")
    named = re.findall(r"`([^`]+)`", modules)
    assert named
    assert [module for module in named if not (ROOT / module).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_link_to_the_glossary_finds_its_term(page: Path) -> None:
    linked = re.findall(r"glossary\.md#([\w-]+)\)", page.read_text(encoding="utf-8"))
    assert [anchor for anchor in linked if anchor not in entries()] == []


def test_the_terms_are_read_and_people_are_led_to_them() -> None:
    assert len(entries()) >= 40
    assert "glossary.md#" in (ROOT / "README.md").read_text(encoding="utf-8")
