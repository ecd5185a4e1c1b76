"""`./deploy.sh preflight`: checks without any change what would stop the deployment, and reports everything together."""

import json
import os
import re
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from deploy.advice import advice, permissions, role_for
from deploy.config import FunctionConfig, Place
from deploy.functions import Invoker
from deploy.gcloud import Answer, Gcloud
from deploy.plan import Plan

_SECONDS = 30
_MAX_CONFIGS = 95
_REGION = re.compile(r"[a-z]+-[a-z]+[0-9]+")
_CONTINENTS = ("africa", "asia", "australia", "europe", "me", "northamerica", "southamerica", "us")
# The level (`error`, `note` for what deploy.sh does by itself, `unknown` for what could not be read), a text and its fix.
Found = Iterator[tuple[str, str, str]]
# The words of a command of gcloud, and what judges its output.
_Reading = tuple[tuple[str, ...], Callable[[str], Found]]


@dataclass(frozen=True, slots=True)
class Finding:
    """An error in a project, and its remedy."""

    level: str
    project: str
    text: str
    fix: str


def findings(plan: Plan, gcloud: Gcloud) -> Sequence[Finding]:
    """Return what is wrong in the projects of the plan; nothing in a dry run, which shows the commands."""
    places = {place.project: place for place in (plan.config.place, *(each.place for each in plan.deployed()))}
    asked = [(place, *reading) for place in places.values() for reading in _readings(plan, place)]

    def read(place: Place, words: Sequence[str], judge: Callable[[str], Found]) -> tuple[Answer, Sequence[Finding]]:
        answer = gcloud(*words, place=place)
        judged = judge(answer.text) if answer.ok and not gcloud.dry_run else ()
        return answer, [Finding(level, place.project, text, fix) for level, text, fix in judged]

    unread: dict[tuple[str, str], dict[str, str]] = {}
    found: list[Finding] = []
    with ThreadPoolExecutor(1 if gcloud.dry_run else 8) as pool:
        for (place, words, _), (answer, each) in zip(asked, pool.map(read, *zip(*asked, strict=True)), strict=True):
            found += each
            if not (answer.ok or answer.absent):
                fix = advice(answer.message, command=[f"--project={place.project}"])
                unread.setdefault((place.project, fix), {})[" ".join(words[:3])] = answer.message
    return [*(_unread(project, fix, messages) for (project, fix), messages in unread.items()), *found]


def _unread(project: str, fix: str, messages: Mapping[str, str]) -> Finding:
    """Return one finding for all commands that failed for the same reason. With the list of services a deployment begins."""
    (command, message), *others = messages.items()
    text = f"gcloud {command}: {message[:300]}{f' (and {len(others)} more commands)' if others else ''}"
    return Finding("error" if "services list --enabled" in messages else "unknown", project, text, fix)


def render(findings: Sequence[Finding], *, as_json: bool) -> str:
    """Return the findings for a person, or as JSON."""
    if as_json:
        return json.dumps([asdict(finding) for finding in findings], indent=2, ensure_ascii=False)
    lines = [f"{each.level:8}{each.project}: {each.text}\n        fix: {each.fix}" for each in findings]
    errors, unknown = (sum(each.level == level for each in findings) for level in ("error", "unknown"))
    return "\n".join((*lines, f"preflight: {errors} would stop the deployment, {unknown} could not be read"))


def _readings(plan: Plan, place: Place) -> Iterator[_Reading]:
    here = [function for function in plan.deployed() if function.place.project == place.project]
    regions = sorted({function.place.region for function in here})
    apis = plan.services().get(place.project, ())
    project = place.project
    yield ("billing", "projects", "describe", project, "--format=value(billingEnabled)"), partial(_billing, project)
    yield ("services", "list", "--enabled", "--format=value(config.name)"), partial(_apis, place, apis)
    yield ("auth", "print-access-token"), partial(_roles, place, apis)
    for constraint, values, fix in _constraints(plan, here, regions, apis):
        words: tuple[str, ...] = ("org-policies", "describe", constraint, "--effective", "--format=json")
        yield words, partial(_policy, constraint, values, fix)
    yield ("run", "regions", "list", "--format=value(locationId)"), partial(_locations, "Cloud Run", regions)
    words = ("beta", "quotas", "info", "list", "--service=run.googleapis.com")
    yield (*words, "--format=json(quotaId,dimensionsInfos)"), partial(_quotas, place, here)
    if plan.databases(here):
        words = ("firestore", "locations", "list", "--format=value(locationId)")
        yield words, partial(_locations, "Firestore", [place.region])
    if place is plan.config.place and not plan.direct:
        api = plan.service("hub")
        words = ("api-gateway", "api-configs", "list", f"--api={api}", "--format=value(name.basename())")
        yield words, partial(_configs, place, api)


def _constraints(
    plan: Plan, here: Sequence[FunctionConfig], regions: Sequence[str], apis: Sequence[str]
) -> Iterator[tuple[str, Sequence[str], str]]:
    """Yield the organisation policies that matter, the values that each has to allow, and the remedy."""
    public = [each.function.name for each in here if Invoker.EVERYBODY in plan.invokers(each.function)]
    exception = "ask the administrator of the organisation for an exception for the project"
    if public:
        settings = plan.config.functions
        unchecked = [name for name in public if not settings[name].invoker_iam_check]
        if granted := [name for name in public if name not in unchecked]:
            keys = (
                "private = true" if settings[name].function.is_agent else "invoker_iam_check = false"
                for name in granted
            )
            fix = " and ".join(f"set {key} in [functions.{name}]" for key, name in zip(keys, granted, strict=True))
            for constraint in ("iam.allowedPolicyMemberDomains", "iam.managed.allowedPolicyMembers"):
                yield constraint, ["allUsers"], f"{fix} of deploy.toml"
        if unchecked:
            tables = ", ".join(f"[functions.{name}]" for name in unchecked)
            fix = f"ask for an exception for the project, or make an agent private and leave out others: {tables}"
            yield "run.managed.requireInvokerIam", ["invoker_iam_check = false"], fix
    yield "gcp.resourceLocations", regions, "set region in deploy.toml to one that the policy allows"
    yield "run.allowedIngress", sorted({each.resources.ingress for each in here}), exception
    egress = {each.resources.vpc_egress if each.resources.network else "no network" for each in here}
    yield "run.allowedVPCEgress", sorted(egress), "set network and vpc_egress in [defaults] of deploy.toml"
    pool = "set worker_pool in deploy.toml to a private pool of Cloud Build that the policy allows"
    yield (
        "cloudbuild.allowedWorkerPools",
        sorted({each.place.worker_pool or "Google's own pool" for each in here}),
        pool,
    )
    if not any(each.place.kms_key for each in here):
        yield "gcp.restrictNonCmekServices", apis, "set kms_key in deploy.toml to a key of Cloud KMS"
    yield "run.allowedBinaryAuthorizationPolicies", ["none"], exception
    yield "iam.disableServiceAccountCreation", ["a new account"], exception


def allows(policy: Mapping[str, Any], value: str) -> bool | None:
    """Return False if an effective policy, as `gcloud org-policies describe` shows it, refuses `value` or is enforced; None if
    that depends on a group whose members only Google knows.
    """
    names = {value, f"is:{value}", f"in:{value}-locations", f"in:{value.partition('-')[0]}-locations"}
    for rule in policy.get("spec", policy).get("rules", ()):
        values = rule.get("values", {})
        listed = values.get("allowedValues")
        if rule.get("enforce") or rule.get("denyAll") or not names.isdisjoint(values.get("deniedValues", ())):
            return False
        if listed is not None and names.isdisjoint(listed):
            return None if _is_undecided(listed, value) else False
    return True


def _is_undecided(listed: Sequence[str], value: str) -> bool:
    """Return True if a group among the allowed values may contain `value`: one of locations that is no region's and no
    continent's, or one of all worker pools of a project.
    """
    if value.startswith("projects/"):
        return any(each.startswith("under:") for each in listed)
    groups = [each.removeprefix("in:").removesuffix("-locations") for each in listed if each.startswith("in:")]
    return bool(_REGION.fullmatch(value)) and any(
        not _REGION.fullmatch(group) and group not in _CONTINENTS for group in groups
    )


def _policy(constraint: str, values: Sequence[str], fix: str, text: str) -> Found:
    for value in values:
        allowed = allows(json.loads(text or "{}"), value)
        if allowed is None:
            yield "unknown", f"the organisation policy constraints/{constraint} names groups; is {value} in one?", fix
        elif not allowed:
            yield "error", f"the organisation policy constraints/{constraint} does not allow {value}", fix


def _billing(project: str, text: str) -> Found:
    if text != "True":
        fix = f"gcloud billing projects link {project} --billing-account=ACCOUNT"
        yield "error", "the project has no billing account", fix


def _apis(place: Place, wanted: Sequence[str], text: str) -> Found:
    missing = sorted(set(wanted) - set(text.split()))
    if missing:
        command = f"gcloud services enable {' '.join(missing)} --project={place.project}"
        yield "note", "APIs that are not enabled; deploy.sh enables them", command


def _roles(place: Place, apis: Sequence[str], token: str) -> Found:
    """Ask which permissions the caller holds: unlike the project's policy, the answer counts groups, folders and conditions."""
    wanted = [name for api in apis for name in permissions().get(api.partition(".")[0], ())]
    wanted.append("serviceusage.services.enable")
    host = os.environ.get("CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDRESOURCEMANAGER")
    request = urllib.request.Request(
        f"{host or 'https://cloudresourcemanager.googleapis.com/'}v1/projects/{place.project}:testIamPermissions",
        data=json.dumps({"permissions": wanted}).encode(),
        headers={"authorization": f"Bearer {token}", "content-type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
            held = json.load(answer).get("permissions", ())
    except OSError as problem:
        yield "unknown", f"the roles of the caller could not be read: {problem}", advice(str(problem), command=())
        return
    missing: dict[str, list[str]] = {}
    for permission in wanted:
        if permission not in held:
            missing.setdefault(role_for(permission), []).append(permission)
    account = place.impersonate_service_account or place.account or "YOU"
    member = f"{'serviceAccount' if account.endswith('gserviceaccount.com') else 'user'}:{account}"
    for role, lacking in missing.items():
        command = f"gcloud projects add-iam-policy-binding {place.project} --member={member} --role={role}"
        yield "error", f"the caller lacks {', '.join(lacking)}", command


def _locations(product: str, regions: Sequence[str], text: str) -> Found:
    for region in regions:
        if text and region not in text.split():
            yield (
                "error",
                f"{product} is not in {region}",
                f"set region in deploy.toml to one of {', '.join(text.split())}",
            )


def _quotas(place: Place, here: Sequence[FunctionConfig], text: str) -> Found:
    """Check each function alone: Cloud Run refuses a service whose instances together exceed the region's quota."""
    limits = {
        (quota["quotaId"], location): int(info["details"]["value"])
        for quota in json.loads(text or "[]")
        for info in quota.get("dimensionsInfos", ())
        for location in info.get("applicableLocations", ())
        if info.get("details", {}).get("value")
    }
    for function in here:
        resources = function.resources
        instance = {
            "CpuAllocPerProjectRegion": round(float(resources.cpu) * 1000),
            "MemAllocPerProjectRegion": resources.memory_mib << 20,
        }
        for quota, each in instance.items():
            limit = limits.get((quota, function.place.region), -1)
            if 0 <= limit < each * resources.max_instances:
                name, region = function.function.name, function.place.region
                command = (
                    f"gcloud beta quotas preferences create --service=run.googleapis.com --quota-id={quota} "
                    f"--preferred-value={each * resources.max_instances} --dimensions=region={region} --project={place.project}"
                )
                text = f"max_instances = {resources.max_instances} of {name} exceeds the quota {quota} of {region}"
                fewer = f"set max_instances = {limit // each} in [functions.{name}], or " if limit >= each else ""
                yield "error", text, f"{fewer}ask for more: {command}"


def _configs(place: Place, api: str, text: str) -> Found:
    configs = text.split()
    if len(configs) >= _MAX_CONFIGS:
        fix = f"gcloud api-gateway api-configs delete {configs[-1]} --api={api} --project={place.project}"
        yield "error", f"{api} has {len(configs)} configs, and API Gateway keeps 100: delete unused ones", fix
