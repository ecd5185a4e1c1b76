"""A step that fails stops the deployment, and says what to do about it."""

import json
import re
from pathlib import Path

import pytest

from deploy.advice import UNKNOWN, advice, remedies, role_for, roles
from tests.deploy.deployments import Deployment, deployment
from tests.deploy.test_deployment_variants import ALONE, HUB, prepared
from tests.fakes.google_cloud.cloud import Refused

__all__ = ["prepared"]


def test_a_missing_permission_stops_there_and_names_the_role_that_gives_it(prepared: Deployment) -> None:
    message = f"Permission 'iam.serviceAccounts.create' denied on resource '//iam.googleapis.com/projects/{HUB}'"
    prepared.google.cloud.failures["iam POST"] = Refused(403, "PERMISSION_DENIED", message)
    prepared.google.cloud.accounts.clear()
    outcome = prepared.deploy("--only=prepare")
    assert outcome.status == 1
    assert "deploy.sh stopped at: gcloud iam service-accounts create a2a-build" in outcome.err
    assert message in outcome.err
    assert f"add-iam-policy-binding {HUB} --member=user:YOU --role=roles/iam.serviceAccountAdmin" in outcome.err
    assert not [change for change in outcome.changes if not change.startswith("serviceusage")]
    assert not prepared.google.secrets.values


def test_an_answer_that_is_not_a_plain_no_is_not_taken_for_one(prepared: Deployment) -> None:
    # Taken for "there is none", it would make a second key, and shut out everybody.
    prepared.google.secrets.values[f"projects/{HUB}/secrets/a2a-gate-private-key"] = ["a2V5"]
    denied = Refused(
        403,
        "PERMISSION_DENIED",
        "Permission 'secretmanager.versions.list' denied on resource (or it may not exist).",
    )
    prepared.google.cloud.failures["secretmanager GET .*/versions"] = denied
    outcome = prepared.deploy("--only=prepare")
    assert outcome.status == 1
    assert "roles/secretmanager.admin" in outcome.err
    assert prepared.google.secrets.values[f"projects/{HUB}/secrets/a2a-gate-private-key"] == ["a2V5"]


def test_an_account_that_is_not_known_everywhere_yet_is_waited_for(prepared: Deployment) -> None:
    prepared.google.cloud.unknown_for_a_while[f"a2a-gate@{HUB}.iam.gserviceaccount.com"] = 2
    outcome = prepared.deploy("--only=prepare")
    assert outcome.status == 0, outcome.err
    readers = prepared.google.cloud.members(
        f"projects/{HUB}/secrets/a2a-gate-private-key", "roles/secretmanager.secretAccessor"
    )
    assert f"serviceAccount:a2a-gate@{HUB}.iam.gserviceaccount.com" in readers


def test_an_api_that_this_run_enabled_is_waited_for(prepared: Deployment) -> None:
    unknown = "Identity and Access Management (IAM) API has not been used in project 1 before or it is disabled."
    refusals = [Refused(403, "PERMISSION_DENIED", unknown) for _ in range(2)]
    prepared.google.cloud.passing["iam GET .*/serviceAccounts"] = refusals
    outcome = prepared.deploy("--only=prepare")
    assert outcome.status == 0, outcome.err
    assert outcome.out.count("still propagating: once more") == 2


def test_a_build_that_fails_leaves_the_grants_alone(prepared: Deployment) -> None:
    prepared.google.cloud.failures["builds:submit"] = Refused(400, "FAILED_PRECONDITION", "Build failed; see the log")
    outcome = prepared.deploy("--only=bundle,agent_card,gateway")
    assert outcome.status == 1
    assert "make test" in outcome.err
    assert not prepared.google.cloud.policies


def test_one_of_several_functions_that_fails_names_itself_and_stops_none_of_the_others(prepared: Deployment) -> None:
    refused = Refused(403, "PERMISSION_DENIED", "Permission 'run.services.get' denied")
    prepared.google.cloud.failures["run GET .*/services/a2a-gate$"] = refused
    outcome = prepared.deploy("--only=bundle,agent_card,gate,gateway", "--json")
    assert outcome.status == 1
    assert json.loads(outcome.out)["functions"] == {"agent_card": "deployed", "gate": "failed"}
    assert "deploy.sh stopped at: gcloud run services describe a2a-gate" in outcome.err
    assert re.search(r"\n# \d of 2: gate failed after \d+ s", outcome.err)
    assert "these failed, and what was there before goes on serving: gate\n" in outcome.err


def test_a_secret_without_a_value_stops_with_the_command_that_gives_it_one(tmp_path: Path) -> None:
    with deployment(tmp_path, config=f'{ALONE}\n[secrets]\nclients = "a2a-clients"\n') as one:
        outcome = one.deploy("--direct", "--only=prepare")
    assert outcome.status == 2
    assert f"gcloud secrets create a2a-clients --data-file=FILE --project={HUB}" in outcome.err


def test_a_grant_that_is_refused_stops_nothing_else_and_is_told_at_the_end(prepared: Deployment) -> None:
    refused = Refused(
        400, "FAILED_PRECONDITION", "One or more users named in the policy do not belong to a permitted customer."
    )
    prepared.google.cloud.failures[f"cloudresourcemanager POST .*{HUB}:setIamPolicy"] = refused
    outcome = prepared.deploy("--only=prepare,gateway")
    assert outcome.status == 1
    assert "private = true" in outcome.err
    assert f"these grants, which were refused:\ngcloud projects add-iam-policy-binding {HUB} " in outcome.out
    assert prepared.google.secrets.values
    assert prepared.google.gateways.things


def test_a_function_that_needs_the_gateways_address_says_so_when_there_is_none(prepared: Deployment) -> None:
    outcome = prepared.deploy("--only=hub")
    assert (outcome.status, outcome.changes) == (2, [])
    assert "./deploy.sh --only prepare,gateway" in outcome.err


# What gcloud and the APIs say, and a word of the advice that must follow.
MESSAGES = {
    "ERROR: (gcloud.run.deploy) PERMISSION_DENIED: Permission 'run.services.setIamPolicy' denied on resource": "roles/run.admin",
    "Permission 'run.services.create' denied on resource 'namespaces/p/services/hub'": "roles/run.sourceDeveloper",
    "Permission 'iam.serviceaccounts.actAs' denied on a2a-hub@p.iam.gserviceaccount.com": "roles/iam.serviceAccountUser",
    "Permission 'apigateway.gateways.create' denied": "roles/apigateway.admin",
    "User [x] does not have permission to access projects instance [p]": "docs/deployment.md",
    "One or more users named in the policy do not belong to a permitted customer.": "allowedPolicyMemberDomains",
    "Constraint constraints/run.allowedIngress violated for projects/p": "constraints/run.allowedIngress",
    "API Gateway API has not been used in project 1 before or it is disabled (apigateway.googleapis.com)": "--only prepare",
    "Permission denied on resource project p (or it may not exist).": "gcloud projects list",
    "reason: SERVICE_DISABLED metadata: service: run.googleapis.com": "--only prepare",
    "Billing account for project '1' is not found. Billing must be enabled": "gcloud billing projects link",
    "INVALID_ARGUMENT: Service account a2a-hub@p.iam.gserviceaccount.com does not exist.": "Wait a minute",
    "There was a problem refreshing your current auth tokens: Reauthentication required": "gcloud auth login",
    "You do not currently have an active account selected. Please run: $ gcloud auth login": "gcloud auth login",
    "(gcloud.billing.projects.describe) UNAUTHENTICATED: invalid authentication credentials": "gcloud auth login",
    "failed precondition: due to quota restrictions, cannot run builds in this region. Please contact support": "worker_pool",
    "Database ID 'a2a-tasks' is not available in project 'p'. Please retry in 57 seconds.": "some minutes",
    "RESOURCE_EXHAUSTED: Quota exceeded for quota metric": "100 configs",
    "The user-provided container failed to start and listen on the port": "gcloud logging read",
    "Revision 'hub-00002' is not ready and cannot serve traffic": "gcloud logging read",
    "ERROR: build step 0 failed: Build failed; check build logs": "make test",
    "Location asia-northeast9 is not supported": "[gateway]",
    "ALREADY_EXISTS: Resource already exists": "name_prefix",
    "HttpError 503: The service is currently unavailable.": "run the same command again",
    "something nobody has seen": UNKNOWN,
}


@pytest.mark.parametrize("message", MESSAGES)
def test_each_message_gets_its_advice(message: str) -> None:
    assert MESSAGES[message] in advice(message, command=["gcloud", "--project=p"])


def test_every_remedy_is_the_advice_for_some_message() -> None:
    given = {advice(message, command=[]) for message in MESSAGES}
    for remedy in remedies():
        start = remedy.text.split("{")[0][:30]
        assert any(text.startswith(start) for text in given), remedy.words


def test_the_role_is_that_of_the_longest_name() -> None:
    assert role_for("run.services.setIamPolicy") == roles()["run.services.setIamPolicy"]
    assert role_for("run.services.get") == roles()["run"]
    assert role_for("unheard.of.permission") == "roles/editor"
