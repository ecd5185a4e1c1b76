"""The dashboard and the alert policies: made, kept, changed and deleted; and each asks for a metric that there is."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.telemetry import log
from deploy.config import Place
from deploy.gcloud import Answer
from deploy.lifecycle import carry_out, monitoring_steps
from tests.deploy.deployments import deployment
from tests.deploy.plans import EXAMPLE, WATCHED, plan
from tests.deploy.tools import ROOT

FILES = sorted((ROOT / "deploy" / "monitoring").glob("*.json"))
POLICIES = ["circuit-open", "error-rate", "latency", "lost-work", "quota-refusals"]
# In queries: a metric with its labels, as Cloud Monitoring writes names with dots.
_SELECTOR = re.compile(r'\{"([^"]+)"([^}]*)\}')
_LABEL = re.compile(r'"?([\w.]+)"?(?:=|!=|=~)"')
_RECORDED = re.compile(r'tracing\.(add|measure)\(\s*"([^"]+)"')


@dataclass
class Monitoring:
    """Cloud Monitoring behind gcloud: its resources by name, and the commands that changed something."""

    things: dict[str, dict[str, Any]] = field(default_factory=dict)
    changes: list[str] = field(default_factory=list)
    refuses: str = ""

    def __call__(self, *words: str, place: Place) -> Answer:
        *group, verb = words[
            : words.index(next(word for word in words if word in ("list", "create", "update", "delete"))) + 1
        ]
        if verb == "list":
            mine = [thing for thing in self.things.values() if thing["group"] == group]
            return Answer(True, json.dumps(mine), "")
        if self.refuses and self.refuses in " ".join(words):
            return Answer(False, "", "PERMISSION_DENIED")
        named = words[len(group) + 1]
        self.changes.append(f"{verb} {named.rpartition('/')[2].removesuffix('.json')}")
        if verb == "delete":
            del self.things[named]
            return Answer(True, "", "")
        sent = json.loads(Path(words[-1].partition("=")[2]).read_text())
        name = named if verb == "update" else f"projects/{place.project}/{len(self.things)}-{len(self.changes)}"
        if verb == "update" and "dashboards" in group:
            assert sent.pop("etag") == self.things[name]["etag"]
        self.things[name] = {**sent, "group": group, "name": name, "etag": f"etag-{len(self.changes)}"}
        return Answer(True, "", "")

    def text(self, *words: str, place: Place) -> str:
        return self(*words, place=place).text


def deploy(cloud: Monitoring, folder: Path, text: str = WATCHED, **options: Any) -> list[str]:
    """The changes that the deployment of this deploy.toml makes."""
    cloud.changes.clear()
    assert not carry_out(list(monitoring_steps(plan(text), cloud, folder, **options)), cloud)  # type: ignore[arg-type]
    return sorted(cloud.changes)


def test_they_are_made_once_changed_when_they_differ_and_deleted(tmp_path: Path) -> None:
    cloud = Monitoring()
    made = [f"create {each}" for each in ("dashboard", *(f"policy-{name}" for name in POLICIES))]
    assert deploy(cloud, tmp_path) == made
    assert deploy(cloud, tmp_path) == []
    told = WATCHED.replace(
        "\n[monitoring]", '\n[monitoring]\nnotification_channels = ["projects/p-1/notificationChannels/7"]'
    )
    assert [each.partition(" ")[0] for each in deploy(cloud, tmp_path, told)] == ["update"] * 5
    channels = [thing.get("notificationChannels") for thing in cloud.things.values()]
    assert sorted(map(str, channels)) == sorted(["None", *["['projects/p-1/notificationChannels/7']"] * 5])
    assert deploy(cloud, tmp_path, told) == []
    off = WATCHED.replace("\n[monitoring]", "\n[monitoring]\nenabled = false")
    assert [each.partition(" ")[0] for each in deploy(cloud, tmp_path, off)] == ["delete"] * 6
    assert cloud.things == {}


def test_one_that_is_not_described_any_more_is_deleted_and_nobody_elses(tmp_path: Path) -> None:
    cloud = Monitoring()
    deploy(cloud, tmp_path, 'name_prefix = "stage-"\n' + WATCHED)
    others = set(cloud.things)
    deploy(cloud, tmp_path)
    theirs: dict[str, Any] = {
        "group": ["monitoring", "dashboards"],
        "name": "projects/p/theirs",
        "etag": "e",
        "displayName": "Theirs",
    }
    old = theirs | {"name": "projects/p/old", "labels": {"environment": "a2a-", "part": "dashboard-old"}}
    cloud.things |= {each["name"]: each for each in (theirs, old)}
    assert deploy(cloud, tmp_path) == ["delete old"]
    assert len(deploy(cloud, tmp_path, removes=True)) == 6
    assert set(cloud.things) == {*others, "projects/p/theirs"}


def test_gcloud_makes_them_as_they_are_described_and_a_second_deployment_changes_nothing(tmp_path: Path) -> None:
    with deployment(tmp_path, config=WATCHED) as one:
        first = one.deploy("--only=monitoring")
        assert first.status == 0, first.out + first.err
        assert len(first.changes) == 6
        again = one.deploy("--only=monitoring")
        assert (again.status, again.changes) == (0, []), again.out + again.err
        file = one.tree / "deploy" / "monitoring" / "dashboard.json"
        file.write_text(file.read_text().replace("Open streams", "Streams"))
        (one.tree / "deploy" / "monitoring" / "policy-latency.json").unlink()
        third = one.deploy("--only=monitoring")
        assert third.status == 0, third.out + third.err
        assert sorted(each.split()[1] for each in third.changes) == ["DELETE", "PATCH"]
        (dashboard,) = one.google.monitoring.dashboards.values()
        names = {each["displayName"] for each in one.google.monitoring.policies.values()}
    assert any(tile["widget"]["title"] == "Streams" for tile in dashboard["mosaicLayout"]["tiles"])
    assert names == {"a2a-circuit-open", "a2a-error-rate", "a2a-lost-work", "a2a-quota-refusals"}


def test_without_the_table_nothing_is_asked(tmp_path: Path) -> None:
    assert list(monitoring_steps(plan(EXAMPLE), None, tmp_path)) == []  # type: ignore[arg-type]
    assert "monitoring.googleapis.com" in plan(WATCHED).services()["my-hub-project"]
    assert "monitoring.googleapis.com" not in plan(EXAMPLE).services()["my-hub-project"]


def test_there_are_five_policies_that_say_what_to_do() -> None:
    assert [file.stem.removeprefix("policy-") for file in FILES if file.stem != "dashboard"] == POLICIES
    for file in FILES:
        if file.stem != "dashboard":
            assert re.search(r"`hubctl |docs/", json.loads(file.read_text())["documentation"]["content"]), file.name


def _recorded() -> dict[str, str]:
    """The metrics that the code records: how each is, by name."""
    sources = [*(ROOT / "shared").rglob("*.py"), *(ROOT / "functions").rglob("*.py")]
    found = [match for source in sources for match in _RECORDED.findall(source.read_text())]
    return {str(name): str(how) for how, name in found}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_metric_of_a_query_is_recorded_with_these_labels(file: Path) -> None:
    recorded, code = _recorded(), "".join(path.read_text() for path in (ROOT / "functions").rglob("*.py"))
    code += "".join(path.read_text() for path in (ROOT / "shared").rglob("*.py"))
    queries = re.findall(r'"(?:query|prometheusQuery)": "((?:[^"\\]|\\.)*)"', file.read_text())
    assert queries
    for query in (json.loads(f'"{each}"') for each in queries):
        assert query.count("(") == query.count(")")
        assert "namespace=" in query or "${PREFIX}" in query, "another environment in this project has the same metrics"
        for name, labels in _SELECTOR.findall(query):
            if name.startswith("pubsub.googleapis.com/"):
                continue
            base = re.sub(r"_(count|bucket|sum)$", "", name)
            assert recorded.get(base) == ("add" if base == name else "measure"), name
            for label in {*_LABEL.findall(labels)} - {"namespace", "job"}:
                assert label in log._ATTRIBUTES.values() or f'"{label}"' in code, label
        for label in re.findall(r'by \((?:le, )?"([^"]+)"\)', query):
            assert label in log._ATTRIBUTES.values() or label in code, label
