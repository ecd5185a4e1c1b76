"""The plan as Bash reads it, the gateway's API config, and the fingerprint of a function's content."""

import hashlib
import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from deploy.config import FunctionConfig
from deploy.config_checks import location_of
from deploy.functions import Invoker, store
from deploy.gcloud import identity_flags
from deploy.plan import CORPUS_PATH, WORKSPACES_PATH, Plan

_DEADLINE = re.compile(r"^( *deadline: *)([0-9.]+)", re.MULTILINE)
_LONGEST_STREAM_SECONDS = 3600.0
_LONGEST_ANSWER_SECONDS = 600.0
_INGRESS = {
    "all": "all",
    "internal": "internal-only",
    "internal-and-cloud-load-balancing": "internal-and-gclb",
}
# The repository that `gcloud run deploy --source` pushes to.
IMAGES = "cloud-run-source-deploy"
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
    yield _scalar("runtime", config.runtime)
    yield _scalar("monitoring", "yes" if config.monitoring else "")
    yield _scalar("wakeups_account", plan.service_account(Invoker.WAKEUPS))
    yield _scalar("queue", plan.service(Invoker.WAKEUPS))
    yield _scalar("sweeps", plan.service("sweeps"))
    yield _scalar("home_region", home.region)
    yield _scalar("delete_protection", "--delete-protection" if config.delete_protection else "")
    labels = ",".join(f"{key}={value}" for key, value in config.labels.items())
    yield _scalar("labels", labels)
    yield _array("labelled", [f"--labels={labels}"] if labels else [])
    yield _array("replication", list(_replication(plan)))
    yield _scalar("replication_policy", _replication_policy(plan))
    yield _table("topics", {topic: " ".join(workers) for topic, workers in plan.topics().items()})

    # By project, topic or secret.
    places = {home.project: home} | {wanted[name].place.project: wanted[name].place for name in deployed}
    yield _table("identity_of", {project: " ".join(identity_flags(place)) for project, place in places.items()})
    yield _scalar("images", IMAGES)
    yield _table("kms_key", {project: place.kms_key or "" for project, place in places.items()})
    yield _table("number", {project: place.project_number or "" for project, place in places.items()})
    yield _table("apis", {project: " ".join(apis) for project, apis in plan.services().items()})
    yield _table("accounts", {project: " ".join(names) for project, names in plan.accounts().items()})
    yield _table("public_keys", dict(plan.key_pairs().values()))
    yield _table("readers", {name: " ".join(functions) for name, functions in plan.secrets().items()})

    # By function.
    yield _table("project", {name: wanted[name].place.project for name in wanted})
    yield _table("region", {name: wanted[name].place.region for name in wanted})
    yield _table("service", {name: plan.service(name) for name in wanted})
    yield _table("account", {name: plan.service_account(name) for name in wanted})
    yield _table("url", {name: function.url or "" for name, function in wanted.items()})
    yield _table("members", {name: " ".join(plan.members(function.function)) for name, function in wanted.items()})
    yield _table("roles", {name: " ".join(_roles(plan, wanted[name])) for name in deployed})
    yield _table("publishes", {name: "yes" if wanted[name].function.needs_public_url else "" for name in deployed})
    yield _table("container", {name: wanted[name].function.container for name in deployed})
    buckets = {name: wanted[name].bucket or ("", "") for name in deployed}
    yield _table("bucket", {name: bucket for name, (bucket, _) in buckets.items()})
    yield _table("bucket_role", {name: role for name, (_, role) in buckets.items()})
    yield _table("database", plan.databases(plan.deployed()))
    yield _table("resources", {name: " ".join(_resources(plan, wanted[name])) for name in deployed})


def _roles(plan: Plan, function: FunctionConfig) -> Iterator[str]:
    """Yield the roles of a function in its project; that of a database is one on this database: ROLE@DATABASE."""
    for role in plan.roles_of(function):
        yield f"{role}@{plan.database(function)}" if role == store().role else role


def _replication(plan: Plan) -> Iterator[str]:
    """Yield the flags that say where a new secret is, and whose key encrypts it."""
    locations = plan.config.secrets.locations
    if plan.config.place.kms_key:
        yield "--replication-policy-file=build/replication.json"
    elif locations:
        yield "--replication-policy=user-managed"
        yield f"--locations={','.join(locations)}"
    else:
        yield "--replication-policy=automatic"


def _replication_policy(plan: Plan) -> str:
    key = plan.config.place.kms_key
    if not key:
        return ""
    # A secret that is replicated automatically takes a global key only.
    replica = {"location": location_of(key), "customerManagedEncryption": {"kmsKeyName": key}}
    return json.dumps({"userManaged": {"replicas": [replica]}})


def _access(plan: Plan, function: FunctionConfig) -> Iterator[str]:
    """Yield the flags that say whether Cloud Run checks callers, and from where they come."""
    resources = function.resources
    everybody = "allUsers" in plan.members(function.function)
    checked = function.invoker_iam_check
    if plan.mode == "functions":
        yield f"--ingress-settings={_INGRESS[resources.ingress]}"
    else:
        yield f"--ingress={resources.ingress}"
        if not checked:
            yield "--no-invoker-iam-check"
        elif Invoker.EVERYBODY in function.function.invokers:
            # An earlier deployment may have ended the check.
            yield "--invoker-iam-check"
        network = {"network": resources.network, "subnet": resources.subnet}
        yield from (f"--{flag}={value}" for flag, value in network.items() if value)
        yield f"--vpc-egress={resources.vpc_egress}" if resources.network else "--clear-network"
    yield "--allow-unauthenticated" if everybody else "--no-allow-unauthenticated"
    if key := function.place.kms_key:
        yield f"--{'kms-key' if plan.mode == 'functions' else 'key'}={key}"
        if plan.mode == "functions":
            # The images have to be under the same key.
            yield f"--docker-repository=projects/{function.place.project}/locations/{function.place.region}/repositories/{IMAGES}"
    if pool := function.place.worker_pool:
        yield f"--build-worker-pool={pool}"


def _resources(plan: Plan, function: FunctionConfig) -> Iterator[str]:
    """Return the flags for one function's instances, secrets and files, as the mode's command names them."""
    resources = function.resources
    as_function = plan.mode == "functions"
    yield from _access(plan, function)
    if function.function.container:
        yield "--use-http2"
    else:
        # The build compiles the sources anew: with this, byte code is matched by content, since an image changes files' times.
        yield "--set-build-env-vars=SOURCE_DATE_EPOCH=315532801"
    yield f"--memory={resources.memory}"
    yield f"--cpu={resources.cpu}"
    yield f"--concurrency={resources.concurrency}"
    yield f"--timeout={resources.timeout_seconds}" + ("s" if as_function else "")
    yield f"--min-instances={resources.min_instances}"
    yield f"--max-instances={resources.max_instances}"
    secrets = plan.secrets_of(function.function)
    if secrets:
        home = plan.config.place.project
        where = "" if function.place.project == home else f"projects/{home}/secrets/"
        yield "--set-secrets=" + ",".join(f"{place}={where}{name}:latest" for place, name in secrets.items())
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
    elif (function.function.mounts_documents or function.function.works_on_files) and not as_function:
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
