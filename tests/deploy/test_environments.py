"""Two environments in one project share nothing, and none leaves its tasks behind unnoticed."""

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from deploy.config import ConfigError
from deploy.plan import check_store
from tests.deploy.deployments import copied_tree, without_cloud
from tests.deploy.plans import DEVTOOL, WITH_TASKS, plan
from tests.deploy.tools import program

PREFIXES = ("a2a-", "stage-")
# What makes a resource, up to its name.
_MAKES = re.compile(
    r"^gcloud (?P<kind>[a-z -]+?) (?:create http|create|deploy) (?!--)(?P<name>\S+)|"
    r"^gcloud (?P<database>firestore [a-z -]+?) create .*--database=(?P<of>\S+)"
)


def made(tree: Path, prefix: str, *options: str) -> set[tuple[str, str]]:
    """The kind and the name of everything that a first deployment with this prefix makes."""
    (tree / "deploy.toml").write_text(f'name_prefix = "{prefix}"\n{WITH_TASKS}{DEVTOOL}')
    environment = without_cloud(tree.parent)
    done = subprocess.run(
        ["./deploy.sh", "--dry-run", *options], cwd=tree, env=environment, capture_output=True, text=True, check=True
    )
    found = [_MAKES.match(line) for line in done.stdout.splitlines() if re.match("gcloud .* (create|deploy) ", line)]
    return {(each["kind"] or each["database"], each["name"] or each["of"]) for each in found if each}


@pytest.mark.parametrize("options", [(), ("--direct", "--mode=run")], ids=" ".join)
def test_two_environments_in_one_project_have_no_resource_in_common(tmp_path: Path, options: Sequence[str]) -> None:
    program("gcloud")
    tree = copied_tree(tmp_path)
    first, second = (made(tree, prefix, *options) for prefix in PREFIXES)
    assert {kind for kind, _ in first} >= {"run", "iam service-accounts", "secrets", "pubsub topics"}
    assert {kind for kind, _ in first} >= {
        "firestore databases",
        "tasks queues",
        "scheduler jobs",
        "pubsub subscriptions",
    }
    # The id of a gateway's config is the hash of what is in it.
    named = {(kind, name) for kind, name in first if not name.startswith("hub-")}
    assert all(name.startswith("a2a-") for _, name in named)
    assert {(kind, name.replace("a2a-", "stage-")) for kind, name in named} <= second
    assert not first & second


def service(name: str, store: str) -> Mapping[str, Any]:
    container = {"env": [{"name": "TASK_STORE", "value": store}, {"name": "SIGNING_KEY", "valueFrom": {}}]}
    return {"metadata": {"name": name}, "spec": {"template": {"spec": {"containers": [container]}}}}


def check(*services: Mapping[str, Any], exists: bool = False, empty_store: bool = False) -> None:
    check_store(services, plan=plan(WITH_TASKS), database="a2a-tasks", exists=exists, empty_store=empty_store)


def test_what_has_no_tasks_elsewhere_needs_no_word() -> None:
    check()
    check({"metadata": {"name": "shop"}, "spec": {}})
    check(service("a2a-hub", "firestore:a2a-tasks"), service("stage-hub", "firestore:stage-tasks"), exists=True)


@pytest.mark.parametrize(
    ("there", "told"),
    [
        (service("b2b-hub", "firestore:b2b-tasks"), "the service b2b-hub has tasks in b2b-tasks. If you changed"),
        (service("a2a-hub", "firestore"), r'To keep them: TASK_STORE = "firestore:\(default\)"'),
    ],
)
def test_a_change_that_leaves_tasks_behind_is_refused_unless_it_is_meant(there: Mapping[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        check(there)
    check(there, empty_store=True)


def test_a_database_of_another_environment_is_refused_even_if_it_is_meant() -> None:
    with pytest.raises(ConfigError, match="stage-hub of another environment"):
        check(service("stage-hub", "firestore:a2a-tasks"), exists=True, empty_store=True)
