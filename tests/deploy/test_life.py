"""A deployment is undone: as a canary before it serves, by a step back, and altogether."""

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.deployments import Deployment, deployment
from tests.deploy.test_deployment_variants import ALONE, HUB, has_accounts
from tests.fakes.google_cloud.cloud import Refused

STAGES = "--only=prepare,bundle,agent_card,hub,gateway"
CONFIG = f'{ALONE}\n[functions.hub.environment]\nTASK_STORE = "firestore"\n'


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """A deployment of two functions, and a curl that asks nobody: it answers with the status in the file `status`."""
    with deployment(tmp_path_factory.mktemp("life"), config=CONFIG) as one:
        has_accounts(one)
        program = one.tree.parent / "bin" / "curl"
        program.parent.mkdir()
        real = next(folder for folder in one.environment["PATH"].split(":") if (Path(folder) / "curl").exists())
        program.write_text(
            f'#!/bin/sh\ncase "$*" in *canary---*) cat "{one.tree}/status";; *) exec "{real}/curl" "$@";; esac\n'
        )
        program.chmod(program.stat().st_mode | stat.S_IEXEC)
        one.environment["PATH"] = f"{program.parent}:{one.environment['PATH']}"
        outcome = one.deploy(STAGES, "--json")
        assert outcome.status == 0, outcome.out + outcome.err
        functions = {"agent_card": "deployed", "hub": "deployed"}
        assert json.loads(outcome.out) == {
            "url": "https://a2a-hub-0abc12de.an.gateway.dev",
            "functions": functions,
            "refused": [],
        }
        yield one


def traffic(one: Deployment, service: str) -> list[tuple[str, int]]:
    """The revision, or `latest`, and its percentage."""
    spec = one.google.run.services[f"{HUB}/{service}"]["spec"]
    shares = [(each.get("revisionName", "latest"), each.get("percent", 0)) for each in spec["traffic"]]
    return [share for share in shares if share[1]]


def change(one: Deployment, text: str) -> None:
    with (one.tree / "functions" / "agent_card" / "main.py").open("a") as file:
        file.write(f"# {text}\n")


def test_a_new_revision_answers_before_it_serves_and_then_serves_a_part(standing: Deployment) -> None:
    change(standing, "one")
    (standing.tree / "status").write_text("503")
    failed = standing.deploy("--only=bundle,agent_card", "--canary", "10")
    assert failed.status == 1
    assert "answers 503 at https://canary---a2a-agent-card-" in failed.err
    assert traffic(standing, "a2a-agent-card") == [("a2a-agent-card-00001", 100)]
    again = standing.deploy("--only=bundle,agent_card", "--canary", "10")
    assert (again.status, again.changes) == (1, [])
    assert "answers 503" in again.err
    change(standing, "two")
    (standing.tree / "status").write_text("200")
    done = standing.deploy("--only=bundle,agent_card", "--canary=10")
    assert done.status == 0, done.err
    shares = dict(traffic(standing, "a2a-agent-card"))
    assert shares.pop("a2a-agent-card-00001") == 90
    assert list(shares.values()) == [10]
    everything = standing.deploy("--only=agent_card", "--canary=100")
    assert (everything.status, len(everything.changes)) == (0, 1), everything.err
    assert traffic(standing, "a2a-agent-card") == [("latest", 100)]
    # Not the one between them, which did not answer.
    back = standing.deploy("rollback")
    assert (back.status, back.err.splitlines()[-1]) == (
        0,
        "# the revisions before serve all requests; ./deploy.sh --canary 100 ends the rollback",
    )
    assert traffic(standing, "a2a-agent-card") == [("a2a-agent-card-00001", 100)]
    assert standing.deploy("--only=agent_card", "--canary=100").status == 0
    assert traffic(standing, "a2a-agent-card") == [("latest", 100)]


def test_a_step_back_is_that_of_what_the_last_deployment_changed(standing: Deployment) -> None:
    change(standing, "three")
    document = standing.tree / "gateway" / "openapi.yaml"
    document.write_text(document.read_text() + "# changed\n")
    gateway = standing.google.gateways.things[f"projects/{HUB}/locations/asia-northeast1/gateways/a2a-hub"]
    config = gateway["apiConfig"]
    assert standing.deploy("--only=bundle,agent_card,gateway").status == 0
    assert gateway["apiConfig"] != config
    before = [
        each["metadata"]["name"] for each in standing.google.run.revisions if "agent-card" in each["metadata"]["name"]
    ]
    outcome = standing.deploy("rollback", "--json")
    assert outcome.status == 0, outcome.err
    assert json.loads(outcome.out) == {"done": 2, "failed": []}
    assert traffic(standing, "a2a-agent-card") == [(before[-2], 100)]
    assert gateway["apiConfig"].endswith(config.rpartition("/")[2])
    assert traffic(standing, "a2a-hub") == [("latest", 100)]


def test_what_may_not_be_deleted_is_no_success(standing: Deployment) -> None:
    hidden = "Permission 'pubsub.topics.delete' denied on resource (or it may not exist)."
    failures = standing.google.cloud.failures
    failures["DELETE|setIamPolicy|purge"] = Refused(403, "PERMISSION_DENIED", hidden)
    outcome = standing.deploy("delete", "--yes")
    failures.clear()
    assert (outcome.status, outcome.changes) == (1, [])
    assert "FAILED  gcloud pubsub topics delete" in outcome.err


def test_deletion_asks_and_leaves_nothing_but_the_tasks(standing: Deployment) -> None:
    refused = standing.deploy("delete")
    assert (refused.status, refused.changes) == (2, [])
    assert "type a2a-" in refused.err
    google = standing.google
    outcome = standing.deploy("delete", "--yes")
    assert outcome.status == 0, outcome.err
    assert outcome.err.endswith("# deleted, except for the databases (--data)\n")
    assert not google.run.services
    assert not google.gateways.things
    assert not google.secrets.values
    assert not google.pubsub.topics
    assert not google.pubsub.subscriptions
    assert not google.scheduler.jobs
    assert not google.cloud.accounts
    assert not [
        binding for binding in google.cloud.policies[f"projects/{HUB}"].get("bindings", []) if binding["members"]
    ]
    assert list(google.firestore.databases) == [f"projects/{HUB}/databases/a2a-tasks"]


def test_what_was_deleted_is_deployed_again_under_its_names(standing: Deployment) -> None:
    again = standing.deploy(STAGES)
    assert again.status == 0, again.out + again.err
    google = standing.google
    assert [name.rpartition("/")[2] for name in google.queues.queues] == ["a2a-wakeups"]
    assert google.cloud.members(f"{HUB}/a2a-hub", "roles/run.invoker")
    assert standing.deploy(STAGES).changes == []


def test_the_tasks_are_deleted_if_that_is_said_and_their_database_keeps_its_name_for_a_while(
    standing: Deployment,
) -> None:
    last = standing.deploy("delete", "--yes", "--data")
    assert last.status == 0, last.err
    google = standing.google
    assert not google.firestore.databases
    early = standing.deploy("--only=prepare")
    assert early.status == 1
    assert "Firestore keeps the name of a deleted database for some minutes." in early.err
    google.firestore.gone.clear()
    assert standing.deploy("--only=prepare").status == 0
    assert google.firestore.databases
