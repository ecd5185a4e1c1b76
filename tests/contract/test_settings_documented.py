"""Every setting that a function reads is in the documentation, and every one that is in its tables is read."""

from pathlib import Path

import pytest

from a2a_hub.routing.parser import unset_variables
from deploy.config_checks import documented_settings
from deploy.config_reader import set_by_deployment
from local.docs.reference import NAME, OF_THE_PLATFORM, READERS, read_by, rows

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("function", READERS)
def test_every_setting_is_documented(function: str) -> None:
    told = {name for page in PAGES for name in NAME.findall(page.read_text(encoding="utf-8"))}
    assert read_by(function) - told == set()


def test_deploy_toml_knows_every_setting_that_is_read() -> None:
    read = set().union(*map(read_by, READERS))
    of_the_routes = set(unset_variables((ROOT / "routes.toml").read_text(encoding="utf-8"), {}))
    assert read - of_the_routes - set_by_deployment().keys() <= documented_settings()


def test_every_documented_setting_is_read() -> None:
    told = {name for page in PAGES for names, _ in rows(page) for name in names}
    assert len(told) > 60
    assert told - OF_THE_PLATFORM - set().union(*map(read_by, READERS)) == set()
