"""A deployment with a gateway and agents in two other projects, one of another account: deploy.example.toml without a store."""

import base64
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

from deploy.functions import functions
from local.bundle import files_of
from tests.deploy.deployments import PROJECTS, Deployment, Outcome, deployment
from tests.deploy.plans import EXAMPLE

HUB, FINANCE, PARTNER = PROJECTS
ADDRESS = "https://a2a-hub-0abc12de.an.gateway.dev"
ELSEWHERE = {"expense": FINANCE, "pm": PARTNER}
PROJECT_OF = {
    name: ELSEWHERE.get(name, HUB)
    for name, function in functions().items()
    if not (function.only_with or function.is_optional)
}
SERVICES = {name: f"{project}/a2a-{name.replace('_', '-')}" for name, project in PROJECT_OF.items()}
URLS = {
    name: f"https://a2a-{name.replace('_', '-')}-{PROJECTS[project]}.asia-northeast1.run.app"
    for name, project in PROJECT_OF.items()
}
# A request that changes something, and what it is called here.
REQUESTS = {
    r"serviceusage POST .*/projects/([^/]+)/services:batchEnable": "apis of",
    r"iam POST .*/projects/([^/]+)/serviceAccounts": "an account of",
    r"cloudresourcemanager POST .*/projects/([^/]+):setIamPolicy": "a role in",
    r"secretmanager POST .*/secrets": "a secret",
    r"secretmanager POST .*/secrets/([^/]+):addVersion": "a value of",
    r"secretmanager POST .*/secrets/([^/]+):setIamPolicy": "a reader of",
    r"apigateway POST .*/apis": "an API",
    r"apigateway POST .*/apis/([^/]+)/configs": "a config of",
    r"apigateway POST .*/gateways": "a gateway",
    r"artifactregistry POST .*/projects/([^/]+)/.*/repositories": "a repository in",
    r"storage POST /storage/v1/b": "a bucket",
    r"storage POST /upload/.*/run-sources-(.+)-asia-northeast1/o": "sources for",
    r"run POST .*/projects/([^/]+)/.*/builds:submit": "a build in",
    r"run POST /apis/.*/namespaces/([^/]+)/services": "a service in",
    r"run POST .*/services/([^/]+):setIamPolicy": "an invoker of",
}


class Deployed(NamedTuple):
    deployment: Deployment
    first: Outcome
    second: Outcome


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    with deployment(tmp_path_factory.mktemp("deployment"), config=EXAMPLE, whole=True) as one:
        first = one.deploy()
        assert first.status == 0, first.out + first.err
        yield Deployed(one, first, one.deploy())


def test_the_first_run_ends_with_the_address_and_the_next_step(deployed: Deployed) -> None:
    assert f"# done: {ADDRESS}" in deployed.first.out
    assert "hubctl register" in deployed.first.out
    assert f"deploy/smoke.sh {ADDRESS}" in deployed.first.out


def test_the_second_run_changes_nothing(deployed: Deployed) -> None:
    assert deployed.second.status == 0, deployed.second.out + deployed.second.err
    assert deployed.second.changes == []
    assert deployed.second.out.count("# unchanged") == len(SERVICES) + 1


def test_everything_is_made_after_what_it_leans_on_and_once(deployed: Deployed) -> None:
    accounts = deployed.deployment.google.cloud.accounts
    wanted = []
    for project in PROJECTS:
        there = [account for account in accounts if f"@{project}." in account]
        wanted += [f"apis of {project}", *[f"an account of {project}"] * len(there), f"a role in {project}"]
    pairs = [(f"a2a-{name}-private-key", f"a2a-{name}-public-keys") for name in ("gate", "hub")]
    for private, public in pairs:
        wanted += ["a secret", "a secret", f"a value of {public}", f"a value of {private}"]
    wanted += [f"a reader of {each}" for pair in pairs for each in pair]
    made = [_in_words(change) for change in deployed.first.changes]
    # The keys of several functions are made in any order.
    keys = slice(made.index("a secret"), made.index("an API"))
    assert [change[:8] for change in made[keys]] == [change[:8] for change in wanted[keys]]
    assert sorted(made[keys]) == sorted(wanted[keys])
    wanted[keys] = made[keys]
    wanted += ["an API", "a config of a2a-hub", "a gateway"]
    together = []
    seen = set()
    for name, project in PROJECT_OF.items():
        steps = [f"sources for {project}", f"a build in {project}", f"a service in {project}"]
        steps.append(f"an invoker of {SERVICES[name].partition('/')[2]}")
        if project in seen:
            together += steps
        else:
            wanted += [f"a repository in {project}", "a bucket", *steps]
        seen.add(project)
    # Once a project has its repository, functions are built side by side.
    assert made[: len(wanted)] == wanted
    assert sorted(made[len(wanted) :]) == sorted(together)


def test_functions_are_built_side_by_side_and_told_as_they_end(deployed: Deployed) -> None:
    count = len(SERVICES) - len(PROJECTS)
    assert f"\n# {count} functions, 4 at once: about " in deployed.first.out
    assert re.search(rf"\n# {count} of {count}: \S+ deployed after \d+ s\n", deployed.first.out)
    again = len(SERVICES)
    assert len(re.findall(rf"\n# \d of {again}: \S+ unchanged after \d+ s", deployed.second.out)) == again


def test_every_grant_is_one_of_the_tables_and_no_other(deployed: Deployed) -> None:
    account = {
        name: f"serviceAccount:a2a-{name}@{HUB}.iam.gserviceaccount.com"
        for name in ("gate", "gateway", "hub", "build", "docqa")
    }
    invoker, reader, builder = "roles/run.invoker", "roles/secretmanager.secretAccessor", "roles/run.builder"
    granted = {
        (resource, binding["role"]): set(binding["members"])
        for resource, policy in deployed.deployment.google.cloud.policies.items()
        for binding in policy.get("bindings", [])
    }
    assert granted == {
        (SERVICES["gate"], invoker): {account["gateway"]},
        (SERVICES["agent_card"], invoker): {account["gateway"]},
        (SERVICES["hub"], invoker): {account["gate"]},
        (SERVICES["docqa"], invoker): {account["hub"]},
        (SERVICES["general"], invoker): {account["hub"]},
        (SERVICES["pm"], invoker): {account["hub"]},
        (SERVICES["expense"], invoker): {"allUsers"},
        (f"projects/{HUB}/secrets/a2a-gate-private-key", reader): {account["gate"]},
        (f"projects/{HUB}/secrets/a2a-gate-public-keys", reader): {account["hub"]},
        (f"projects/{HUB}/secrets/a2a-hub-private-key", reader): {account["hub"]},
        (f"projects/{HUB}/secrets/a2a-hub-public-keys", reader): {account["docqa"]},
        (f"projects/{HUB}", builder): {account["build"]},
        (f"projects/{FINANCE}", builder): {account["build"].replace(HUB, FINANCE)},
        (f"projects/{PARTNER}", builder): {account["build"].replace(HUB, PARTNER)},
    }


def test_each_project_gets_the_accounts_and_apis_that_its_functions_need(deployed: Deployed) -> None:
    google = deployed.deployment.google
    assert google.cloud.accounts == {
        *(
            f"a2a-{name}@{HUB}.iam.gserviceaccount.com"
            for name in ("build", "gate", "gateway", "hub", "agent-card", "docqa", "general")
        ),
        *(f"a2a-{name}@{FINANCE}.iam.gserviceaccount.com" for name in ("build", "expense")),
        *(f"a2a-{name}@{PARTNER}.iam.gserviceaccount.com" for name in ("build", "pm")),
    }
    agents = {
        f"{api}.googleapis.com"
        for api in ("artifactregistry", "cloudbuild", "cloudresourcemanager", "iam", "run", "storage")
    }
    gateway = {
        f"{api}.googleapis.com" for api in ("apigateway", "servicemanagement", "servicecontrol", "secretmanager")
    }
    assert google.projects.enabled == {HUB: agents | gateway, FINANCE: agents, PARTNER: agents}


def test_the_signing_key_is_made_once_and_shown_nowhere(deployed: Deployed) -> None:
    values = deployed.deployment.google.secrets.values
    (private,), (public,) = (
        values[f"projects/{HUB}/secrets/a2a-gate-{half}"] for half in ("private-key", "public-keys")
    )
    key = load_pem_private_key(base64.b64decode(private), password=None)
    assert key.public_key() == load_pem_public_key(base64.b64decode(public))
    text = base64.b64decode(private).decode().splitlines()[1]
    everything = deployed.first.out + deployed.first.err + json.dumps(deployed.deployment.google.run.services)
    everything += "".join(path.read_text() for path in (deployed.deployment.tree / "build").glob("*.env.yaml"))
    assert text not in everything
    assert "ya29." not in everything


@pytest.mark.parametrize("name", SERVICES)
def test_a_function_is_uploaded_as_it_is_bundled(name: str, deployed: Deployed) -> None:
    service = SERVICES[name].partition("/")[2]
    (files,) = [names for upload, names in deployed.deployment.google.run.uploads.items() if f"/{service}/" in upload]
    bundle = {str(path) for path in files_of(deployed.deployment.tree / "build" / name)}
    assert {
        "main.py",
        "requirements.txt",
        f"functions/{name}/app.py",
        "a2a_hub/http/flask_adapter.py",
    } <= bundle
    assert {file for file in files if not file.endswith((".pyc", "/"))} == bundle


def test_the_build_makes_byte_code_that_is_matched_by_content(deployed: Deployed) -> None:
    builds = deployed.deployment.google.run.builds
    variables = [build["buildpackBuild"]["environmentVariables"] for build in builds]
    assert builds
    assert all(each["SOURCE_DATE_EPOCH"] == "315532801" for each in variables)


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_runs_as_its_own_account_with_room_for_its_streams(name: str, deployed: Deployed) -> None:
    project, _, service = SERVICES[name].partition("/")
    spec, annotations = _template(deployed, name)
    assert spec["serviceAccountName"] == f"{service}@{project}.iam.gserviceaccount.com"
    assert spec["containerConcurrency"] == 80
    assert int(_environment(spec)["THREADS"]) > 80
    assert spec["timeoutSeconds"] == 3600
    memory = {"docqa": "1Gi", "gate": "256Mi", "agent_card": "256Mi"}.get(name, "512Mi")
    assert spec["containers"][0]["resources"]["limits"] == {"memory": memory, "cpu": "1"}
    assert annotations.get("autoscaling.knative.dev/minScale", "0") == "0"
    assert annotations["autoscaling.knative.dev/maxScale"] == ("3" if name == "agent_card" else "10")
    assert annotations["run.googleapis.com/startup-cpu-boost"] == "True"


def test_every_function_knows_the_addresses_that_it_needs(deployed: Deployed) -> None:
    def of(name: str, *variables: str) -> dict[str, str]:
        environment = _environment(_template(deployed, name)[0])
        return {variable: environment.get(variable, "") for variable in variables}

    for agent in ("docqa", "general", "expense", "pm"):
        assert of(agent, "PUBLIC_URL") == {"PUBLIC_URL": URLS[agent]}
    agents = {f"{agent.upper()}_URL": URLS[agent] for agent in ("docqa", "general", "expense", "pm")}
    assert of("hub", "HUB_PUBLIC_URL", *agents) == {"HUB_PUBLIC_URL": ADDRESS, **agents}
    assert of("agent_card", "HUB_PUBLIC_URL", *agents) == {"HUB_PUBLIC_URL": ADDRESS, **agents}
    assert of("gate", "HUB_URL", "AGENT_CARD_URL", "CALLER_TOKEN_HEADER") == {
        "HUB_URL": URLS["hub"],
        "AGENT_CARD_URL": URLS["agent_card"],
        "CALLER_TOKEN_HEADER": "x-forwarded-authorization",
    }


def test_only_the_gate_decides_who_gets_in_and_signs_and_the_hub_can_only_verify(deployed: Deployed) -> None:
    identity = {"GOOGLE_TOKEN_AUDIENCES", "GOOGLE_TOKEN_DOMAINS"}
    for name in SERVICES:
        spec, _ = _template(deployed, name)
        variables = {variable["name"]: variable for variable in spec["containers"][0]["env"]}
        assert identity & variables.keys() == (identity if name == "gate" else set())
        secrets = {
            key: each["valueFrom"]["secretKeyRef"]["name"] for key, each in variables.items() if "valueFrom" in each
        }
        keys = {
            "gate": {"SIGNING_KEY": "a2a-gate-private-key"},
            "hub": {"SIGNING_KEY": "a2a-hub-private-key", "GATE_PUBLIC_KEYS": "a2a-gate-public-keys"},
            "docqa": {"HUB_PUBLIC_KEYS": "a2a-hub-public-keys"},
        }
        assert secrets == keys.get(name, {})


def test_the_gateway_streams_and_its_config_has_the_addresses_of_the_functions(deployed: Deployed) -> None:
    gateways = deployed.deployment.google.gateways
    gateway = gateways.things[f"projects/{HUB}/locations/asia-northeast1/gateways/a2a-hub"]
    assert gateway["streamingMode"] == "STREAMING_MODE_ENABLED"
    document = gateways.documents[gateway["apiConfig"]]
    assert f"jwtAudience: {URLS['gate']}" in document
    assert f"jwtAudience: {URLS['agent_card']}" in document
    assert "${" not in document
    (config,) = [thing for name, thing in gateways.things.items() if "/configs/" in name]
    assert config["gatewayServiceAccount"].endswith(f"a2a-gateway@{HUB}.iam.gserviceaccount.com")


def test_the_other_accounts_projects_are_reached_as_that_account(deployed: Deployed) -> None:
    commands = [line for line in deployed.first.out.splitlines() if line.startswith("gcloud ")]
    assert commands
    for command in commands:
        assert (f"--project={PARTNER}" in command) == ("--account=admin@partner.example.com" in command)


def test_the_public_address_can_be_asked_for(deployed: Deployed) -> None:
    outcome = deployed.deployment.deploy("--url")
    assert (outcome.out, outcome.err, outcome.changes) == (f"{ADDRESS}\n", "", [])


def _in_words(change: str) -> str:
    for pattern, words in REQUESTS.items():
        found = re.fullmatch(pattern, change)
        if found:
            return " ".join((words, *found.groups()))
    return change


def _template(deployed: Deployed, name: str) -> tuple[Any, Any]:
    template = deployed.deployment.google.run.services[SERVICES[name]]["spec"]["template"]
    return template["spec"], template["metadata"]["annotations"]


def _environment(spec: Any) -> dict[str, str]:
    return {variable["name"]: variable.get("value", "") for variable in spec["containers"][0]["env"]}
