"""The console's files: both languages say the same, and the script stays small and free of strings that become HTML."""

import json
import re
from pathlib import Path

import pytest

STATIC = Path(__file__).parents[2] / "functions" / "console" / "static"
SCRIPTS = sorted(STATIC.glob("*.js"))
TEXTS = {path.stem: json.loads(path.read_text("utf-8")) for path in STATIC.glob("??.json")}
_VALUE = re.compile(r"\{\w+\}")


def test_both_languages_have_the_same_texts_with_the_same_values() -> None:
    assert TEXTS.keys() == {"en", "ja"}
    english, japanese = TEXTS["en"], TEXTS["ja"]
    assert list(english) == list(japanese)
    for key, text in english.items():
        assert sorted(_VALUE.findall(text)) == sorted(_VALUE.findall(japanese[key])), key


def test_every_text_that_the_pages_name_is_there() -> None:
    sources = "".join(path.read_text("utf-8") for path in (*SCRIPTS, *STATIC.glob("*.html")))
    spaces = {key.partition(".")[0] for key in TEXTS["en"]}
    named = {key for key in re.findall(r'"([a-z_]+\.[a-z_]+)"', sources) if key.partition(".")[0] in spaces}
    named |= set(re.findall(r'\b(?:say|button)\("([a-z_.]+)"', sources))
    assert len(named) > 40
    assert named <= TEXTS["en"].keys()


def test_the_script_has_at_most_60_kilobytes() -> None:
    assert sum(path.stat().st_size for path in SCRIPTS) <= 60_000


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_script_makes_html_of_a_string(path: Path) -> None:
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(|new Function", path.read_text("utf-8")
    )
