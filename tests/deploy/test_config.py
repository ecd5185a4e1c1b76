"""deploy.toml: everything that is wrong is said at once, with its line; everything else has a default."""

from typing import Any

import pytest

from deploy import config_reader
from deploy.config import Config, ConfigError, Routes
from tests.deploy.plans import EXAMPLE

SMALLEST = """
project = "my-hub-project"
region = "asia-northeast1"
[identity]
oauth_client_ids = ["1-a.apps.googleusercontent.com"]
"""


def load(text: str, *, direct: bool = False, mode: str = "run", **routes: Any) -> Config:
    return config_reader.load(text, name="deploy.toml", routes=Routes(**routes), direct=direct, mode=mode)


def mistakes(text: str, **options: object) -> list[str]:
    with pytest.raises(ConfigError) as raised:
        load(text, **options)  # type: ignore[arg-type]
    return str(raised.value).splitlines()


def test_four_lines_are_enough() -> None:
    config = load(SMALLEST)
    hub = config.functions["hub"]
    assert (config.name_prefix, config.runtime, config.log_text) == ("a2a-", "python313", False)
    assert config.gateway.region == "asia-northeast1"
    assert (hub.resources.memory, hub.resources.concurrency, hub.resources.threads) == ("512Mi", 80, 88)
    assert {function.place.project for function in config.functions.values()} == {"my-hub-project"}


def test_every_default_that_the_example_shows_is_the_default() -> None:
    shown = [
        line.removeprefix("# ")
        for line in EXAMPLE.partition("[defaults]")[2].partition("[functions")[0].splitlines()
        if " = " in line
    ]
    assert len(shown) == 9
    assert load(f"{SMALLEST}\n[defaults]\n" + "\n".join(shown)) == load(SMALLEST)


def test_a_function_takes_what_its_table_says_then_the_defaults() -> None:
    config = load(SMALLEST + '[defaults]\nmemory = "1Gi"\nconcurrency = 20\n[functions.hub]\nmemory = "2Gi"\n')
    assert config.functions["hub"].resources.memory == "2Gi"
    assert config.functions["gate"].resources.memory == "1Gi"
    assert (config.functions["hub"].resources.concurrency, config.functions["hub"].resources.threads) == (
        20,
        28,
    )


def test_an_agent_of_another_account_is_reached_as_that_account_and_others_are_not() -> None:
    config = load(SMALLEST + '[functions.pm]\nproject = "partner-project"\naccount = "admin@partner.example.com"\n')
    assert config.functions["pm"].place.account == "admin@partner.example.com"
    assert config.functions["hub"].place.account is None


# What is added to the smallest file (line 6 is the first), and the mistake that is told.
MISTAKES = {
    "[functions.hub]\nthreads = 80": "deploy.toml:7: threads is 80: it must be more than concurrency, 80",
    '[functions.hub]\nmemory = "lots"': "deploy.toml:7: memory is 'lots': it must be an amount of memory",
    '[functions.hub]\nproject = "other-project"': "deploy.toml:7: unknown key 'project'",
    '[functions.hubb]\nmemory = "1Gi"': "deploy.toml:6: unknown key 'hubb': did you mean \"hub\"?",
    '[functions.pm]\nurl = "http://pm.example.com"': "deploy.toml:7: url is 'http://pm.example.com': it must be an address",
    '[functions.pm]\naccount = "a@b.example"': "deploy.toml:6: my-hub-project has another account at the top of the file",
    '[functions.pm]\naccount = "a@b.example"\nconfiguration = "c"': "deploy.toml:8: account and configuration: give only one",
    '[functions.hub.environment]\nTHREADS = "1"': "deploy.toml:7: THREADS is set by the deployment: threads",
    '[functions.hub.environment]\nSIGNING_KEY = "k"': "deploy.toml:7: SIGNING_KEY is set by the deployment",
    '[functions.tasks.environment]\nWEBHOOK_SIGNING_KEY = "k"': "deploy.toml:7: WEBHOOK_SIGNING_KEY is set by the deployment",
    '[secrets]\nwebhook_key = "k"': "deploy.toml:7: only notifications of stored tasks are signed: set TASK_STORE",
    '[functions.hub.environment]\nlower = "k"': "deploy.toml:7: 'lower' is no name of a variable",
    '[functions.hub.environment]\nWORKER_ACCOUNTS = "a=b"': "deploy.toml:7: WORKER_ACCOUNTS is set by",
    '[functions.hub.environment]\nTASK_STOER = "firestore"': 'deploy.toml:7: TASK_STOER is no setting: did you mean "TASK_STORE',
    '[functions.hub.secrets]\nSIGNING_KEY = "k"': "deploy.toml:7: SIGNING_KEY is set by the deployment",
    '[functions.hub.secrets]\nTRAVEL_KEY = "a b"': "deploy.toml:7: TRAVEL_KEY is 'a b': it must be a secret's name",
    '[functions.gate.environment]\nRATE_LIMIT_PER_MIN = "9"': "deploy.toml:7: RATE_LIMIT_PER_MIN is no setting",
    '[functions.tasks.workers]\ndeveloper = ["me@example.com"]': "deploy.toml:7: developer holds 'me@example.com'",
    "[functions.tasks.workers]\nwriter = []": "deploy.toml:7: writer is no role: no route of routes.toml has one",
    "[functions.hub.workers]\nwriter = []": "deploy.toml:6: unknown key 'workers'",
    "[gateway]\nstreaming = 1": "deploy.toml:7: streaming",
    '[functions.hub.environment]\nTASK_STORE = "sqlite:/tmp/t"': "deploy.toml:7: TASK_STORE is 'sqlite:/tmp/t': instances",
    '[functions.hub.environment]\nWAKEUPS = "pubsub"': "deploy.toml:7: WAKEUPS tells of stored tasks: set TASK_STORE",
    '[functions.tasks.environment]\nTASK_STORE = "firestore"': "deploy.toml:7: TASK_STORE belongs in [functions.hub.environment]",
}


@pytest.mark.parametrize("added", MISTAKES)
def test_a_mistake_is_told_with_its_line(added: str) -> None:
    told = mistakes(SMALLEST + added + "\n")
    assert any(line.startswith(MISTAKES[added]) for line in told), told


def test_a_region_that_is_missing_is_one_mistake() -> None:
    assert mistakes(SMALLEST.replace('region = "asia-northeast1"\n', "")) == [
        "deploy.toml:1: region is missing: add region = a text in quotes"
    ]


def test_nobody_could_get_in_is_a_mistake() -> None:
    nobody = 'project = "my-hub-project"\nregion = "asia-northeast1"\n'
    assert "nobody could get in" in mistakes(nobody)[0]
    load(nobody + '[secrets]\ngateway_token = "t"\n')
    load(nobody + '[functions.gate.environment]\nALLOW_ANONYMOUS = "true"\n')


def test_id_tokens_of_nobody_in_particular_are_a_mistake() -> None:
    told = mistakes(SMALLEST + 'id_token_audiences = ["https://hub.example.com"]\n')
    assert "name those who get in, in id_token_callers" in told[0]


def test_without_a_gateway_the_project_of_the_app_has_to_be_known() -> None:
    assert "--direct needs project_number" in mistakes(SMALLEST, direct=True)[0]
    load(SMALLEST + '[gemini_enterprise]\nproject_number = "210987654321"\n', direct=True)


def test_a_variable_of_the_route_table_needs_a_value() -> None:
    told = mistakes(SMALLEST, variables=("HUB_URL", "TRAVEL_URL"))
    assert len(told) == 1
    assert "add TRAVEL_URL to [functions.hub.environment]" in told[0]
    load(
        SMALLEST + '[functions.hub.environment]\nTRAVEL_URL = "https://t.example.com"\n',
        variables=("TRAVEL_URL",),
    )


def test_variables_of_the_route_table_and_of_libraries_are_nobodys_misspelling() -> None:
    load(
        SMALLEST + '[functions.hub.environment]\nTASK_STORES = "https://t.example.com"\nHTTPS_PROXY = "x"\n',
        variables=("TASK_STORES",),
    )


def test_a_route_that_gets_callers_tokens_needs_the_operators_word() -> None:
    told = mistakes(SMALLEST, passes_tokens=True)
    assert len(told) == 1
    assert "set PASS_CALLER_TOKEN" in told[0]
    load(SMALLEST + '[functions.gate.environment]\nPASS_CALLER_TOKEN = "true"\n', passes_tokens=True)
    # The hub itself has them without a gate.
    load(SMALLEST + '[gemini_enterprise]\nproject_number = "210987654321"\n', passes_tokens=True, direct=True)


def test_cloud_run_functions_cannot_mount_a_bucket() -> None:
    text = SMALLEST + '[functions.docqa]\ncorpus_bucket = "documents"\n'
    assert "--mode=functions cannot mount a bucket" in mistakes(text, mode="functions")[0]
    load(text)


DEVTOOL = '[functions.devtool]\nproject = "my-workspace-project"\n'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[functions.devtool]\n", "give it a project in which no other function is"),
        (
            DEVTOOL + '[functions.pm]\nproject = "my-workspace-project"\n',
            "give it a project in which no other function is",
        ),
        (
            DEVTOOL + '[functions.devtool.environment]\nTASK_STORE = "none"\n',
            "kept in the database of its own project",
        ),
        (
            DEVTOOL + '[functions.devtool.environment]\nDEVTOOL_WORKSPACES = "/tmp"\n',
            "is set by the deployment: workspace_bucket",
        ),
    ],
)
def test_what_runs_commands_is_alone_with_its_files_and_its_tasks(text: str, told: str) -> None:
    (mistake,) = mistakes(SMALLEST + text)
    assert told in mistake
    load(SMALLEST + DEVTOOL)


def test_somebody_elses_development_agent_may_be_anywhere() -> None:
    config = load(SMALLEST + '[functions.devtool]\nurl = "https://agent.example.com"\n', mode="functions")
    assert config.functions["devtool"].url == "https://agent.example.com"


def test_cloud_run_functions_cannot_go_on_with_what_was_begun() -> None:
    assert "--mode=functions gives a function its CPU" in mistakes(SMALLEST + DEVTOOL, mode="functions")[0]


def test_a_worker_works_on_a_role_of_the_routes() -> None:
    workers = '[functions.tasks.workers]\ndeveloper = ["b@p-other.iam.gserviceaccount.com"]\n'
    text = SMALLEST + workers + '[functions.hub.environment]\nTASK_STORE = "firestore"\n'
    config = load(text, roles=("developer", "tester"))
    assert config.functions["tasks"].workers == {"developer": ("b@p-other.iam.gserviceaccount.com",)}
    assert "those of routes.toml are tester" in mistakes(text, roles=("tester",))[0]
    assert "workers fetch stored tasks: set TASK_STORE" in mistakes(SMALLEST + workers, roles=("developer",))[0]


def test_tasks_run_inside_requests_so_that_cloud_run_functions_can_keep_them_too() -> None:
    text = SMALLEST + '[functions.hub.environment]\nTASK_STORE = "firestore"\n'
    hub = load(text, mode="functions").functions["hub"]
    assert hub.environment == {"TASK_STORE": "firestore", "WAKEUPS": "pubsub", "TASK_RUNS": "queued"}
    assert not hub.works_between_requests
    with_hcs = load(text + 'WAKEUPS = "hcs,pubsub"\n', mode="functions").functions["hub"]
    assert with_hcs.needs == hub.needs
    (told,) = mistakes(text + 'WAKEUPS = "hcs"\n')
    assert told.startswith("deploy.toml:8: instances have no CPU between requests")
    (told,) = mistakes(text + 'WAKEUPS = "none"\n')
    assert told.startswith("deploy.toml:8: instances have no CPU between requests")
