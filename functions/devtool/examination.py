"""The examination of the agent's workspaces and programs."""

import os
import shutil
from collections.abc import Iterator

from a2a_hub.diagnosis.report import Step, error, ok, skipped, warning
from functions.devtool.config import Config

_WORKSPACES, _COMMANDS = "workspaces", "commands"
_WHERE = "DEVTOOL_WORKSPACES, or workspace_bucket of [functions.devtool] in deploy.toml"


def examine(config: Config, *, path: str | None = None) -> Iterator[Step]:
    """Yield a step for the folders and one for the programs, which are searched in `path`, or in this process's PATH."""
    yield _workspaces(config)
    yield _commands(config, path)


def _workspaces(config: Config) -> Step:
    folders = config.workspaces
    if not folders:
        return warning(_WORKSPACES, "no folder is allowed: there is nothing to work on", fix=f"name one: {_WHERE}")
    if gone := sum(not folder.is_dir() for folder in folders):
        return error(_WORKSPACES, f"{gone} of {len(folders)} folders are not there any more", fix="make them again")
    if unwritable := sum(not os.access(folder, os.W_OK | os.X_OK) for folder in folders):
        return warning(
            _WORKSPACES,
            f"in {unwritable} of {len(folders)} folders nothing can be written",
            fix="let the user that this function runs as write there, if files are to be changed",
        )
    if config.default_workspace is None:
        return warning(
            _WORKSPACES,
            "callers who name no workspace, such as people in a text field, have none to work on",
            fix="name one in DEVTOOL_DEFAULT_WORKSPACE",
        )
    return ok(_WORKSPACES, "1 folder" if len(folders) == 1 else f"{len(folders)} folders")


def _commands(config: Config, path: str | None) -> Step:
    if not config.commands:
        return skipped(_COMMANDS, "no program may be run")
    missing = sorted(name for name in config.commands if shutil.which(name, path=path) is None)
    if missing:
        return warning(
            _COMMANDS,
            f"allowed, but not on this machine: {', '.join(missing)}",
            fix="install them, or take them out of DEVTOOL_COMMANDS",
        )
    return ok(_COMMANDS, f"{', '.join(sorted(config.commands))} may be run, each call after a confirmation")
