"""What the development agent tells its operator of folders and programs."""

import shutil
from pathlib import Path

import pytest

from a2a_hub.diagnosis.report import Outcome, Step
from functions.devtool import config
from functions.devtool.config import examine
from functions.devtool.programs import isolating_prefix

CLOSED = {"TASK_STORE": "sqlite:tasks.db", "ALLOW_ANONYMOUS": "true", "ANONYMOUS_SUBJECT": "hub"}


def steps(**settings: object) -> list[Step]:
    return list(examine(config.read(CLOSED | {name: str(value) for name, value in settings.items()})))


def told(step: Step) -> tuple[str, Outcome]:
    return step.check, step.outcome


def test_an_agent_that_nobody_configured_says_that_it_may_do_nothing() -> None:
    workspaces, commands = steps()
    assert told(workspaces) == ("workspaces", Outcome.WARNING)
    assert "DEVTOOL_WORKSPACES" in (workspaces.fix or "")
    assert told(commands) == ("commands", Outcome.SKIPPED)


def test_an_agent_with_a_folder_and_programs_is_well(tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("#!/bin/sh\n")
    (tmp_path / "tool").chmod(0o755)
    found = steps(
        PATH=tmp_path,
        DEVTOOL_WORKSPACES=tmp_path,
        DEVTOOL_DEFAULT_WORKSPACE=tmp_path,
        DEVTOOL_COMMANDS="tool",
    )
    isolation = Outcome.OK if isolating_prefix() else Outcome.WARNING
    assert [told(step) for step in found] == [
        ("workspaces", Outcome.OK),
        ("commands", Outcome.OK),
        ("isolation", isolation),
    ]
    assert str(tmp_path) not in str(found)


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    _, commands, _ = steps(PATH=tmp_path, DEVTOOL_COMMANDS="no-such-program")
    assert told(commands) == ("commands", Outcome.WARNING)
    assert "no-such-program" in commands.message


def test_a_folder_that_is_there_no_more_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    settings = config.read(CLOSED | dict.fromkeys(("DEVTOOL_WORKSPACES", "DEVTOOL_DEFAULT_WORKSPACE"), str(folder)))
    shutil.rmtree(folder)
    workspaces, _ = examine(settings)
    assert told(workspaces) == ("workspaces", Outcome.ERROR)


@pytest.mark.parametrize("default", [False, True])
def test_people_in_a_text_field_need_a_workspace_that_nobody_names(tmp_path: Path, default: bool) -> None:
    (workspaces, _) = (
        steps(DEVTOOL_WORKSPACES=tmp_path, DEVTOOL_DEFAULT_WORKSPACE=tmp_path)
        if default
        else steps(DEVTOOL_WORKSPACES=tmp_path)
    )
    assert workspaces.outcome is (Outcome.OK if default else Outcome.WARNING)
