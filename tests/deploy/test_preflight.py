"""Preflight reads what would stop a deployment, changes nothing, and reports everything with what fixes it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deploy.preflight import allows
from tests.deploy.deployments import PROJECTS, Deployment, deployment
from tests.deploy.plans import WITH_TASKS
from tests.fakes.google_cloud.cloud import Refused

HUB, FINANCE, PARTNER = PROJECTS


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    with deployment(tmp_path_factory.mktemp("preflight"), config=WITH_TASKS) as one:
        yield one


def found(one: Deployment, *, status: int) -> list[dict[str, Any]]:
    outcome = one.deploy("preflight", "--json")
    assert (outcome.status, outcome.changes) == (status, []), outcome.err
    findings: list[dict[str, Any]] = json.loads(outcome.out)
    return findings


def test_a_new_project_that_allows_everything_only_gets_its_apis(project: Deployment) -> None:
    findings = found(project, status=0)
    assert [(each["level"], each["project"]) for each in findings] == [("note", name) for name in PROJECTS]
    assert findings[1]["fix"].startswith("gcloud services enable artifactregistry.googleapis.com ")


def test_everything_that_is_wrong_is_told_together_with_its_fix(project: Deployment) -> None:
    google = project.google
    organisation = google.organisation
    organisation.policies["iam.allowedPolicyMemberDomains"] = {"rules": [{"values": {"allowedValues": ["is:C0abc"]}}]}
    organisation.policies["iam.disableServiceAccountCreation"] = {"rules": [{"enforce": True}]}
    organisation.unbilled = {PARTNER}
    organisation.lacking = {"run.services.setIamPolicy", "datastore.databases.create"}
    info = {"details": {"value": "5000"}, "applicableLocations": ["asia-northeast1"]}
    organisation.quotas = [{"quotaId": "CpuAllocPerProjectRegion", "dimensionsInfos": [info]}]
    organisation.regions = ["us-central1"]
    organisation.policies["cloudbuild.allowedWorkerPools"] = {
        "rules": [{"values": {"allowedValues": ["under:projects/my-builds"]}}]
    }
    organisation.policies["gcp.restrictNonCmekServices"] = {
        "rules": [{"values": {"deniedValues": ["is:run.googleapis.com"]}}]
    }
    organisation.policies["gcp.resourceLocations"] = {"rules": [{"values": {"allowedValues": ["in:jp-locations"]}}]}
    errors = [each for each in found(project, status=1) if each["level"] == "error"]
    text = {(each["project"], each["text"].partition(" in ")[0]): each["fix"] for each in errors}
    domains = "the organisation policy constraints/iam.allowedPolicyMemberDomains does not allow allUsers"
    assert text[FINANCE, domains] == "set private = true in [functions.expense] of deploy.toml"
    assert (HUB, domains) not in text
    assert (
        "exception"
        in text[
            HUB, "the organisation policy constraints/iam.disableServiceAccountCreation does not allow a new account"
        ]
    )
    assert text[PARTNER, "the project has no billing account"].startswith(f"gcloud billing projects link {PARTNER} ")
    member = "--member=user:admin@partner.example.com"
    assert text[PARTNER, "the caller lacks run.services.setIamPolicy"].endswith(
        f"{PARTNER} {member} --role=roles/run.admin"
    )
    assert text[HUB, "the caller lacks datastore.databases.create"].endswith("--role=roles/datastore.owner")
    quota = "max_instances = 10 of hub exceeds the quota CpuAllocPerProjectRegion of asia-northeast1"
    assert text[HUB, quota].startswith("set max_instances = 5 in [functions.hub], or ask for more: gcloud beta quotas ")
    assert not [each for each in text if "agent_card exceeds" in each[1]]
    policy = "the organisation policy constraints/"
    pool = f"{policy}cloudbuild.allowedWorkerPools does not allow Google's own pool"
    assert text[HUB, pool].startswith("set worker_pool in deploy.toml ")
    assert text[HUB, f"{policy}gcp.restrictNonCmekServices does not allow run.googleapis.com"].startswith(
        "set kms_key "
    )
    assert not [each for each in text if "resourceLocations" in each[1]]
    assert (
        text[HUB, "Cloud Run is not"]
        == text[HUB, "Firestore is not"]
        == "set region in deploy.toml to one of us-central1"
    )


def test_a_quota_of_nothing_is_no_advice_to_have_no_instances(project: Deployment) -> None:
    info = {"details": {"value": "0"}, "applicableLocations": ["asia-northeast1"]}
    project.google.organisation.quotas = [{"quotaId": "CpuAllocPerProjectRegion", "dimensionsInfos": [info]}]
    fixes = [each["fix"] for each in found(project, status=1) if "exceeds the quota" in each["text"]]
    assert fixes
    assert all(fix.startswith("ask for more: gcloud beta quotas preferences create ") for fix in fixes)


def test_what_is_public_without_a_grant_needs_another_policy(tmp_path: Path) -> None:
    text = WITH_TASKS.replace("[functions.expense]\n", "[functions.expense]\ninvoker_iam_check = false\n")
    with deployment(tmp_path, config=text) as one:
        policies = one.google.organisation.policies
        policies["iam.allowedPolicyMemberDomains"] = {"rules": [{"values": {"allowedValues": ["is:C0abc"]}}]}
        assert not [each for each in found(one, status=0) if each["level"] == "error"]
        policies["run.managed.requireInvokerIam"] = {"rules": [{"enforce": True}]}
        (error,) = [each for each in found(one, status=1) if each["level"] == "error"]
    assert (error["project"], "invoker_iam_check = false" in error["text"]) == (FINANCE, True)


def test_what_cannot_be_read_is_told_and_stops_nothing(tmp_path: Path) -> None:
    with deployment(tmp_path, config=WITH_TASKS) as one:
        one.google.cloud.failures["orgpolicy GET .*/my-hub-project/.*resourceLocations"] = Refused(
            403, "PERMISSION_DENIED", "no"
        )
        outcome = one.deploy("preflight")
    assert outcome.status == 0
    assert "unknown my-hub-project: gcloud org-policies describe gcp.resourceLocations: ERROR" in outcome.out
    assert "preflight: 0 would stop the deployment, 1 could not be read" in outcome.out


def test_a_project_that_the_caller_may_not_see_is_no_project_without_findings(tmp_path: Path) -> None:
    with deployment(tmp_path, config=WITH_TASKS) as one:
        hidden = "Permission denied on resource project my-hub-project (or it may not exist)."
        one.google.cloud.failures["projects/my-hub-project"] = Refused(403, "PERMISSION_DENIED", hidden)
        outcome = one.deploy("preflight")
    assert outcome.status == 1
    (line,) = [line for line in outcome.out.splitlines() if line.startswith("error")]
    assert line.startswith("error   my-hub-project: gcloud billing projects describe")
    assert line.endswith(" more commands)")
    assert "fix: There is no project my-hub-project, or " in outcome.out


@pytest.mark.parametrize(
    ("rules", "allowed"),
    [
        ([], True),
        ([{"allowAll": True}], True),
        ([{"denyAll": True}], False),
        ([{"values": {"allowedValues": ["in:us-locations"]}}], False),
        ([{"values": {"allowedValues": ["in:asia-northeast1-locations"]}}], True),
        ([{"values": {"allowedValues": ["in:asia-locations"]}}], True),
        ([{"values": {"allowedValues": ["in:jp-locations"]}}], None),
        ([{"values": {"allowedValues": ["in:asia-northeast2-locations"]}}], False),
        ([{"values": {"deniedValues": ["asia-northeast1"]}}], False),
        ([{"enforce": True}], False),
        ([{"enforce": False}], True),
    ],
)
def test_a_policy_is_read_as_google_shows_it(rules: list[dict[str, Any]], allowed: bool | None) -> None:
    assert allows({"spec": {"rules": rules}}, "asia-northeast1") is allowed
