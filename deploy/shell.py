"""The plan as Bash reads it, the gateway's API config, and the fingerprint of a function's content."""

import hashlib
import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from deploy.config import FunctionConfig, Place
from deploy.functions import Invoker
from deploy.plan import CORPUS_PATH, WORKSPACES_PATH, Plan, databases

_DEADLINE = re.compile(r"^( *deadline: *)([0-9.]+)", re.MULTILINE)
_LONGEST_STREAM_SECONDS = 3600.0
_LONGEST_ANSWER_SECONDS = 600.0
_VARIABLE = re.compile(r"\$\{([A-Z_]+)\}")


class UnknownAddress(ValueError):
    """The file asks for an address that the deployment does not have."""


def render(text: str, *, addresses: Mapping[str, str], streaming: bool) -> str:
    """Return `text` with each `${NAME}` replaced, and no deadline that the gateway would refuse. Raises UnknownAddress."""
    unknown = sorted({name for name in _VARIABLE.findall(text) if name not in addresses})
    if unknown:
        known = ", ".join(sorted(addresses))
        raise UnknownAddress(f"gateway/openapi.yaml asks for {', '.join(unknown)}; known: {known}")
    longest = _LONGEST_STREAM_SECONDS if streaming else _LONGEST_ANSWER_SECONDS
    text = _DEADLINE.sub(lambda found: f"{found[1]}{min(float(found[2]), longest)}", text)
    return _VARIABLE.sub(lambda found: addresses[found[1]], text)


def config_id(rendered: str, *, service_account: str) -> str:
    """Return the id of the config that `rendered` makes: equal for equal contents and the same service account."""
    return "hub-" + hashlib.sha256(f"{service_account}\n{rendered}".encode()).hexdigest()[:16]


def fingerprint(bundle: Path, *, environment: Mapping[str, str], flags: Sequence[str]) -> str:
    """Return 32 hexadecimal digits, which fit a label; equal for equal files, environments and flags.

    The commit is left out: one that changes nothing in a bundle needs no deployment.
    """
    digest = hashlib.sha256()
    for path in sorted(bundle.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            digest.update(f"{path.relative_to(bundle)}\n".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    settings = {name: value for name, value in environment.items() if name != "COMMIT_SHA"}
    digest.update(json.dumps([settings, list(flags)], sort_keys=True).encode())
    return digest.hexdigest()[:32]


def declarations(plan: Plan) -> Iterator[str]:
    """Yield Bash statements that define the variables of `deploy.sh`."""
    config, home = plan.config, plan.config.place
    wanted = {function.function.name: function for function in plan.wanted()}
    deployed = [function.function.name for function in plan.deployed()]
    yield _array("functions", deployed)
    yield _array("all_functions", list(config.functions))
    yield _scalar("home", home.project)
    yield _scalar("build_account", plan.service("build"))
    yield _scalar("gateway_region", config.gateway.region)
    yield _scalar("gateway", plan.service("hub"))
    yield _scalar("gateway_account", plan.service_account("gateway"))
    yield _scalar("streaming", "yes" if config.gateway.streaming else "")
    yield _scalar("public_url", config.gateway.public_url or "")
    yield _scalar("signing_key", config.secrets.signing_key)
    yield _scalar("runtime", config.runtime)
    yield _scalar("wakeups_account", plan.service_account(Invoker.WAKEUPS))
    yield _table("topics", {topic: " ".join(workers) for topic, workers in plan.topics().items()})

    # By project, topic or secret.
    places = {home.project: home} | {wanted[name].place.project: wanted[name].place for name in deployed}
    yield _table("identity_of", {project: " ".join(_identity(place)) for project, place in places.items()})
    yield _table("number", {project: place.project_number or "" for project, place in places.items()})
    yield _table("apis", {project: " ".join(apis) for project, apis in plan.services().items()})
    yield _table("accounts", {project: " ".join(names) for project, names in plan.accounts().items()})
    yield _table("readers", {name: " ".join(functions) for name, functions in plan.secrets().items()})

    # By function.
    yield _table("project", {name: wanted[name].place.project for name in wanted})
    yield _table("region", {name: wanted[name].place.region for name in wanted})
    yield _table("service", {name: plan.service(name) for name in wanted})
    yield _table("account", {name: plan.service_account(name) for name in wanted})
    yield _table("url", {name: function.url or "" for name, function in wanted.items()})
    yield _table("members", {name: " ".join(plan.members(function.function)) for name, function in wanted.items()})
    roles = {name: dict.fromkeys(need.role for need in wanted[name].needs if need.role) for name in deployed}
    yield _table("roles", {name: " ".join(each) for name, each in roles.items()})
    yield _table("publishes", {name: "yes" if wanted[name].function.reads_routes else "" for name in deployed})
    yield _table("bucket", {name: _bucket(wanted[name]) for name in deployed})
    yield _table("bucket_role", {name: _bucket_role(wanted[name]) for name in deployed})
    yield _table("database", databases(plan.deployed()))
    yield _table("resources", {name: " ".join(_resources(plan, wanted[name])) for name in deployed})


def _bucket(function: FunctionConfig) -> str:
    return function.corpus_bucket or function.workspace_bucket or ""


def _bucket_role(function: FunctionConfig) -> str:
    return "roles/storage.objectUser" if function.workspace_bucket else "roles/storage.objectViewer"


def _identity(place: Place) -> Iterator[str]:
    """Return the flags with which gcloud acts for the owner of a project."""
    for flag in ("account", "configuration", "impersonate_service_account"):
        if value := getattr(place, flag):
            yield f"--{flag.replace('_', '-')}={value}"


def _resources(plan: Plan, function: FunctionConfig) -> Iterator[str]:
    """Return the flags for one function's instances, secrets and files, as the mode's command names them."""
    resources = function.resources
    as_function = plan.mode == "functions"
    yield f"--memory={resources.memory}"
    yield f"--cpu={resources.cpu}"
    yield f"--concurrency={resources.concurrency}"
    yield f"--timeout={resources.timeout_seconds}" + ("s" if as_function else "")
    yield f"--min-instances={resources.min_instances}"
    yield f"--max-instances={resources.max_instances}"
    secrets = plan.secrets_of(function.function)
    if secrets:
        yield "--set-secrets=" + ",".join(f"{place}={name}:latest" for place, name in secrets.items())
    else:
        yield "--clear-secrets"
    if not as_function:
        yield "--cpu-boost"
        yield "--no-cpu-throttling" if function.works_between_requests else "--cpu-throttling"
    if function.workspace_bucket:
        yield f"--add-volume=name=workspaces,type=cloud-storage,bucket={function.workspace_bucket}"
        yield f"--add-volume-mount=volume=workspaces,mount-path={WORKSPACES_PATH}"
    elif function.mounts:
        yield f"--add-volume=name=corpus,type=cloud-storage,bucket={function.corpus_bucket},readonly=true"
        yield f"--add-volume-mount=volume=corpus,mount-path={CORPUS_PATH}"
    elif (function.function.mounts_documents or function.function.mounts_workspace) and not as_function:
        # A bucket of an earlier deployment stays otherwise.
        yield "--clear-volume-mounts"
        yield "--clear-volumes"


def _scalar(name: str, value: str) -> str:
    return f"declare -g {name}={shlex.quote(value)}"


def _array(name: str, values: list[str]) -> str:
    return f"declare -ga {name}=({' '.join(shlex.quote(value) for value in values)})"


def _table(name: str, values: Mapping[str, str]) -> str:
    entries = " ".join(f"[{key}]={shlex.quote(value)}" for key, value in values.items())
    return f"declare -gA {name}=({entries})"
