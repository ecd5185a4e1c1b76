"""Checks of deploy.toml against Cloud Run's limits, the route table, and the mode of deploying."""

import difflib
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from pathlib import Path

from deploy.config import Config, FunctionConfig, Place, Resources

_DOCUMENTATION = Path(__file__).resolve().parents[1] / "docs"
_SETTING = re.compile(r"`([A-Z][A-Z0-9_]{4,})[`=]")
_SIMILAR = 0.85
_LONGEST_SECONDS = 3600
_MOST_REQUESTS = 1000
_MIB = {"Mi": 1, "Gi": 1024}
# By CPUs, in MiB; less than one CPU has rules of its own.
_LEAST_AND_MOST = {
    "1": (128, 4096),
    "2": (128, 8192),
    "4": (2048, 16384),
    "6": (4096, 24576),
    "8": (4096, 32768),
}
# Buckets are mounted by the second generation of instances alone, which starts here.
_LEAST_TO_MOUNT = 512
# The path of a table, a key in it or None, and what is wrong.
Report = Callable[[tuple[str, ...], str | None, str], None]


@cache
def documented_settings() -> frozenset[str]:
    """Return the variables that the documentation names: nothing is installed yet, so the functions cannot be asked."""
    pages = _DOCUMENTATION.glob("*.md")
    return frozenset(name for page in pages for name in _SETTING.findall(page.read_text(encoding="utf-8")))


def meant_by(name: str, own: Collection[str]) -> str | None:
    """Return the setting that a name misspells; None for a setting, one of the route table's `own` variables, or any other."""
    known = documented_settings()
    if name in known or name in own:
        return None
    return next(iter(difflib.get_close_matches(name, known, n=1, cutoff=_SIMILAR)), None)


def problems(resources: Resources) -> Iterator[tuple[str, str]]:
    """Yield what one instance cannot have: the key of deploy.toml, and the error. CPU and memory are well formed."""
    if resources.threads <= resources.concurrency:
        yield "threads", f"threads is {resources.threads}: it must be more than concurrency, {resources.concurrency}"
    if resources.concurrency > _MOST_REQUESTS:
        yield "concurrency", f"concurrency is {resources.concurrency}: Cloud Run takes {_MOST_REQUESTS} at most"
    if resources.concurrency > 1 and _is_part(resources):
        yield "cpu", 'less than one CPU serves one request at a time: cpu = "1", or concurrency = 1'
    if resources.timeout_seconds > _LONGEST_SECONDS:
        yield "timeout_seconds", f"timeout_seconds can be {_LONGEST_SECONDS} at most"
    if resources.min_instances > resources.max_instances:
        yield "min_instances", "min_instances is more than max_instances"
    least, most = _least_and_most(resources.cpu)
    if not least <= _mib(resources) <= most:
        bounds = f"{_words(least)} to {_words(most)}"
        yield "memory", f'memory is {resources.memory}: with cpu = "{resources.cpu}" it must be {bounds}'


def problems_of_use(function: FunctionConfig) -> Iterator[tuple[str, str]]:
    """Yield the same for the way in which this function uses an instance."""
    resources = function.resources
    if function.works_between_requests and _is_part(resources):
        yield "cpu", f'{function.function.name} works between requests, which takes a whole CPU: cpu = "1"'
    if function.mounts and (_mib(resources) < _LEAST_TO_MOUNT or _is_part(resources)):
        yield "memory", f'a bucket is mounted with {_words(_LEAST_TO_MOUNT)} of memory or more, and cpu = "1" or more'


def _is_part(resources: Resources) -> bool:
    return resources.cpu.startswith("0.")


def _least_and_most(cpu: str) -> tuple[int, int]:
    if cpu.startswith("0."):
        return (128, 1024) if float(cpu) >= 0.5 else (128, 512)
    return _LEAST_AND_MOST[cpu]


def _mib(resources: Resources) -> int:
    return int(resources.memory[:-2]) * _MIB[resources.memory[-2:]]


def _words(mib: int) -> str:
    return f"{mib // 1024}Gi" if mib % 1024 == 0 else f"{mib}Mi"


def check(
    config: Config,
    report: Report,
    *,
    route_variables: Sequence[str],
    passes_tokens: bool,
    roles: Sequence[str],
    direct: bool,
    mode: str,
) -> None:
    """Report everything that does not agree. The arguments are those of config_reader.load."""
    _variables(config, report, route_variables)
    _identity(config, report, direct=direct)
    if passes_tokens and not direct and config.functions["gate"].environment.get("PASS_CALLER_TOKEN") != "true":
        report(
            ("functions", "gate"),
            "environment",
            'routes.toml has a route with boundary = "user", which gets the caller\'s own token: '
            'set PASS_CALLER_TOKEN = "true" in [functions.gate.environment]',
        )
    _workers(config, report, roles)
    _tasks(config, report)
    _instances(config, report)
    if mode == "functions":
        _functions_mode(config, report)
    _owners(config, report)
    _neighbours(config, report)


def _variables(config: Config, report: Report, route_variables: Sequence[str]) -> None:
    """Check that each variable of the route table is the address of a function, or set for the hub; and that no setting is
    misspelt.
    """
    known = {f"{name.upper()}_URL" for name in config.functions} | set(config.functions["hub"].environment)
    for variable in route_variables:
        if variable not in known:
            report(
                ("functions", "hub"),
                "environment",
                f"routes.toml needs the variable {variable}: add {variable} to [functions.hub.environment]",
            )
    for name, function in config.functions.items():
        for variable in function.environment:
            meant = meant_by(variable, route_variables)
            if meant:
                path = ("functions", name, "environment")
                report(path, variable, f"{variable} is no setting: did you mean {meant}?")


def _identity(config: Config, report: Report, *, direct: bool) -> None:
    """Check that there is an authentication method, and that a deployment without gateway knows the project of the app."""
    anonymous = config.functions["hub" if direct else "gate"].environment.get("ALLOW_ANONYMOUS") == "true"
    identity = config.identity
    any_kind = identity.oauth_client_ids or identity.id_token_audiences
    if not (any_kind or config.secrets.clients or config.secrets.gateway_token or anonymous):
        report(
            ("identity",),
            None,
            "nobody could get in: set oauth_client_ids, id_token_audiences, or a secret (clients, gateway_token)",
        )
    if identity.id_token_audiences and not identity.id_token_callers:
        report(
            ("identity",),
            "id_token_audiences",
            "everybody at Google can get a token for id_token_audiences: name those who get in, in id_token_callers",
        )
    if direct and config.gemini_enterprise_project_number is None:
        report(
            ("gemini_enterprise",),
            None,
            "--direct needs project_number, that of the project with the Gemini Enterprise app",
        )


def _workers(config: Config, report: Report, roles: Sequence[str]) -> None:
    """Check that a route has each role of a worker."""
    for name, function in config.functions.items():
        for role in function.workers:
            if role not in roles:
                known = f"those of routes.toml are {', '.join(roles)}" if roles else "no route of routes.toml has one"
                report(("functions", name, "workers"), role, f"{role} is no role: {known}")


def _tasks(config: Config, report: Report) -> None:
    """Check that the hub alone names the task store, and that every instance can reach it."""
    for name, function in config.functions.items():
        for variable in ("TASK_STORE", "WAKEUPS"):
            if name != "hub" and variable in function.environment:
                message = f"{variable} belongs in [functions.hub.environment], from where the others have it"
                if function.function.keeps_own_tasks:
                    message = f"{variable} is set by the deployment: tasks are kept in the database of its own project"
                report(("functions", name, "environment"), variable, message)
    path = ("functions", "hub", "environment")
    hub = config.functions["hub"].environment
    store = hub.get("TASK_STORE", "none")
    if store.partition(":")[0] not in ("none", "firestore"):
        report(
            path,
            "TASK_STORE",
            f"TASK_STORE is {store!r}: instances share no disk, so it must be firestore or firestore:NAME",
        )
    elif store == "none":
        if hub.get("WAKEUPS", "none") != "none":
            report(
                path,
                "WAKEUPS",
                'WAKEUPS tells of stored tasks: set TASK_STORE = "firestore" too, or leave it out',
            )
        if config.secrets.webhook_key:
            message = 'only notifications of stored tasks are signed: set TASK_STORE = "firestore" too, or leave it out'
            report(("secrets",), "webhook_key", message)
        if config.functions["tasks"].workers:
            report(
                ("functions", "tasks", "workers"),
                None,
                'workers fetch stored tasks: set TASK_STORE = "firestore" in [functions.hub.environment]',
            )


def _instances(config: Config, report: Report) -> None:
    """Check that instances suit their functions."""
    keeps_tasks = config.functions["hub"].works_between_requests
    for name, function in config.functions.items():
        if (function.function.only_with and not keeps_tasks) or not function.is_wanted:
            continue
        for key, message in problems_of_use(function):
            report(("functions", name), key, message)


def _functions_mode(config: Config, report: Report) -> None:
    """Report settings that `gcloud functions deploy` cannot carry out."""
    if config.functions["hub"].works_between_requests:
        report(
            ("functions", "hub", "environment"),
            "TASK_STORE",
            "--mode=functions gives a function its CPU while it answers, and tasks go on after that: "
            "leave TASK_STORE out, or deploy with --mode=run",
        )
    for name, function in config.functions.items():
        if function.function.keeps_own_tasks and function.is_wanted and function.url is None:
            report(
                ("functions", name),
                None,
                f"--mode=functions gives a function its CPU while it answers, and {name} goes on after that: "
                "leave its table out, or deploy with --mode=run",
            )
        elif function.mounts:
            report(
                ("functions", name),
                "corpus_bucket",
                "--mode=functions cannot mount a bucket: leave it out, or deploy with --mode=run",
            )


def _owners(config: Config, report: Report) -> None:
    """Check that everything in a project is made by the same account."""
    owners: dict[str, tuple[str, Place]] = {config.place.project: ("the top of the file", config.place)}
    for name, function in config.functions.items():
        owner, place = owners.setdefault(function.place.project, (f"[functions.{name}]", function.place))
        if _owner(place) != _owner(function.place):
            message = f"{place.project} has another account at {owner}: write the same one here"
            report(("functions", name), None, message)


def _neighbours(config: Config, report: Report) -> None:
    """Check that a function that runs its callers' commands is alone in its project: its service account finds nothing of
    others there.
    """
    for name, function in config.functions.items():
        if not (function.function.lives_alone and function.is_wanted) or function.url is not None:
            continue
        project = function.place.project
        others = [config.place.project] + [
            other.place.project for other in config.functions.values() if other is not function and other.url is None
        ]
        if project in others:
            message = f"{name} runs commands, as its service account: give it a project in which no other function is"
            report(("functions", name), "project", message)


def _owner(place: Place) -> tuple[str | None, ...]:
    return place.account, place.configuration, place.impersonate_service_account
