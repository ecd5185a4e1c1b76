"""`[monitoring]` of deploy.toml: the dashboard and the alert policies that the files in deploy/monitoring describe."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from deploy.gcloud import Gcloud
from deploy.life import Step
from deploy.plan import Plan

_FILES = Path(__file__).with_name("monitoring")
_ENVIRONMENT, _PART, _CONTENT = "environment", "part", "content"


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


def steps(plan: Plan, gcloud: Gcloud, folder: Path, *, removes: bool = False) -> Iterator[Step]:
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
