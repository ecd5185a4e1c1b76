"""The commands of gcloud that undo a deployment (`./deploy.sh delete`, `./deploy.sh rollback`), and those for `[monitoring]`."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from deploy.config import Place
from deploy.functions import store
from deploy.gcloud import Gcloud
from deploy.plan import Plan

_DEPLOYMENT, _BEFORE, _SERVICE = "deployment", "before", "serving.knative.dev/service"
_FILES = Path(__file__).with_name("monitoring")
_ENVIRONMENT, _PART, _CONTENT = "environment", "part", "content"


@dataclass(frozen=True, slots=True)
class Step:
    """A command in a project."""

    place: Place
    words: tuple[str, ...]


def carry_out(steps: Sequence[Step], gcloud: Gcloud) -> Sequence[str]:
    """Run all steps and return the messages of those that failed; a resource that no longer exists is no failure."""
    answers = [(step, gcloud(*step.words, place=step.place)) for step in steps]
    return [
        f"gcloud {' '.join(step.words)}: {answer.message}"
        for step, answer in answers
        if not answer.ok and not answer.absent
    ]


def deletion(plan: Plan, gcloud: Gcloud, *, data: bool) -> Iterator[Step]:
    """Yield the commands that delete a deployment's resources, dependents first; the databases only with `data`."""
    home, hub = plan.config.place, plan.service("hub")
    located = f"--location={home.region}"

    def at_home(*words: str) -> Step:
        return Step(home, words)

    if not plan.direct:
        words = ("api-gateway", "api-configs", "list", f"--api={hub}", "--format=value(name.basename())")
        listed = gcloud.text(*words, place=home)
        yield at_home("api-gateway", "gateways", "delete", hub, f"--location={plan.config.gateway.region}")
        for config in listed.split() or (["CONFIG"] if gcloud.dry_run else []):
            yield at_home("api-gateway", "api-configs", "delete", config, f"--api={hub}")
        yield at_home("api-gateway", "apis", "delete", hub)
    if plan.topics():
        yield at_home("scheduler", "jobs", "delete", plan.service("sweeps"), located)
        # Cloud Tasks keeps the name of a deleted queue for three days, in which another one only seems to be made.
        yield at_home("tasks", "queues", "purge", plan.service("wakeups"), located)
        for topic in plan.topics():
            yield at_home("pubsub", "subscriptions", "delete", f"{plan.service('tasks')}.{topic}")
            yield at_home("pubsub", "topics", "delete", topic)
    for function in reversed(plan.deployed()):
        name, place, region = plan.service(function.function.name), function.place, f"--region={function.place.region}"
        if plan.mode == "functions":
            yield Step(place, ("functions", "delete", name, "--gen2", region))
        else:
            yield Step(place, ("run", "services", "delete", name, region))
    yield from _grants(plan)
    pairs = {secret for pair in plan.key_pairs().values() for secret in pair}
    for secret, readers in plan.secrets().items():
        for reader in readers if secret not in pairs else ():
            member = f"--member=serviceAccount:{plan.service_account(reader)}"
            role = "--role=roles/secretmanager.secretAccessor"
            yield at_home("secrets", "remove-iam-policy-binding", secret, member, role, "--condition=None")
    for pair in plan.key_pairs().values():
        yield from (at_home("secrets", "delete", secret) for secret in pair)
    places = {each.place.project: each.place for each in plan.deployed()} | {home.project: home}
    for project, accounts in plan.accounts().items():
        for account in accounts:
            email = f"{account}@{project}.iam.gserviceaccount.com"
            yield Step(places[project], ("iam", "service-accounts", "delete", email))
    prefix = plan.config.name_prefix
    for name, database in plan.databases(plan.deployed()).items() if data else ():
        # One that the operator named may have other users.
        if database.startswith(prefix):
            place = plan.config.functions[name].place
            yield Step(place, ("firestore", "databases", "update", f"--database={database}", "--no-delete-protection"))
            yield Step(place, ("firestore", "databases", "delete", f"--database={database}"))


def _grants(plan: Plan) -> Iterator[Step]:
    """Yield the end of each role that an account has on more than what is deleted: the policies would keep their names."""
    built = {}
    for function in plan.deployed():
        place, name = function.place, function.function.name
        built[place.project] = place
        member = f"--member=serviceAccount:{plan.service_account(name)}"
        for role in plan.roles_of(function):
            condition = "--all" if role == store().role else "--condition=None"
            words = ("projects", "remove-iam-policy-binding", place.project, member, f"--role={role}", condition)
            yield Step(place, words)
        if function.bucket:
            bucket, role = function.bucket
            words = ("storage", "buckets", "remove-iam-policy-binding", f"gs://{bucket}", member, f"--role={role}")
            yield Step(place, (*words, "--condition=None"))
    for project, place in built.items():
        member = f"--member=serviceAccount:{plan.service('build')}@{project}.iam.gserviceaccount.com"
        role = "--role=roles/run.builder"
        yield Step(place, ("projects", "remove-iam-policy-binding", project, member, role, "--condition=None"))


def rollback(plan: Plan, gcloud: Gcloud) -> Iterator[Step]:
    """Yield the commands that undo the last deployment: traffic to the revision before, for each service that it changed, and
    the gateway's config before.
    """
    histories = _histories(plan, gcloud)
    newest = max((revisions[0] for revisions in histories), key=_made, default=None)
    last = _label(newest) if newest else ""
    gateway = _gateway(plan, gcloud)
    labels = gateway.get("labels") or {}
    together = labels.get(_DEPLOYMENT, "") == last
    # The gateway alone was changed after all functions.
    alone = bool(labels.get("before")) and not together and gateway["updateTime"] > (_made(newest) if newest else "")
    for current, *older in [] if alone else histories:
        ready = [each for each in older if _is_ready(each)]
        named = [each for each in ready if each["metadata"]["name"] == _label(current, _BEFORE)]
        before = next(iter(named or ready), None)
        if before is None or not (current is newest or (last and _label(current) == last)):
            continue
        name = current["metadata"]["labels"][_SERVICE]
        place = next(each.place for each in plan.deployed() if plan.service(each.function.name) == name)
        to = f"--to-revisions={before['metadata']['name']}=100"
        yield Step(place, ("run", "services", "update-traffic", name, to, f"--region={place.region}"))
    if (alone or together) and (config := labels.get("before")):
        name, region = plan.service("hub"), f"--location={plan.config.gateway.region}"
        words = ("api-gateway", "gateways", "update", name, f"--api={name}", f"--api-config={config}", region)
        yield Step(plan.config.place, words)


def _gateway(plan: Plan, gcloud: Gcloud) -> Mapping[str, Any]:
    """Return the labels of the gateway, which name its config before, and when it was changed; nothing without a gateway."""
    if plan.direct:
        return {}
    words = ("api-gateway", "gateways", "describe", plan.service("hub"), f"--location={plan.config.gateway.region}")
    described = gcloud.text(*words, "--format=json(labels,updateTime)", place=plan.config.place)
    # gcloud writes null for what is not there.
    found: Mapping[str, Any] = json.loads(described or "{}") or {}
    return found


def _histories(plan: Plan, gcloud: Gcloud) -> Sequence[Sequence[Mapping[str, Any]]]:
    """Return the revisions of each service, newest first."""
    found: dict[str, list[Mapping[str, Any]]] = {plan.service(each.function.name): [] for each in plan.deployed()}
    places = {(each.place.project, each.place.region): each.place for each in plan.deployed()}
    for place in places.values():
        listed = gcloud.text("run", "revisions", "list", f"--region={place.region}", "--format=json", place=place)
        for revision in json.loads(listed or "[]"):
            found.get(revision["metadata"]["labels"].get(_SERVICE, ""), []).append(revision)
    return [sorted(revisions, key=_made, reverse=True) for revisions in found.values() if revisions]


def _made(revision: Mapping[str, Any]) -> str:
    return str(revision["metadata"]["creationTimestamp"])


def _label(revision: Mapping[str, Any], name: str = _DEPLOYMENT) -> str:
    return str(revision["metadata"]["labels"].get(name, ""))


def _is_ready(revision: Mapping[str, Any]) -> bool:
    conditions = revision.get("status", {}).get("conditions", ())
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


class _Kind(NamedTuple):
    """The group of commands for one kind of resource, the flag for its file, its field of labels, and the names of its files."""

    group: tuple[str, ...]
    flag: str
    labels: str
    files: str


_KINDS = (
    _Kind(("monitoring", "dashboards"), "--config-from-file", "labels", "dashboard*.json"),
    _Kind(("alpha", "monitoring", "policies"), "--policy-from-file", "userLabels", "policy-*.json"),
)


def monitoring_steps(plan: Plan, gcloud: Gcloud, folder: Path, *, removes: bool = False) -> Iterator[Step]:
    """Yield the commands after which there is what the files describe, and nothing else of this environment; with `removes`, or
    if it is not enabled, nothing at all. The files that they read are written to `folder`.
    """
    monitoring, place = plan.config.monitoring, plan.config.place
    if monitoring is None:
        return
    for kind in _KINDS:
        listed = gcloud.text(*kind.group, "list", f"--format=json(name,etag,{kind.labels})", place=place)
        there = {
            labels[_PART]: each
            for each in json.loads(listed or "[]")
            if (labels := each.get(kind.labels) or {}).get(_ENVIRONMENT) == plan.config.name_prefix
        }
        wanted = {} if removes or not monitoring.enabled else dict(_wanted(plan, kind))
        for part, resource in wanted.items():
            old = there.pop(part, {})
            if old.get(kind.labels, {}).get(_CONTENT) == resource[kind.labels][_CONTENT]:
                continue
            file = folder / f"{part}.json"
            folder.mkdir(parents=True, exist_ok=True)
            # A dashboard is replaced only by who has seen it.
            etag = {"etag": old["etag"]} if "etag" in old else {}
            file.write_text(json.dumps({**resource, **etag}, indent=2, ensure_ascii=False), encoding="utf-8")
            verb = ("update", old["name"]) if old else ("create",)
            yield Step(place, (*kind.group, *verb, f"{kind.flag}={file}"))
        yield from (Step(place, (*kind.group, "delete", each["name"])) for each in there.values())


def _wanted(plan: Plan, kind: _Kind) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the name and the content of each resource, with labels by which it is found again, and known to be unchanged."""
    prefix, monitoring = plan.config.name_prefix, plan.config.monitoring
    assert monitoring is not None, "there is nothing to make without it"
    for file in sorted(_FILES.glob(kind.files)):
        text = file.read_text(encoding="utf-8").replace("${PREFIX}", prefix)
        resource = json.loads(text.replace("${NAMESPACE}", plan.config.namespace))
        if kind.flag == "--policy-from-file":
            resource["notificationChannels"] = [*monitoring.notification_channels]
        content = hashlib.sha256(json.dumps(resource, sort_keys=True).encode()).hexdigest()[:32]
        labels = {**plan.config.labels, _ENVIRONMENT: prefix, _PART: file.stem, _CONTENT: content}
        yield file.stem, {**resource, kind.labels: labels}
