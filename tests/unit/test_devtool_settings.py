"""The development agent's settings: closed where nothing is said, and a wrong one stops the start."""

from pathlib import Path

import pytest

from a2a_hub.settings.reader import SettingsError
from functions.devtool.config import Config, read


def settings(folder: Path, **given: str) -> Config:
    needed = {
        "TASK_STORE": f"sqlite:{folder / 'tasks.db'}",
        "ALLOW_ANONYMOUS": "true",
        "ANONYMOUS_SUBJECT": "hub",
        "PORT": "1",
    }
    return read(needed | given)


def test_without_settings_nothing_is_open_and_nothing_runs(tmp_path: Path) -> None:
    config = settings(tmp_path)
    assert config.workspaces == ()
    assert config.default_workspace is None
    assert config.commands == frozenset()
    assert config.model is None


def test_folders_are_known_by_where_their_links_lead(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    config = settings(tmp_path, DEVTOOL_WORKSPACES=f"{tmp_path}/link", DEVTOOL_DEFAULT_WORKSPACE=f"{tmp_path}/real")
    assert config.workspaces == (tmp_path / "real",)
    assert config.default_workspace == tmp_path / "real"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"TASK_STORE": "none"}, "TASK_STORE must be set"),
        ({"ALLOW_ANONYMOUS": "false"}, "ALLOW_ANONYMOUS is not true"),
        ({"ANONYMOUS_SUBJECT": ""}, "ANONYMOUS_SUBJECT must name"),
        ({"DEVTOOL_WORKSPACES": "relative"}, "DEVTOOL_WORKSPACES must name existing folders"),
        ({"DEVTOOL_WORKSPACES": "{folder}/nothing"}, "DEVTOOL_WORKSPACES must name existing folders"),
        ({"DEVTOOL_WORKSPACES": "/"}, "DEVTOOL_WORKSPACES must not name the root"),
        ({"DEVTOOL_DEFAULT_WORKSPACE": "{folder}"}, "DEVTOOL_DEFAULT_WORKSPACE must lie in"),
        ({"DEVTOOL_COMMANDS": "ls,/bin/sh"}, "DEVTOOL_COMMANDS must list names"),
        ({"DEVTOOL_COMMANDS": "git status"}, "DEVTOOL_COMMANDS must list names"),
        ({"DEVTOOL_COMMANDS": "cat", "DEVTOOL_WORKSPACE_PER_PERSON": "true"}, "DEVTOOL_COMMANDS must be empty with"),
        ({"DEVTOOL_COMMAND_SECONDS": "0"}, "DEVTOOL_COMMAND_SECONDS must be a number"),
    ],
)
def test_a_wrong_setting_is_told_by_its_name(tmp_path: Path, given: dict[str, str], told: str) -> None:
    with pytest.raises(SettingsError) as wrong:
        settings(tmp_path, **{name: value.format(folder=tmp_path) for name, value in given.items()})
    assert told in str(wrong.value)
