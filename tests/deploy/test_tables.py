"""Each table of the deployment agrees with the others: functions, routes, Cloud Build's steps, and what a function reads."""

import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
import yaml

from a2a_hub.agents import settings
from a2a_hub.queue.wakeups import WEBHOOKS_TOPIC, topic_of
from deploy.functions import Invoker, functions
from deploy.shell import declarations
from functions.agent_card import config as agent_card_config
from functions.devtool import config as devtool_config
from functions.docqa import config as docqa_config
from functions.gate import config as gate_config
from functions.hub import config as hub_config
from functions.tasks import config as tasks_config
from tests.deploy.plans import DEVTOOL, EXAMPLE, WITH_TASKS, WITH_WORKERS, environment, plan
from tests.deploy.tools import ROOT
from tests.fakes.signatures import GATE_SETTINGS, HUB_SETTINGS, TASKS_SETTINGS

ROUTES = tomllib.loads((ROOT / "routes.toml").read_text())["routes"]
STEPS = yaml.safe_load((ROOT / "cloudbuild.yaml").read_text())["steps"]
SECRETS = {**HUB_SETTINGS, **GATE_SETTINGS, **TASKS_SETTINGS}

_SHARED = {"PYTHONPATH": str(ROOT / "shared")}

# Whoever adds a function says here what reads its settings.
READERS: Mapping[str, Callable[[Mapping[str, str]], object]] = {
    "agent_card": agent_card_config.read,
    "devtool": devtool_config.read,
    "docqa": docqa_config.read,
    "expense": settings.read,
    "gate": gate_config.read,
    "general": settings.read,
    "hub": hub_config.read,
    "pm": settings.read,
    "tasks": tasks_config.read,
}


def test_what_deploy_sh_asks_needs_nothing_but_python() -> None:
    # -S leaves out everything that is installed.
    command = [sys.executable, "-S", "-m", "deploy", "--config", "deploy.example.toml", "plan"]
    done = subprocess.run(command, cwd=ROOT, env=_SHARED, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("declare -ga functions=(docqa ")
    subprocess.run([sys.executable, "-S", "-c", "import local.bundle"], cwd=ROOT, env=_SHARED, check=True)


def test_every_function_of_the_project_is_in_the_table_of_those_that_are_deployed() -> None:
    folders = {path.parent.name for path in ROOT.glob("functions/*/main.py")}
    containers = {path.parent.name for path in ROOT.glob("services/*/Dockerfile")}
    assert folders | containers == functions().keys(), "a new function needs a row in deploy/functions.toml"


def test_cloud_build_deploys_every_function_after_the_bundles_and_before_the_gateway() -> None:
    steps = {step["id"]: step for step in STEPS}
    assert steps.keys() == {*functions(), "test", "bundle", "gateway", "smoke"}
    for name in functions():
        assert steps[name]["args"][-2:] == ["--only", name]
        assert steps[name]["waitFor"] == ["bundle"], "the functions are deployed side by side"
    assert set(steps["gateway"]["waitFor"]) == functions().keys()
    order = [("bundle", "test"), ("smoke", "gateway")]
    assert all(steps[later]["waitFor"] == [earlier] for later, earlier in order)


def test_the_document_names_the_invokers_of_every_function() -> None:
    words = {
        Invoker.EVERYBODY: "everybody",
        Invoker.GEMINI_ENTERPRISE: "Gemini Enterprise's service agent",
        Invoker.GATEWAY: "`a2a-gateway`",
        Invoker.GATE: "`a2a-gate`",
        Invoker.HUB: "`a2a-hub`",
        Invoker.TASKS: "`a2a-tasks`",
        Invoker.WAKEUPS: "`a2a-wakeups`",
        Invoker.WORKERS: "workers",
    }
    text = (ROOT / "docs" / "deployment.md").read_text()
    _, _, rows = text.partition("| function | runs as | who may invoke it |")
    said = {}
    for row in rows.partition("\n\n")[0].splitlines()[2:]:
        names, _, invokers, direct = (cell.strip() for cell in row.strip("|").split("|"))
        for name in names.partition(", only")[0].replace("`", "").split(", "):
            said[name] = (invokers.split(", the ")[0], direct)
    assert said == {
        function.name: (
            ", ".join(words[invoker] for invoker in function.invokers) or "nobody",
            "not there"
            if function.only_with_gateway
            else ", ".join(words[invoker] for invoker in function.direct_invokers or function.invokers),
        )
        for function in functions().values()
    }


def test_who_calls_is_deployed_after_whom_it_calls() -> None:
    names = [function.name for function in functions().values()]
    for function in functions().values():
        for invoker in function.invokers:
            assert invoker not in names or names.index(function.name) < names.index(invoker)
        for called in function.calls:
            assert names.index(called) < names.index(function.name)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: str(route["id"]))
def test_the_sample_routes_carry_the_credential_that_the_deployed_agent_asks_for(
    route: Mapping[str, str],
) -> None:
    function = functions()[route["id"]]
    public = function.invokers == (Invoker.EVERYBODY,)
    assert route["boundary"] == ("public" if public else "iam")
    assert route["url"] == f"${{{function.name.upper()}_URL}}"


def test_who_may_ask_the_hub_how_it_is_may_ask_the_gate() -> None:
    told = plan(EXAMPLE + '\n[functions.hub.environment]\nOPERATORS = "me@example.com"\n')
    for name, read in (("gate", gate_config.read), ("hub", hub_config.read)):
        config = read({**SECRETS, **environment(told, name)})
        assert config.operators == {"me@example.com"}


def wanted(*, direct: bool) -> list[str]:
    return [function.function.name for function in plan(WITH_WORKERS + DEVTOOL, direct=direct).wanted()]


@pytest.mark.parametrize(
    ("name", "direct"),
    [(name, direct) for direct in (False, True) for name in wanted(direct=direct)],
    ids=lambda value: {False: "gateway", True: "direct"}.get(value, value),
)
def test_a_function_starts_with_what_the_deployment_tells_it(name: str, direct: bool) -> None:
    deployed = plan(WITH_WORKERS + DEVTOOL, direct=direct)
    secrets = {each: SECRETS[each] for each in deployed.secrets_of(functions()[name])}
    READERS[name]({**environment(deployed, name), **secrets, "K_SERVICE": name, "PORT": "8080"})


@pytest.mark.parametrize("name", ["hub", "agent_card"])
def test_the_card_says_how_callers_authenticate_though_the_gate_checks_it(name: str) -> None:
    text = EXAMPLE.replace("[secrets]", '[secrets]\nclients = "a2a-clients"')
    assert environment(plan(), name)["CARD_SECURITY"] == "google"
    assert environment(plan(text), name)["CARD_SECURITY"] == "google,bearer"
    only_token = EXAMPLE.replace("oauth_client_ids =", "# ").replace("[secrets]", '[secrets]\ngateway_token = "t"')
    assert environment(plan(only_token), name)["CARD_SECURITY"] == "bearer"
    assert "CARD_SECURITY" not in environment(plan(), "gate")


def test_the_secrets_of_callers_are_read_by_whoever_callers_reach_first_and_by_nobody_else() -> None:
    text = EXAMPLE.replace("[secrets]", '[secrets]\nclients = "a2a-clients"\ngateway_token = "a2a-token"')
    deployed = plan(text)
    assert deployed.secrets() == {
        "a2a-gate-public-keys": ("hub",),
        "a2a-gate-private-key": ("gate",),
        "a2a-hub-public-keys": ("docqa",),
        "a2a-hub-private-key": ("hub",),
        "a2a-token": ("gate",),
        "a2a-clients": ("gate",),
    }
    assert environment(deployed, "gate")["CLIENTS_FILE"] == "/secrets/clients.toml"
    declared = "\n".join(declarations(deployed))
    mounted = "/secrets/clients.toml=a2a-clients:latest"
    assert (
        f"--set-secrets=SIGNING_KEY=a2a-gate-private-key:latest,A2A_GATEWAY_TOKEN=a2a-token:latest,{mounted}"
        in declared
    )
    # Without a gateway the hub alone signs.
    direct = plan(text, direct=True).secrets()
    assert "a2a-gate-private-key" not in direct
    assert (direct["a2a-token"], direct["a2a-clients"]) == (("hub",), ("hub",))


def test_a_data_store_brings_its_api_and_its_role_and_the_bucket_is_not_mounted() -> None:
    text = EXAMPLE.replace('# corpus_bucket = "my-documents"', 'corpus_bucket = "my-documents"')
    with_store = text + '\n[functions.docqa.environment]\nDISCOVERY_ENGINE_DATA_STORE = "documents"\n'
    docqa = plan(with_store).config.functions["docqa"]
    assert [need.role for need in docqa.needs] == ["roles/discoveryengine.viewer"]
    assert not docqa.mounts
    assert "discoveryengine.googleapis.com" in plan(with_store).services()["my-hub-project"]
    assert "CORPUS_DIR" not in environment(plan(with_store), "docqa")
    assert plan(text).config.functions["docqa"].needs == ()
    assert "discoveryengine.googleapis.com" not in plan(text).services()["my-hub-project"]
    assert environment(plan(text), "docqa")["CORPUS_DIR"] == "/corpus"
    # Cloud Run functions cannot mount a bucket; a data store needs none.
    plan(with_store, mode="functions")


@pytest.mark.parametrize("name", ["general", "docqa", "expense", "pm"])
def test_a_model_brings_its_api_and_its_role_in_the_project_of_the_function(name: str) -> None:
    text = EXAMPLE + f'\n[functions.{name}.environment]\nANSWER_MODEL = "gemini-2.5-flash"\n'
    deployed = plan(text)
    function = deployed.config.functions[name]
    assert [need.role for need in function.needs] == ["roles/aiplatform.user"]
    for project, apis in deployed.services().items():
        assert ("aiplatform.googleapis.com" in apis) == (project == function.place.project)
    assert environment(deployed, name)["ANSWER_MODEL"] == "gemini-2.5-flash"
    READERS[name]({**environment(deployed, name), "K_SERVICE": name, "PORT": "8080"})


def test_a_model_behind_an_address_needs_nothing_of_google() -> None:
    models = 'ANSWER_MODEL = "llama3.3"\nANSWER_MODEL_URL = "https://models.example.com/v1"\n'
    deployed = plan(f"{EXAMPLE}\n[functions.docqa.environment]\n{models}")
    assert not deployed.config.functions["docqa"].needs


def test_the_key_that_signs_notifications_is_a_secret_of_tasks_alone() -> None:
    deployed = plan(WITH_TASKS.replace("[secrets]", '[secrets]\nwebhook_key = "a2a-webhook-key"'))
    assert deployed.secrets_of(functions()["tasks"])["WEBHOOK_SIGNING_KEY"] == "a2a-webhook-key"
    assert deployed.secrets()["a2a-webhook-key"] == ("tasks",)
    assert "WEBHOOK_SIGNING_KEY" not in plan(WITH_TASKS).secrets_of(functions()["tasks"])


def test_tasks_bring_a_function_that_may_ask_the_hub_and_no_tasks_bring_none() -> None:
    deployed, without = plan(WITH_TASKS), plan()
    for name in ("hub", "tasks"):
        needs = deployed.config.functions[name].needs
        assert [(need.api, need.role) for need in needs if need.role] == [("firestore", "roles/datastore.user")]
    tasks = "serviceAccount:a2a-tasks@my-hub-project.iam.gserviceaccount.com"
    gate = "serviceAccount:a2a-gate@my-hub-project.iam.gserviceaccount.com"
    assert deployed.members(functions()["hub"]) == (gate, tasks)
    assert without.members(functions()["hub"]) == (gate,)
    assert deployed.members(functions()["tasks"]) == (tasks.replace("a2a-tasks", "a2a-wakeups"),)
    assert deployed.secrets() == {
        "a2a-hub-private-key": ("hub",),
        "a2a-hub-public-keys": ("docqa", "tasks"),
        "a2a-tasks-private-key": ("tasks",),
        "a2a-tasks-public-keys": ("hub",),
        "a2a-gate-private-key": ("gate",),
        "a2a-gate-public-keys": ("hub",),
    }
    assert "a2a-tasks" in deployed.accounts()["my-hub-project"]
    assert "a2a-tasks" not in without.accounts()["my-hub-project"]
    lines = [line for line in declarations(deployed) if line.startswith("declare -gA resources=")]
    assert (
        "--memory=512Mi --cpu=1 --concurrency=80 --timeout=3600 --min-instances=0" in lines[0].partition("[tasks]=")[2]
    )
    # Tasks run inside requests.
    assert "--no-cpu-throttling" not in lines[0]


def test_the_gate_shares_its_quotas_in_the_hubs_store_and_has_the_role_for_it() -> None:
    stored, without = plan(WITH_TASKS), plan(EXAMPLE)
    gate, hub = stored.config.functions["gate"], stored.config.functions["hub"]
    assert environment(stored, "gate")["TASK_STORE"] == "firestore:a2a-tasks"
    assert stored.roles_of(gate) == ("roles/datastore.user",)
    assert stored.roles_of(hub).count("roles/datastore.user") == 1
    assert stored.roles_of(stored.config.functions["agent_card"]) == ()
    assert "TASK_STORE" not in environment(without, "gate")
    assert without.roles_of(without.config.functions["gate"]) == ()


def test_wake_ups_bring_an_account_that_may_invoke_tasks_alone_and_workers_are_named_once() -> None:
    deployed = plan(WITH_WORKERS)
    one, two = (f"serviceAccount:{name}@p-other.iam.gserviceaccount.com" for name in ("one", "two"))
    wakeups = "serviceAccount:a2a-wakeups@my-hub-project.iam.gserviceaccount.com"
    assert deployed.members(functions()["tasks"]) == (one, two, wakeups)
    assert all(wakeups not in deployed.members(functions()[name]) for name in functions().keys() - {"tasks"})
    assert "a2a-wakeups" in deployed.accounts()["my-hub-project"]
    assert "a2a-wakeups" not in plan().accounts()["my-hub-project"]
    for api in ("pubsub", "cloudtasks", "cloudscheduler"):
        assert f"{api}.googleapis.com" in deployed.services()["my-hub-project"]
        assert f"{api}.googleapis.com" not in plan().services()["my-hub-project"]


def test_the_topics_are_those_that_the_hub_publishes_to() -> None:
    roles = ("developer", "a role", "役割")
    deployed = replace(plan(WITH_WORKERS.replace('"pubsub"', '"hcs,pubsub:of-"')), roles=roles)
    known = [topic_of(""), WEBHOOKS_TOPIC, *map(topic_of, roles)]
    assert list(deployed.topics()) == [f"a2a-of-{topic}" for topic in known]
    assert plan().topics() == {}


def test_without_a_gateway_only_hub_and_tasks_sign_and_without_tasks_the_hub_for_docqa() -> None:
    assert plan(WITH_TASKS, direct=True).key_pairs().keys() == {"hub", "tasks"}
    assert plan(direct=True).secrets() == {"a2a-hub-private-key": ("hub",), "a2a-hub-public-keys": ("docqa",)}


def test_a_function_of_another_project_gets_the_hubs_keys_from_the_hubs_project() -> None:
    deployed = plan(EXAMPLE.replace("[functions.docqa]", '[functions.docqa]\nproject = "my-other-project"'))
    secret = "projects/my-hub-project/secrets/a2a-hub-public-keys"
    assert f"--set-secrets=HUB_PUBLIC_KEYS={secret}:latest" in "\n".join(declarations(deployed))


def test_a_function_gets_secrets_of_its_own_as_variables() -> None:
    deployed = plan(EXAMPLE + '\n[functions.hub.secrets]\nTRAVEL_KEY = "travel-key"\n')
    assert deployed.secrets()["travel-key"] == ("hub",)
    assert "TRAVEL_KEY=travel-key:latest" in "\n".join(declarations(deployed))
