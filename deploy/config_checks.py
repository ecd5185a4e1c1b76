"""Checks of deploy.toml against the route table, the mode of deploying, and the needs of its functions."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from a2a_hub.toml.checked_table import did_you_mean
from deploy.config import Config, Place, Routes
from deploy.functions import Invoker

_DOCUMENTATION = Path(__file__).resolve().parents[1] / "docs"
_SETTING = re.compile(r"`([A-Z][A-Z0-9_]{4,})[`=]")
_SIMILAR = 0.85
# cloud.google.com/api-gateway/docs/deployment-model, November 2026.
GATEWAY_REGIONS = (
    *("asia-northeast1", "australia-southeast1", "europe-west1", "europe-west2", "us-central1", "us-east1", "us-east4"),
    *("us-west2", "us-west3", "us-west4"),
)
# Buckets are mounted by the second generation of instances alone, which starts here.
_MIN_TO_MOUNT = 512
# The path of a table, a key in it or None, and what is wrong.
Wrong = Iterator[tuple[tuple[str, ...], str | None, str]]


@cache
def documented_settings() -> frozenset[str]:
    """Return the variables that the documentation names: nothing is installed yet, so the functions cannot be asked."""
    pages = _DOCUMENTATION.glob("*.md")
    return frozenset(name for page in pages for name in _SETTING.findall(page.read_text(encoding="utf-8")))


def meant_by(name: str, own: Collection[str]) -> str:
    """Return a hint at the setting that a name misspells; "" for a setting, one of the route table's `own`, or any other."""
    known = documented_settings()
    if name in known or name in own:
        return ""
    return did_you_mean(name, known, cutoff=_SIMILAR)


def check(config: Config, routes: Routes, *, direct: bool, mode: str) -> Wrong:
    """Yield all inconsistencies. The arguments are those of config_reader.load."""
    yield from _variables(config, routes.variables)
    yield from _identity(config, direct=direct)
    if routes.passes_tokens and not direct and config.functions["gate"].environment.get("PASS_CALLER_TOKEN") != "true":
        message = (
            'routes.toml has a route with boundary = "user", which gets the caller\'s own token: '
            'set PASS_CALLER_TOKEN = "true" in [functions.gate.environment]'
        )
        yield ("functions", "gate"), "environment", message
    yield from _access(config, routes.boundaries)
    yield from _ingress(config, direct=direct)
    if not direct and config.gateway.region and config.gateway.region not in GATEWAY_REGIONS:
        known = ", ".join(GATEWAY_REGIONS)
        message = f"API Gateway is not in {config.gateway.region}: set region in [gateway] to one of {known}"
        yield ("gateway",), "region", message
    yield from _keys(config)
    yield from _workers(config, routes.roles)
    yield from _tasks(config)
    yield from _console(config)
    yield from _instances(config)
    if mode == "functions":
        yield from _functions_mode(config)
    yield from _owners(config)
    yield from _neighbours(config)


def _variables(config: Config, route_variables: Sequence[str]) -> Wrong:
    """Check that each variable of the route table is the address of a function, or set for the hub; and that no setting is
    misspelt.
    """
    known = {f"{name.upper()}_URL" for name in config.functions} | set(config.functions["hub"].environment)
    for variable in route_variables:
        if variable not in known:
            message = f"routes.toml needs the variable {variable}: add {variable} to [functions.hub.environment]"
            yield ("functions", "hub"), "environment", message
    for name, function in config.functions.items():
        for variable in function.environment:
            meant = meant_by(variable, route_variables)
            if meant:
                path = ("functions", name, "environment")
                yield path, variable, f"{variable} is no setting: {meant}"


def _identity(config: Config, *, direct: bool) -> Wrong:
    """Check that there is an authentication method, and that a deployment without gateway knows the project of the app."""
    anonymous = config.functions["hub" if direct else "gate"].environment.get("ALLOW_ANONYMOUS") == "true"
    identity = config.identity
    any_kind = identity.oauth_client_ids or identity.id_token_audiences
    if not (any_kind or config.secrets.clients or config.secrets.gateway_token or anonymous):
        message = "nobody could get in: set oauth_client_ids, id_token_audiences, or a secret (clients, gateway_token)"
        yield ("identity",), None, message
    if identity.id_token_audiences and not identity.id_token_callers:
        message = (
            "everybody at Google can get a token for id_token_audiences: name those who get in, in id_token_callers"
        )
        yield ("identity",), "id_token_audiences", message
    if direct and config.gemini_enterprise_project_number is None:
        message = "--direct needs project_number, that of the project with the Gemini Enterprise app"
        yield ("gemini_enterprise",), None, message


def _access(config: Config, boundaries: Mapping[str, str]) -> Wrong:
    """Check that the hub sends an ID token to functions that only it may invoke."""
    for name, function in config.functions.items():
        if function.private and boundaries.get(name, "iam") != "iam":
            message = f'{name} is private: set boundary = "iam" for its route in routes.toml'
            yield ("functions", name), "private", message
        if function.private and not function.invoker_iam_check:
            yield ("functions", name), "invoker_iam_check", "private = true needs the check: delete one of the two"


def _ingress(config: Config, *, direct: bool) -> Wrong:
    """Check that callers reach functions that are closed to the internet."""
    for name, function in config.functions.items():
        path = ("functions", name)
        if function.resources.subnet and not function.resources.network:
            yield path, "subnet", "subnet needs network"
        if function.resources.ingress == "all" or not function.is_wanted or function.url is not None:
            continue
        for invoker in (function.function.direct_invokers if direct else ()) or function.function.invokers:
            caller = config.functions.get(invoker)
            if invoker in (Invoker.GATEWAY, Invoker.GEMINI_ENTERPRISE):
                yield path, "ingress", f"{name} is called from outside of your VPC: its ingress must be all"
            elif caller and (caller.resources.network is None or caller.resources.vpc_egress != "all-traffic"):
                message = f'{name} is closed to the internet: set network and vpc_egress = "all-traffic" in [functions.{invoker}]'
                yield path, "ingress", message


def _workers(config: Config, roles: Sequence[str]) -> Wrong:
    """Check that a route has each role of a worker."""
    for name, function in config.functions.items():
        for role in function.workers:
            if role not in roles:
                known = f"those of routes.toml are {', '.join(roles)}" if roles else "no route of routes.toml has one"
                yield ("functions", name, "workers"), role, f"{role} is no role: {known}"


def _tasks(config: Config) -> Wrong:
    """Check that the hub alone names the task store, and that every instance can reach it."""
    for name, function in config.functions.items():
        for variable in ("TASK_STORE", "WAKEUPS"):
            if name != "hub" and variable in function.environment:
                message = f"{variable} belongs in [functions.hub.environment], from where the others have it"
                if function.function.works_on_files:
                    message = f"{variable} is set by the deployment: tasks are kept in the database of its own project"
                yield ("functions", name, "environment"), variable, message
    path = ("functions", "hub", "environment")
    hub = config.functions["hub"].environment
    store = hub.get("TASK_STORE", "none")
    if store.partition(":")[0] not in ("none", "firestore"):
        message = f"TASK_STORE is {store!r}: instances share no disk, so it must be firestore or firestore:NAME"
        yield path, "TASK_STORE", message
    elif store != "none" and hub["WAKEUPS"].removeprefix("hcs,").partition(":")[0] != "pubsub":
        message = (
            "instances have no CPU between requests, so tasks run inside those of Pub/Sub: "
            "WAKEUPS must be pubsub, pubsub:PREFIX, or one of them after hcs, or be left out"
        )
        yield path, "WAKEUPS", message
    elif store == "none":
        if hub.get("WAKEUPS", "none") != "none":
            message = 'WAKEUPS tells of stored tasks: set TASK_STORE = "firestore" too, or leave it out'
            yield path, "WAKEUPS", message
        if config.secrets.webhook_key:
            message = 'only notifications of stored tasks are signed: set TASK_STORE = "firestore" too, or leave it out'
            yield ("secrets",), "webhook_key", message
        if config.functions["tasks"].workers:
            message = 'workers fetch stored tasks: set TASK_STORE = "firestore" in [functions.hub.environment]'
            yield ("functions", "tasks", "workers"), None, message


def _keys(config: Config) -> Wrong:
    """Check that each Cloud KMS key is in the region of the resources it encrypts, which the products require."""
    places = {(): config.place} | {
        ("functions", name): function.place for name, function in config.functions.items() if function.url is None
    }
    for path, place in places.items():
        if place.kms_key and (location := location_of(place.kms_key)) != place.region:
            message = f"kms_key is in {location}, and what it encrypts in {place.region}: name a key there"
            yield path, "kms_key", message
    key, locations = config.place.kms_key, config.secrets.locations
    if key and locations not in ((), (location_of(key),)):
        message = f"kms_key encrypts secrets in {location_of(key)} alone: leave locations out, or name that alone"
        yield ("secrets",), "locations", message


def location_of(resource: str) -> str:
    """Return LOCATION of projects/PROJECT/locations/LOCATION/…."""
    return resource.split("/")[3]


def _console(config: Config) -> Wrong:
    """Check that people can sign in where the console is deployed, and that the gate accepts their tokens."""
    console = config.functions["console"]
    if not console.is_wanted:
        return
    client = console.environment.get("GOOGLE_CLIENT_ID")
    if client not in config.identity.oauth_client_ids:
        message = "set GOOGLE_CLIENT_ID in [functions.console.environment] to one of oauth_client_ids in [identity]"
        yield ("functions", "console"), None, message
    for name in ("GOOGLE_CLIENT_SECRET", "SESSION_KEY"):
        if name not in console.secrets:
            yield ("functions", "console"), None, f"name the secret with {name} in [functions.console.secrets]"


def _instances(config: Config) -> Wrong:
    """Check that instances suit their functions."""
    for name, function in config.functions.items():
        resources, path = function.resources, ("functions", name)
        if not function.is_wanted:
            continue
        if resources.threads <= resources.concurrency:
            message = f"threads is {resources.threads}: it must be more than concurrency, {resources.concurrency}"
            yield path, "threads", message
        is_part = resources.cpu.startswith("0.")
        if function.works_between_requests and is_part:
            yield path, "cpu", f'{name} works between requests, which takes a whole CPU: cpu = "1"'
        if function.mounts and (is_part or resources.memory_mib < _MIN_TO_MOUNT):
            yield path, "memory", 'a bucket is mounted with 512Mi of memory or more, and cpu = "1" or more'


def _functions_mode(config: Config) -> Wrong:
    """Check that `gcloud functions deploy` can carry out the settings."""
    for name, function in config.functions.items():
        for key, used in (
            ("invoker_iam_check", not function.invoker_iam_check),
            ("network", function.resources.network),
        ):
            if used:
                message = f"--mode=functions has no {key}: leave it out, or deploy with --mode=run"
                yield ("functions", name), key, message
        if function.function.works_on_files and function.is_wanted and function.url is None:
            message = (
                f"--mode=functions gives a function its CPU while it answers, and {name} goes on after that: "
                "leave its table out, or deploy with --mode=run"
            )
            yield ("functions", name), None, message
        elif function.function.container and function.is_wanted:
            yield ("functions", name), None, f"--mode=functions has no containers: leave {name} out, or --mode=run"
        elif function.mounts:
            message = "--mode=functions cannot mount a bucket: leave it out, or deploy with --mode=run"
            yield ("functions", name), "corpus_bucket", message


def _owners(config: Config) -> Wrong:
    """Check that everything in a project is made by the same account."""
    owners: dict[str, tuple[str, Place]] = {config.place.project: ("the top of the file", config.place)}
    for name, function in config.functions.items():
        owner, place = owners.setdefault(function.place.project, (f"[functions.{name}]", function.place))
        if _owner(place) != _owner(function.place):
            message = f"{place.project} has another account at {owner}: write the same one here"
            yield ("functions", name), None, message


def _neighbours(config: Config) -> Wrong:
    """Check that a function that runs its callers' commands is alone in its project: its service account finds nothing of
    others there.
    """
    for name, function in config.functions.items():
        if not (function.function.works_on_files and function.is_wanted) or function.url is not None:
            continue
        project = function.place.project
        others = [config.place.project] + [
            other.place.project for other in config.functions.values() if other is not function and other.url is None
        ]
        if project in others:
            message = f"{name} runs commands, as its service account: give it a project in which no other function is"
            yield ("functions", name), "project", message


def _owner(place: Place) -> tuple[str | None, ...]:
    return place.account, place.configuration, place.impersonate_service_account
