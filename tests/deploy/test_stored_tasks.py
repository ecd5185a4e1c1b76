"""A hub that keeps tasks in Firestore, wakes through Pub/Sub and has workers, without a gateway."""

import base64
import json
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from a2a_hub.queue.wakeups import SWEEPS_TOPIC, WEBHOOKS_TOPIC, Wakeup, read_push, topic_of
from deploy.plan import missing_fields, missing_indexes
from tests.deploy.deployments import Deployment, Outcome, deployment
from tests.deploy.test_deployment_variants import ALONE, HUB, NUMBER
from tests.deploy.tools import ROOT

WANTED = json.loads((ROOT / "firestore.indexes.json").read_text())
BUILDER = "builder@partner-project.iam.gserviceaccount.com"
CONFIG = f"""{ALONE}
[functions.hub.environment]
TASK_STORE = "firestore"
WAKEUPS = "pubsub:hub-"

[functions.tasks.workers]
developer = ["{BUILDER}"]
"""
ROUTE = """
[[routes]]
id = "build"
name = "Builder"
description = "Builds software."
examples = ["Build it"]
keywords = ["zbuild"]
priority = 7
role = "developer"
"""
PUBLISHERS = [f"serviceAccount:a2a-{name}@{HUB}.iam.gserviceaccount.com" for name in ("hub", "tasks")]
DATABASE = f"projects/{HUB}/databases/a2a-tasks"
TASKS = f"https://a2a-tasks-{NUMBER}.asia-northeast1.run.app"
TOPICS = {"a2a-hub-tasks": [], "a2a-hub-webhooks": [], "a2a-hub-tasks-developer": [f"serviceAccount:{BUILDER}"]}
QUEUE = f"projects/{HUB}/locations/asia-northeast1/queues/a2a-wakeups"
WAKEUPS = f"a2a-wakeups@{HUB}.iam.gserviceaccount.com"


class Deployed(NamedTuple):
    deployment: Deployment
    first: Outcome
    second: Outcome


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    with deployment(tmp_path_factory.mktemp("tasks"), config=CONFIG, whole=True) as one:
        routes = one.tree / "routes.toml"
        routes.write_text(routes.read_text() + ROUTE)
        one.google.cloud.accounts.add(BUILDER)
        one.google.firestore.slow = 2
        stages = ("--direct", "--only=prepare,bundle,hub,tasks")
        first = one.deploy(*stages)
        assert first.status == 0, first.out + first.err
        yield Deployed(one, first, one.deploy(*stages))


def test_the_second_run_changes_nothing(deployed: Deployed) -> None:
    assert (deployed.second.status, deployed.second.changes) == (0, []), deployed.second.err


def test_the_database_is_a_native_one_in_the_region_and_is_waited_for(deployed: Deployed) -> None:
    ((name, database),) = deployed.deployment.google.firestore.databases.items()
    assert name == DATABASE
    assert (database["type"], database["locationId"]) == ("FIRESTORE_NATIVE", "asia-northeast1")
    assert deployed.first.out.count("gcloud firestore databases create") == 1


def test_it_has_the_indexes_of_the_file_and_no_others(deployed: Deployed) -> None:
    firestore = deployed.deployment.google.firestore
    assert len(firestore.indexes) == len(WANTED["indexes"])
    assert list(missing_indexes(WANTED, list(firestore.indexes.values()))) == []
    assert set(firestore.fields) == {
        f"{DATABASE}/collectionGroups/{field['collectionGroup']}/fields/{field['fieldPath']}"
        for field in WANTED["fieldOverrides"]
    }
    assert list(missing_fields(WANTED, list(firestore.fields.values()))) == []


def test_each_role_has_the_topic_that_the_hub_publishes_to(deployed: Deployed) -> None:
    google = deployed.deployment.google
    wanted = (topic_of(""), WEBHOOKS_TOPIC, topic_of("developer"))
    assert set(google.pubsub.topics) == {f"projects/{HUB}/topics/a2a-hub-{topic}" for topic in wanted}
    for topic, hears in TOPICS.items():
        name = f"projects/{HUB}/topics/{topic}"
        assert google.cloud.members(name, "roles/pubsub.publisher") == PUBLISHERS
        assert google.cloud.members(name, "roles/pubsub.subscriber") == hears


def test_each_topic_is_pushed_to_tasks_as_an_account_of_its_own(deployed: Deployed) -> None:
    subscriptions = deployed.deployment.google.pubsub.subscriptions
    assert set(subscriptions) == {f"projects/{HUB}/subscriptions/a2a-tasks.{topic}" for topic in TOPICS}
    for subscription in subscriptions.values():
        assert subscription["ackDeadlineSeconds"] == 600
        assert subscription["pushConfig"] == {
            "pushEndpoint": f"{TASKS}/wakeups",
            "oidcToken": {
                "serviceAccountEmail": f"a2a-wakeups@{HUB}.iam.gserviceaccount.com",
                "audience": TASKS,
            },
        }


def test_a_queue_and_a_sweep_of_every_minute_call_tasks_as_the_same_account(deployed: Deployed) -> None:
    google = deployed.deployment.google
    assert list(google.queues.queues) == [QUEUE]
    assert google.cloud.members(QUEUE, "roles/cloudtasks.enqueuer") == PUBLISHERS
    assert google.cloud.members(f"serviceAccounts/{WAKEUPS}", "roles/iam.serviceAccountUser") == PUBLISHERS
    (job,) = google.scheduler.jobs.values()
    assert (job["schedule"], job["attemptDeadline"]) == ("* * * * *", "600s")
    target = job["httpTarget"]
    assert (target["uri"], target["httpMethod"]) == (f"{TASKS}/wakeups", "POST")
    assert target["oidcToken"] == {"serviceAccountEmail": WAKEUPS, "audience": TASKS}
    assert read_push(base64.b64decode(target["body"])) == Wakeup(SWEEPS_TOPIC, "all")


def test_the_functions_know_the_queue_and_run_nothing_between_requests(deployed: Deployed) -> None:
    for name in ("hub", "tasks"):
        template = deployed.deployment.google.run.services[f"{HUB}/a2a-{name}"]["spec"]["template"]
        variables = {one["name"]: one.get("value") for one in template["spec"]["containers"][0]["env"]}
        assert (variables["WAKEUP_QUEUE"], variables["TASKS_URL"]) == (QUEUE, TASKS)
        assert (variables["WAKEUP_ACCOUNTS"], variables["TASK_RUNS"]) == (WAKEUPS, "queued")
        annotations = template["metadata"]["annotations"]
        assert annotations["run.googleapis.com/cpu-throttling"].lower() == "true"
        assert annotations.get("autoscaling.knative.dev/minScale", "0") == "0"


def test_tasks_is_there_for_workers_and_wake_ups_and_the_hub_for_tasks(deployed: Deployed) -> None:
    google = deployed.deployment.google
    wakeups, tasks = (f"serviceAccount:a2a-{name}@{HUB}.iam.gserviceaccount.com" for name in ("wakeups", "tasks"))
    role = "roles/run.invoker"
    assert google.cloud.members(f"{HUB}/a2a-tasks", role) == [f"serviceAccount:{BUILDER}", wakeups]
    assert tasks in google.cloud.members(f"{HUB}/a2a-hub", role)
    hub = tasks.replace("a2a-tasks", "a2a-hub")
    assert google.cloud.members(f"projects/{HUB}", "roles/datastore.user") == [hub, tasks]
    for secret, reader in (("tasks-private-key", tasks), ("tasks-public-keys", hub), ("hub-public-keys", tasks)):
        key = f"projects/{HUB}/secrets/a2a-{secret}"
        assert google.cloud.members(key, "roles/secretmanager.secretAccessor") == [reader]


def test_tasks_knows_whose_tokens_it_takes(deployed: Deployed) -> None:
    spec = deployed.deployment.google.run.services[f"{HUB}/a2a-tasks"]["spec"]["template"]["spec"]
    variables = {one["name"]: one.get("value") for one in spec["containers"][0]["env"]}
    assert variables["ID_TOKEN_AUDIENCES"] == TASKS
    assert variables["WORKER_ACCOUNTS"] == f"{BUILDER}=developer"
    assert variables["WAKEUP_ACCOUNTS"] == f"a2a-wakeups@{HUB}.iam.gserviceaccount.com"
    assert variables["WAKEUPS"] == "pubsub:a2a-hub-"


def test_a_subscription_that_pushes_elsewhere_is_moved_and_an_index_that_went_is_made(
    deployed: Deployed,
) -> None:
    google = deployed.deployment.google
    name = f"projects/{HUB}/subscriptions/a2a-tasks.a2a-hub-tasks"
    google.pubsub.subscriptions[name]["pushConfig"]["pushEndpoint"] = "https://older.example.com/wakeups"
    google.firestore.indexes.popitem()
    outcome = deployed.deployment.deploy("--direct", "--only=prepare")
    assert outcome.status == 0, outcome.err
    assert outcome.changes == [
        f"firestore POST /v1/{DATABASE}/collectionGroups/tasks/indexes",
        f"pubsub PATCH /v1/{name}",
    ]
    assert google.pubsub.subscriptions[name]["pushConfig"]["pushEndpoint"] == f"{TASKS}/wakeups"


def test_a_database_of_another_kind_is_left_alone(deployed: Deployed) -> None:
    database = deployed.deployment.google.firestore.databases[DATABASE]
    database["type"] = "DATASTORE_MODE"
    outcome = deployed.deployment.deploy("--direct", "--only=prepare")
    database["type"] = "FIRESTORE_NATIVE"
    assert (outcome.status, outcome.changes) == (2, [])
    assert "of another kind" in outcome.err


def test_a_grant_on_every_database_is_told_of_with_the_command_that_ends_it(deployed: Deployed) -> None:
    account = f"a2a-hub@{HUB}.iam.gserviceaccount.com"
    bindings = deployed.deployment.google.cloud.policies[f"projects/{HUB}"]["bindings"]
    bindings.append({"role": "roles/datastore.user", "members": [f"serviceAccount:{account}"]})
    outcome = deployed.deployment.deploy("--direct", "--only=prepare")
    bindings.pop()
    assert outcome.status == 0, outcome.err
    assert f"# WARNING: {account} may use every database of {HUB}, as an older deployment granted." in outcome.out
    assert f"remove-iam-policy-binding {HUB} --member=serviceAccount:{account}" in outcome.out
    assert "WARNING" not in deployed.second.out
