"""Every text for people that is named in the code has its table in both languages, and every table is named."""

from types import ModuleType

import pytest

from a2a_hub.a2a.extensions import tool_confirmation
from a2a_hub.text.catalog import Text, tables_of
from a2a_hub.text.language import Language
from functions.devtool import texts as devtool_texts
from functions.hub import texts as hub_texts
from functions.hub.commands import texts as command_texts


@pytest.mark.parametrize("module", [devtool_texts, hub_texts, command_texts, tool_confirmation])
def test_every_text_has_its_table_in_both_languages(module: ModuleType) -> None:
    texts = [value for value in vars(module).values() if isinstance(value, Text)]
    assert texts
    for text in texts:
        assert all(text.values())
        assert text.keys() == set(Language)


@pytest.mark.parametrize("module", [devtool_texts, hub_texts, command_texts, tool_confirmation])
def test_every_table_is_named_in_the_code(module: ModuleType) -> None:
    file = next(value._file for value in vars(module).values() if isinstance(value, Text))
    named = {value.table for value in vars(module).values() if isinstance(value, Text)}
    assert {name for name in tables_of(file) if "." not in name} - {"examples"} <= named
