"""TOML documents: those that are nested too deeply are wrong as any other, with their line."""

import tomllib

import pytest

from a2a_hub.toml.checked_table import syntax_problem
from a2a_hub.toml.document import parse


def _key(names: int) -> str:
    return ".".join(["a"] * names)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = 1\nb = " + "[" * 100_000, 2),
        ("a = 1\nb = [\n" + "[" * 51 + "]" * 51 + "]", 3),
        ("a = " + "{b=" * 60 + "1" + "}" * 60, 1),
        (f'b = "[[["\n\n{_key(5_000)} = 1', 3),
        (f"[{_key(60)}]\nb = 1", 1),
        (f"# none\n[b]\n[{_key(30)}]\nb = " + "[" * 30 + "]" * 30, 1),
    ],
    ids=["unclosed lists", "lists", "tables", "a key", "a header", "a header and lists"],
)
def test_what_is_nested_too_deeply_is_no_toml_of_ours_and_has_a_line(text: str, line: int) -> None:
    with pytest.raises(ValueError, match="More than 50 tables and lists in one another") as error:
        parse(text)
    problem = syntax_problem(text, error.value)
    assert problem.line == line
    assert problem.message.endswith("is a bracket repeated?")


@pytest.mark.parametrize("text", ["", "a = " + "[" * 40 + "1" + "]" * 40, f"{_key(40)} = 1", "[[a]]\nb = {c = [1]}"])
def test_any_other_document_is_what_toml_says(text: str) -> None:
    assert parse(text) == tomllib.loads(text)
