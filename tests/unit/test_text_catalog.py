"""Every text for people that is named in the code has its table in both languages, and every table is named."""

import re
from pathlib import Path

import pytest

from a2a_hub.a2a.extensions.tool_confirmation import TOOL_TEXTS
from a2a_hub.agents.function import AGENT_TEXTS
from a2a_hub.text.catalog import Catalog, tables_of
from a2a_hub.text.language import Language
from functions.devtool.texts import DEVTOOL_TEXTS
from functions.hub.commands.texts import COMMAND_TEXTS
from functions.hub.texts import HUB_TEXTS
from functions.tasks.workers.leasing import WORK_TEXTS

_CATALOGS = {
    "AGENT_TEXTS": AGENT_TEXTS,
    "COMMAND_TEXTS": COMMAND_TEXTS,
    "DEVTOOL_TEXTS": DEVTOOL_TEXTS,
    "HUB_TEXTS": HUB_TEXTS,
    "TOOL_TEXTS": TOOL_TEXTS,
    "WORK_TEXTS": WORK_TEXTS,
}
_ROOT = Path(__file__).parents[2]
_CODE = "".join(file.read_text("utf-8") for name in ("shared", "functions") for file in (_ROOT / name).rglob("*.py"))


@pytest.mark.parametrize("name", _CATALOGS)
def test_every_text_has_both_languages(name: str) -> None:
    for table in tables_of(_CATALOGS[name].file).values():
        assert all(table.values())
        assert table.keys() == set(Language)


@pytest.mark.parametrize("name", _CATALOGS)
def test_the_code_names_the_tables_and_no_others(name: str) -> None:
    named = set(re.findall(rf"\b{name}\.(\w+)", _CODE)) - set(vars(Catalog))
    assert named == {table for table in tables_of(_CATALOGS[name].file) if "." not in table} - {"examples"}


@pytest.mark.parametrize("name", _CATALOGS)
def test_the_code_names_the_groups_of_tables_and_no_others(name: str) -> None:
    named = set(re.findall(rf"\b{name}\[f?\"(\w+)\.", _CODE))
    assert named == {table.split(".")[0] for table in tables_of(_CATALOGS[name].file) if "." in table}
