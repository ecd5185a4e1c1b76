"""TOML documents: those that are nested too deeply are wrong as any other, with their line."""

import pytest

from a2a_hub.toml.checked_table import syntax_problem
from a2a_hub.toml.document import parse


@pytest.mark.parametrize("nested", ["[" * 100_000, "{b=" * 10_000 + "1" + "}" * 10_000], ids=["lists", "tables"])
def test_what_is_nested_too_deeply_is_no_toml_of_ours_and_has_a_line(nested: str) -> None:
    text = "a = 1\nb = " + nested
    with pytest.raises(ValueError, match="Too many tables and lists in one another") as error:
        parse(text)
    problem = syntax_problem(text, error.value)
    assert problem.line == 2
    assert problem.message.endswith("one another: is a bracket repeated?")
