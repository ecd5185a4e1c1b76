"""The functions that run on one machine: one table, and the environment of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    # Bundles are made without any package.
    from local.settings import Settings

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, kw_only=True)
class LocalFunction:
    """A function that runs in its own functions-framework process."""

    name: str
    """Its folder, its entry point and the name in reports."""
    threads: int
    """Requests it serves at once; an open stream holds one of them all the time."""
    source: Path = Path()
    """The file that holds the entry point."""
    reads_routes: bool = False
    """True if it reads the route table, and so needs the addresses of the agents."""
    trusts: tuple[str, ...] = ()
    """The functions whose principal headers it accepts."""
    python_path: Path | None = None
    """The folder of its packages, unless they are beside the source file."""


_FUNCTIONS = (
    LocalFunction(name="gate", threads=320),
    LocalFunction(name="hub", threads=320, reads_routes=True, trusts=("gate", "tasks")),
    LocalFunction(name="agent_card", threads=16, reads_routes=True),
    LocalFunction(name="docqa", threads=320, trusts=("hub",)),
    LocalFunction(name="general", threads=320),
    LocalFunction(name="expense", threads=320),
    LocalFunction(name="pm", threads=320),
    LocalFunction(name="devtool", threads=64, trusts=("hub",)),
    LocalFunction(name="tasks", threads=64, reads_routes=True, trusts=("hub",)),
    LocalFunction(name="console", threads=64),
)


def functions(*, bundled: bool = False) -> tuple[LocalFunction, ...]:
    """Return every function of this project, from the source tree, or from `build/` as it is uploaded."""
    folder = ROOT / ("build" if bundled else "functions")
    return tuple(
        replace(each, source=folder / each.name / "main.py", python_path=None if bundled else ROOT)
        for each in _FUNCTIONS
    )


WORKSPACE = "workspace"
"""The folder of a run with the files that the development agent works on."""
# One developer, and whatever load a test or a benchmark makes.
WITHOUT_QUOTAS = dict.fromkeys(
    (
        "RATE_LIMIT_PER_MINUTE",
        "QUOTA_ANONYMOUS_PER_MINUTE",
        "QUOTA_STREAMS",
        "QUOTA_RUNNING_TASKS",
        "QUOTA_STORED_TASKS",
    ),
    "0",
)
# Every machine has them, and none of them can change a file, or show what is in one outside the workspace.
_HARMLESS = "ls,pwd,echo,sleep"

# What a function would wrongly take from a developer's own shell.
_NOT_INHERITED = frozenset(
    {
        "CALLER_TOKEN_HEADER",
        "CLOUD_RUN_TIMEOUT_SECONDS",
        "DEBUG",
        "FUNCTION_SIGNATURE_TYPE",
        "FUNCTION_SOURCE",
        "FUNCTION_TARGET",
        "GATE_PUBLIC_KEYS",
        "GATE_SIGNING_KEY",
        "HOST",
        "HUB_DEV_TOKEN",
        "HUB_PUBLIC_KEYS",
        "K_SERVICE",
        "PORT",
        "PUBLIC_URL",
        "PYTHONPATH",
        "SESSION_KEY",
        "SIGNING_KEY",
        "SIGN_IN_CODE",
        "TASKS_PUBLIC_KEYS",
        "WEB_CONCURRENCY",
        "WORKERS",
    }
)


class KeyPair(NamedTuple):
    """The halves of a function's key (P-256), in PEM."""

    private: str
    public: str


def key_settings(name: str, *, trusts: Iterable[str], keys: Mapping[str, KeyPair]) -> dict[str, str]:
    """Return the settings with which a function signs, if it has a key, and knows the functions that it trusts."""
    public = {f"{other.upper()}_PUBLIC_KEYS": keys[other].public for other in trusts}
    return public | ({"SIGNING_KEY": keys[name].private} if name in keys else {})


def environment_of(
    function: LocalFunction, settings: Settings, *, inherited: Mapping[str, str], urls: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment of one process of a run. `urls` maps each function's name to its address on this machine."""
    environment = {name: value for name, value in inherited.items() if name not in _NOT_INHERITED}
    environment = WITHOUT_QUOTAS | environment
    name = function.name
    is_of_the_hub = function.reads_routes or name == "gate"
    environment |= {
        # gunicorn would take SCRIPT_NAME and PATH_INFO from the headers of callers on this machine.
        "FORWARDED_ALLOW_IPS": "",
        "HUB_PUBLIC_URL": settings.url,
        # An agent is called directly, everything else at the one public address.
        "PUBLIC_URL": settings.url if is_of_the_hub else urls[name],
        "PYTHONUNBUFFERED": "1",
        "THREADS": str(function.threads),
        # As a deployment has it.
        "MALLOC_MMAP_THRESHOLD_": "131072",
    }
    # A bundle stands before the package of the source tree, which this environment may hold as well.
    environment["PYTHONPATH"] = str(function.python_path or function.source.parent)
    if is_of_the_hub:
        # An address that the operator has set is that of an agent of their own, which takes the place of the one here.
        addresses = {f"{other.upper()}_URL": url for other, url in urls.items() if other != name}
        # Nothing on this machine's loopback stands in front of a function and checks an ID token; agents may be elsewhere.
        credentials = "remote" if name == "hub" else "none"
        environment = {"IAM_CREDENTIALS": credentials} | addresses | environment
        # Files that the next start can reuse, as the index of documents below.
        environment = {"TASK_STORE": f"sqlite:{settings.folder / 'tasks.sqlite3'}"} | environment
    if name == "docqa":
        environment = {"CORPUS_INDEX": str(settings.folder / "corpus-index.sqlite3")} | environment
    if name == "devtool":
        if "DEVTOOL_WORKSPACES" not in environment:
            folder = str(settings.folder / WORKSPACE)
            environment |= {"DEVTOOL_WORKSPACES": folder, "DEVTOOL_DEFAULT_WORKSPACE": folder}
        if environment.get("DEVTOOL_WORKSPACE_PER_PERSON", "false") == "false":
            environment = {"DEVTOOL_COMMANDS": _HARMLESS} | environment
        # Tasks of its own; and nothing on this machine's loopback authenticates callers.
        environment |= {
            "TASK_STORE": f"sqlite:{settings.folder / f'{name}-tasks.sqlite3'}",
            "ALLOW_ANONYMOUS": "true",
            "ANONYMOUS_SUBJECT": "this-machine",
        }
    if name in ("hub", "tasks") and "tasks" in urls:
        environment = {"WAKEUPS": f"local:{urls['tasks']}/wakeups"} | environment
    environment |= key_settings(name, trusts=function.trusts, keys=settings.signing_keys)
    if name in ("gate", "tasks", "console"):
        # Workers may use the development tokens if they have none of their own, and people sign in with one.
        environment["HUB_DEV_TOKEN"] = settings.dev_token
    if name == "console":
        environment |= {"SIGN_IN_CODE": settings.sign_in_code, "TOKEN_SIGN_IN": "true"}
    if name == "gate":
        environment["CALLER_TOKEN_HEADER"] = "x-forwarded-authorization" if settings.has_gateway else "authorization"
    return environment
