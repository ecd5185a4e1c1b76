"""Without a gateway, as Cloud Run functions, with documents of one's own, and after a change."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.deployments import Deployment, deployment

HUB = "my-hub-project"
NUMBER = "111111111111"
# Agents that somebody else deploys: the hub knows where they are.
CONFIG = f"""
project = "{HUB}"
project_number = "{NUMBER}"
region = "asia-northeast1"

[gemini_enterprise]
project_number = "210987654321"

[identity]
oauth_client_ids = ["210987654321-abc.apps.googleusercontent.com"]
domains = ["example.com"]

[functions.docqa]
corpus_bucket = "my-documents"

[functions.general]
url = "https://general.example.com"

[functions.expense]
url = "https://expense.example.com"

[functions.pm]
url = "https://pm.example.com"
"""
ALONE = CONFIG.replace('corpus_bucket = "my-documents"', 'url = "https://docqa.example.com"')


AGENT_CARD = f"/apis/serving.knative.dev/v1/namespaces/{HUB}/services/a2a-agent-card"
_GATEWAY = f"projects/{HUB}/locations/asia-northeast1/gateways/a2a-hub"
GATEWAY = f"serviceAccount:a2a-gateway@{HUB}.iam.gserviceaccount.com"


@pytest.fixture
def prepared(tmp_path: Path) -> Iterator[Deployment]:
    """A project in which an administrator has prepared everything but the bundles."""
    with deployment(tmp_path, config=ALONE) as one:
        has_accounts(one)
        yield one


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """A deployment that stands: each test changes something, and leaves it deployed."""
    with deployment(tmp_path_factory.mktemp("standing"), config=ALONE) as one:
        has_accounts(one)
        outcome = one.deploy("--only=bundle,agent_card,gateway")
        assert outcome.status == 0, outcome.out + outcome.err
        yield one


def test_without_a_gateway_gemini_enterprise_may_invoke_the_hub_and_nobody_else(tmp_path: Path) -> None:
    with deployment(tmp_path, config=ALONE) as one:
        first = one.deploy("--direct", "--mode=functions")
        assert first.status == 0, first.out + first.err
        second = one.deploy("--direct", "--mode=functions")
        assert (second.status, second.changes) == (0, []), second.out + second.err
    assert f"# done: https://a2a-hub-{NUMBER}.asia-northeast1.run.app" in first.out
    agent = "serviceAccount:service-210987654321@gcp-sa-discoveryengine.iam.gserviceaccount.com"
    policies = one.google.cloud.policies
    assert policies.keys() == {f"{HUB}/a2a-hub", f"projects/{HUB}"}
    assert one.google.cloud.members(f"{HUB}/a2a-hub", "roles/run.invoker") == [agent]
    assert not one.google.gateways.things
    assert not one.google.secrets.values
    (function,) = one.google.functions.functions.values()
    service = function["serviceConfig"]
    assert function["buildConfig"]["entryPoint"] == "hub"
    assert service["maxInstanceRequestConcurrency"] == 80
    assert service["environmentVariables"] | {"COMMIT_SHA": "", "LOG_TEXT": ""} == {
        "COMMIT_SHA": "",
        "LOG_TEXT": "",
        "GOOGLE_CLOUD_PROJECT": HUB,
        "THREADS": "88",
        "MALLOC_MMAP_THRESHOLD_": "131072",
        "MAX_INSTANCES": "10",
        "HUB_PUBLIC_URL": f"https://a2a-hub-{NUMBER}.asia-northeast1.run.app",
        "CARD_SECURITY": "google",
        "GOOGLE_TOKEN_AUDIENCES": "210987654321-abc.apps.googleusercontent.com",
        "GOOGLE_TOKEN_DOMAINS": "example.com",
        "DOCQA_URL": "https://docqa.example.com",
        "GENERAL_URL": "https://general.example.com",
        "EXPENSE_URL": "https://expense.example.com",
        "PM_URL": "https://pm.example.com",
    }


def test_documents_are_mounted_to_be_read_and_workspaces_to_be_written_where_a_database_is_their_own(
    tmp_path: Path,
) -> None:
    files = "partner-pm-project"
    table = (
        f'[functions.devtool]\nproject = "{files}"\nproject_number = "333333333333"\nworkspace_bucket = "my-files"\n'
    )
    with deployment(tmp_path, config=CONFIG + table) as one:
        one.google.run.buckets["my-documents"] = {"name": "my-documents", "project": HUB}
        one.google.run.buckets["my-files"] = {"name": "my-files", "project": files}
        first = one.deploy("--direct", "--only=prepare,bundle,docqa,devtool")
        second = one.deploy("--direct", "--only=prepare,docqa,devtool")
    assert first.status == 0, first.out + first.err
    assert (second.status, second.changes) == (0, []), second.out + second.err
    reader = f"serviceAccount:a2a-docqa@{HUB}.iam.gserviceaccount.com"
    assert one.google.cloud.members("gs://my-documents", "roles/storage.objectViewer") == [reader]
    spec = one.google.run.services[f"{HUB}/a2a-docqa"]["spec"]["template"]["spec"]
    (volume,), (mount,) = spec["volumes"], spec["containers"][0]["volumeMounts"]
    assert volume["csi"]["volumeAttributes"]["bucketName"] == "my-documents"
    assert volume["csi"]["readOnly"]
    assert mount["mountPath"] == "/corpus"
    assert {"name": "CORPUS_DIR", "value": "/corpus"} in spec["containers"][0]["env"]

    agent = f"serviceAccount:a2a-devtool@{files}.iam.gserviceaccount.com"
    assert _granted(one, agent) == {
        (f"projects/{files}", "roles/datastore.user"),
        ("gs://my-files", "roles/storage.objectUser"),
        # Who asks is signed by the hub.
        (f"projects/{HUB}/secrets/a2a-hub-public-keys", "roles/secretmanager.secretAccessor"),
    }
    invokers = one.google.cloud.members(f"{files}/a2a-devtool", "roles/run.invoker")
    assert invokers == [f"serviceAccount:a2a-hub@{HUB}.iam.gserviceaccount.com"]
    assert list(one.google.firestore.databases) == [f"projects/{files}/databases/a2a-tasks"]
    spec = one.google.run.services[f"{files}/a2a-devtool"]["spec"]["template"]["spec"]
    (volume,), (mount,) = spec["volumes"], spec["containers"][0]["volumeMounts"]
    assert volume["csi"]["volumeAttributes"] == {"bucketName": "my-files"}
    assert not volume["csi"].get("readOnly")
    assert mount["mountPath"] == "/workspaces"


def test_with_a_data_store_the_agent_may_search_it_and_read_the_bucket_and_nothing_else(
    tmp_path: Path,
) -> None:
    config = CONFIG + '[functions.docqa.environment]\nDISCOVERY_ENGINE_DATA_STORE = "documents"\n'
    with deployment(tmp_path, config=config) as one:
        has_accounts(one)
        one.google.run.buckets["my-documents"] = {"name": "my-documents", "project": HUB}
        first = one.deploy("--direct", "--only=prepare")
        second = one.deploy("--direct", "--only=prepare")
    assert first.status == 0, first.out + first.err
    assert (second.status, second.changes) == (0, []), second.out + second.err
    docqa = f"serviceAccount:a2a-docqa@{HUB}.iam.gserviceaccount.com"
    assert _granted(one, docqa) == {
        (f"projects/{HUB}", "roles/discoveryengine.viewer"),
        (f"projects/{HUB}/secrets/a2a-hub-public-keys", "roles/secretmanager.secretAccessor"),
        ("gs://my-documents", "roles/storage.objectViewer"),
    }
    assert "discoveryengine.googleapis.com" in one.google.projects.enabled[HUB]


def test_a_change_deploys_what_it_changes_and_nothing_else(standing: Deployment) -> None:
    stages = "--only=bundle,agent_card,gateway"
    (standing.tree / "functions/agent_card/added.py").write_text('"""New."""\n')
    outcome = standing.deploy(stages)
    assert outcome.status == 0, outcome.err
    assert [change for change in outcome.changes if " PUT " in change] == [f"run PUT {AGENT_CARD}"]
    assert not [change for change in outcome.changes if change.startswith("apigateway")]
    assert standing.google.cloud.members(f"{HUB}/a2a-agent-card", "roles/run.invoker") == [GATEWAY]


def test_a_changed_openapi_file_is_a_new_config_to_which_the_gateway_moves(standing: Deployment) -> None:
    openapi = standing.tree / "gateway/openapi.yaml"
    openapi.write_text(openapi.read_text().replace("title: A2A hub", "title: Another hub"))
    outcome = standing.deploy("--only=gateway")
    assert outcome.status == 0, outcome.err
    created, updated = outcome.changes
    assert created.startswith(f"apigateway POST /v1/projects/{HUB}/locations/global/apis/a2a-hub/configs")
    assert updated == f"apigateway PATCH /v1/projects/{HUB}/locations/asia-northeast1/gateways/a2a-hub"
    gateways = standing.google.gateways
    assert "title: Another hub" in gateways.documents[gateways.things[_GATEWAY]["apiConfig"]]


def test_a_config_that_failed_is_made_again_and_one_in_the_making_is_waited_for(standing: Deployment) -> None:
    things = standing.google.gateways.things
    config = things[_GATEWAY]["apiConfig"]
    things[config]["state"] = "FAILED"
    other = config.rpartition("/")[0] + "/hub-of-somebody-else"
    standing.google.gateways.in_the_making(other, looks=2)
    outcome = standing.deploy("--only=gateway")
    assert outcome.status == 0, outcome.err
    assert outcome.out.count("# waiting for hub-of-somebody-else") == 2
    assert [change.split()[1] for change in outcome.changes] == ["DELETE", "POST"]
    assert things[config]["state"] == "ACTIVE"


def test_a_gateway_that_is_still_being_made_is_waited_for_and_one_that_failed_is_told(
    standing: Deployment,
) -> None:
    standing.google.gateways.in_the_making(_GATEWAY, looks=1)
    waited = standing.deploy("--url")
    assert (waited.status, waited.out) == (0, "https://a2a-hub-0abc12de.an.gateway.dev\n"), waited.err
    standing.google.gateways.things[_GATEWAY]["state"] = "FAILED"
    failed = standing.deploy("--url")
    standing.google.gateways.things[_GATEWAY]["state"] = "ACTIVE"
    assert (failed.status, failed.changes) == (2, [])
    assert "gcloud api-gateway gateways delete a2a-hub --location=asia-northeast1" in failed.err


def test_what_did_not_start_is_deployed_again(standing: Deployment) -> None:
    status = standing.google.run.services[f"{HUB}/a2a-agent-card"]["status"]
    status["latestReadyRevisionName"] = "an-older-one"
    outcome = standing.deploy("--only=agent_card")
    assert outcome.status == 0, outcome.err
    assert f"run PUT {AGENT_CARD}" in outcome.changes


def test_a_roll_back_that_still_holds_is_told_and_left_alone(standing: Deployment) -> None:
    spec = standing.google.run.services[f"{HUB}/a2a-agent-card"]["spec"]
    spec["traffic"] = [{"revisionName": "a2a-agent-card-00001", "percent": 100}]
    outcome = standing.deploy("--only=agent_card")
    spec["traffic"] = [{"latestRevision": True, "percent": 100}]
    assert (outcome.status, outcome.changes) == (0, [])
    assert "WARNING: an older version of agent_card gets the requests" in outcome.out
    assert "gcloud run services update-traffic a2a-agent-card --to-latest" in outcome.out


def test_who_else_may_invoke_a_function_is_told_and_left_alone(standing: Deployment) -> None:
    policy = standing.google.cloud.policies[f"{HUB}/a2a-agent-card"]
    policy["bindings"][0]["members"].append("user:guest@example.com")
    outcome = standing.deploy("--only=agent_card")
    assert (outcome.status, outcome.changes) == (0, [])
    assert "WARNING: user:guest@example.com may invoke agent_card too" in outcome.out
    assert "remove-iam-policy-binding a2a-agent-card --member=user:guest@example.com" in outcome.out


def has_accounts(one: Deployment) -> None:
    one.google.cloud.accounts |= {
        f"a2a-{name}@{HUB}.iam.gserviceaccount.com" for name in ("build", "gate", "gateway", "hub", "agent-card")
    }
    one.google.projects.enabled[HUB] |= {f"{api}.googleapis.com" for api in ("run", "cloudbuild", "artifactregistry")}


def _granted(one: Deployment, member: str) -> set[tuple[str, str]]:
    return {
        (resource, binding["role"])
        for resource, policy in one.google.cloud.policies.items()
        for binding in policy["bindings"]
        if member in binding["members"]
    }
