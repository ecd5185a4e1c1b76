"""The settings of the development agent, which changes files and runs programs only as they allow, and their examination."""

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from a2a_hub.agents.settings import AgentSettings, read_agent
from a2a_hub.diagnosis.report import Step, ok, skipped
from a2a_hub.diagnosis.steps import steps_of
from a2a_hub.identity import settings as identity_settings
from a2a_hub.identity.principal import HUB
from a2a_hub.identity.settings import IdentitySettings
from a2a_hub.language_models.settings import ModelSettings, read_model
from a2a_hub.settings.reader import Settings
from a2a_hub.task_store import settings as store_settings
from a2a_hub.task_store.settings import StoreSettings
from a2a_hub.tasks import settings as task_settings
from a2a_hub.tasks.settings import TaskSettings
from functions.devtool.programs import isolating_prefix

_MODEL_SECONDS = 60.0
_DAY_SECONDS = 86_400
_STEPS = steps_of(Path(__file__).with_suffix(".toml"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The deployment of this function, and its permissions."""

    agent: AgentSettings
    identity: IdentitySettings
    store: StoreSettings
    tasks: TaskSettings
    workspaces: tuple[Path, ...]
    """The folders that contain all workspaces; empty allows none. `DEVTOOL_WORKSPACES`."""
    default_workspace: Path | None
    """The workspace of callers who name none. `DEVTOOL_DEFAULT_WORKSPACE`."""
    is_per_person: bool
    """True if each caller has a folder of their own in the default workspace, and no other. `DEVTOOL_WORKSPACE_PER_PERSON`."""
    is_on_google_cloud: bool
    commands: frozenset[str]
    """The programs that may run, each call after an approval; empty allows none. `DEVTOOL_COMMANDS`."""
    search_path: str
    """The search path of these programs. `PATH`."""
    command_seconds: float
    """Time limit of a program. `DEVTOOL_COMMAND_SECONDS`."""
    sweep_seconds: float
    """Interval of the search for tasks whose process has died. `TASK_SWEEP_SECONDS`."""
    retention_seconds: float
    """Retention of a task after its end. `TASK_RETENTION_DAYS`."""
    user_tier: str | None
    """The tier of the users that events name; None for none. `DEVTOOL_USER_TIER`."""
    model: ModelSettings | None
    """The model that plans what no rule understands; None for none. `DEVTOOL_MODEL`."""


def read(environ: Mapping[str, str]) -> Config:
    """Return the settings in `environ`. Raises SettingsError with all errors."""
    settings = Settings(environ)
    store = store_settings.read(settings)
    if store is None:
        settings.problem("TASK_STORE", "must be set: it stores the steps that wait for a confirmation")
    identity = identity_settings.read(settings, function="devtool", trusts=(HUB,))
    if identity.anonymous and not identity.anonymous_subject:
        settings.problem(
            "ANONYMOUS_SUBJECT", "must name whose tasks these are, where ALLOW_ANONYMOUS lets everybody in"
        )
    workspaces = tuple(_folders(settings, "DEVTOOL_WORKSPACES"))
    config = Config(
        agent=read_agent(settings),
        identity=identity,
        store=store or StoreSettings(),
        tasks=task_settings.read(settings),
        workspaces=workspaces,
        default_workspace=_default(settings, workspaces),
        is_per_person=settings.flag("DEVTOOL_WORKSPACE_PER_PERSON"),
        is_on_google_cloud="K_SERVICE" in environ,
        commands=frozenset(_programs(settings)),
        search_path=settings.text("PATH", os.defpath),
        command_seconds=settings.number("DEVTOOL_COMMAND_SECONDS", 120, minimum=1, maximum=3000),
        sweep_seconds=settings.number("TASK_SWEEP_SECONDS", 15, minimum=0.05, maximum=600),
        retention_seconds=settings.number("TASK_RETENTION_DAYS", 30, minimum=0, maximum=3650) * _DAY_SECONDS,
        user_tier=settings.optional("DEVTOOL_USER_TIER"),
        model=read_model(settings, "DEVTOOL_MODEL", default_timeout_seconds=_MODEL_SECONDS),
    )
    if config.is_per_person and config.commands:
        settings.problem(
            "DEVTOOL_COMMANDS",
            "must be empty with DEVTOOL_WORKSPACE_PER_PERSON: a program reads the folders of all persons",
        )
    settings.check()
    return config


def _folders(settings: Settings, name: str) -> list[Path]:
    folders: list[Path] = []
    for text in settings.listed(name):
        path = Path(text)
        if not path.is_absolute() or not path.is_dir():
            settings.problem(name, f"must name existing folders by absolute paths: {path.name}")
        elif path.resolve() == Path(path.anchor):
            settings.problem(name, "must not name the root of the whole file system")
        else:
            folders.append(path.resolve())
    return folders


def _default(settings: Settings, workspaces: tuple[Path, ...]) -> Path | None:
    name = "DEVTOOL_DEFAULT_WORKSPACE"
    folders = _folders(settings, name)
    if len(folders) > 1:
        settings.problem(name, "must name one folder")
    if not folders:
        return None
    if not any(folders[0].is_relative_to(allowed) for allowed in workspaces):
        settings.problem(name, "must lie in one of the folders of DEVTOOL_WORKSPACES")
    return folders[0]


def _programs(settings: Settings) -> tuple[str, ...]:
    name = "DEVTOOL_COMMANDS"
    programs = settings.listed(name)
    for program in programs:
        if "/" in program or program.split() != [program]:
            settings.problem(name, f"must list names of programs, without paths and arguments: {program}")
    return programs


def examine(config: Config) -> Iterator[Step]:
    """Yield a step for the folders and one for the programs."""
    yield _workspaces(config)
    yield _commands(config)
    if config.commands:
        seen = ok("isolation", "each command sees its own processes alone")
        yield seen if isolating_prefix() else _STEPS.filled("isolation")


def _workspaces(config: Config) -> Step:
    folders = config.workspaces
    if not folders:
        return _STEPS.filled("no_workspaces")
    if gone := sum(not folder.is_dir() for folder in folders):
        return _STEPS.filled("gone_workspaces", gone=gone, all=len(folders))
    if unwritable := sum(not os.access(folder, os.W_OK | os.X_OK) for folder in folders):
        return _STEPS.filled("unwritable_workspaces", unwritable=unwritable, all=len(folders))
    if config.default_workspace is None:
        return _STEPS.filled("no_default_workspace")
    return ok("workspaces", "1 folder" if len(folders) == 1 else f"{len(folders)} folders")


def _commands(config: Config) -> Step:
    if not config.commands:
        return skipped("commands", "no program may be run")
    if missing := sorted(name for name in config.commands if shutil.which(name, path=config.search_path) is None):
        return _STEPS.filled("missing_commands", names=", ".join(missing))
    return ok("commands", f"{', '.join(sorted(config.commands))} may be run, each call after a confirmation")
