"""Keys of deploy.toml for the rules of organisations: no public functions, keys, places, networks and labels of their own."""

import pytest

from deploy.config import ConfigError
from deploy.functions import functions
from deploy.shell import declarations
from tests.deploy.plans import EXAMPLE, WITH_TASKS, environment, plan
from tests.deploy.test_config import load, mistakes

KEY = "projects/k/locations/asia-northeast1/keyRings/r/cryptoKeys/c"
HUB = "serviceAccount:a2a-hub@my-hub-project.iam.gserviceaccount.com"


def expense(line: str) -> str:
    return EXAMPLE.replace("[functions.expense]\n", f"[functions.expense]\n{line}\n")


def declared(text: str, name: str, *, of: str = "", mode: str = "run") -> str:
    (line,) = [line for line in declarations(plan(text, mode=mode)) if f" {name}=" in line]
    return line.partition(f"[{of}]=")[2].partition(" [")[0].replace("'", " ") if of else line


def test_a_private_function_is_the_hubs_alone_and_an_unchecked_one_needs_no_grant() -> None:
    assert plan(expense("private = true")).members(functions()["expense"]) == (HUB,)
    assert "--no-allow-unauthenticated" in declared(expense("private = true"), "resources", of="expense")
    unchecked = expense("invoker_iam_check = false")
    assert plan(unchecked).members(functions()["expense"]) == ()
    flags = declared(unchecked, "resources", of="expense")
    assert " --no-invoker-iam-check " in flags
    # What was open once is closed again.
    assert " --invoker-iam-check " in declared(expense("private = true"), "resources", of="expense")
    assert "invoker-iam-check" not in declared(unchecked, "resources", of="pm")


def test_a_private_function_needs_a_route_with_an_id_token() -> None:
    text = expense("private = true")
    (told,) = mistakes(text, boundaries={"expense": "public"})
    assert told.endswith('expense is private: set boundary = "iam" for its route in routes.toml')
    load(text, boundaries={"expense": "iam"})
    assert "needs the check" in mistakes(expense("private = true\ninvoker_iam_check = false"))[0]
    assert (
        "unknown key 'private'"
        in mistakes(EXAMPLE.replace("[functions.gate]\n", "[functions.gate]\nprivate = true\n"))[0]
    )


def test_secrets_stay_where_they_are_told_to_be_or_where_the_key_is() -> None:
    assert declared(EXAMPLE, "replication") == "declare -ga replication=(--replication-policy=automatic)"
    located = EXAMPLE.replace("[secrets]", '[secrets]\nlocations = ["asia-northeast1"]')
    assert "(--replication-policy=user-managed --locations=asia-northeast1)" in declared(located, "replication")
    # A secret that is everywhere takes a global key alone, and a function one of its region.
    for text in (EXAMPLE, located):
        both = f'kms_key = "{KEY}"\n{text}'
        assert "(--replication-policy-file=build/replication.json)" in declared(both, "replication")
        replica = f'{{"location": "asia-northeast1", "customerManagedEncryption": {{"kmsKeyName": "{KEY}"}}}}'
        assert replica in declared(both, "replication_policy")


def test_a_key_is_in_the_region_of_what_it_encrypts() -> None:
    elsewhere = KEY.replace("asia-northeast1", "global")
    (told,) = mistakes(f'kms_key = "{elsewhere}"\n{EXAMPLE}')[:1]
    assert "kms_key is in global, and what it encrypts in asia-northeast1" in told
    wide = EXAMPLE.replace("[secrets]", '[secrets]\nlocations = ["asia-northeast1", "asia-northeast2"]')
    assert "kms_key encrypts secrets in asia-northeast1 alone" in mistakes(f'kms_key = "{KEY}"\n{wide}')[0]


@pytest.mark.parametrize(("mode", "flag"), [("run", "--key"), ("functions", "--kms-key")])
def test_a_key_encrypts_what_is_in_its_project_and_nothing_elsewhere(mode: str, flag: str) -> None:
    text = f'kms_key = "{KEY}"\n{EXAMPLE}'
    flags = declared(text, "resources", of="hub", mode=mode)
    assert f" {flag}={KEY} " in flags
    images = (
        "--docker-repository=projects/my-hub-project/locations/asia-northeast1/repositories/cloud-run-source-deploy"
    )
    assert (f" {images} " in flags) == (mode == "functions")
    assert KEY not in declared(text, "resources", of="expense", mode=mode)


@pytest.mark.parametrize("mode", ["run", "functions"])
def test_functions_are_built_in_the_pool_of_their_project(mode: str) -> None:
    pool = "projects/my-hub-project/locations/asia-northeast1/workerPools/w"
    text = f'worker_pool = "{pool}"\n{EXAMPLE}'
    assert f" --build-worker-pool={pool} " in declared(text, "resources", of="hub", mode=mode)
    assert pool not in declared(text, "resources", of="expense", mode=mode)
    assert "a private pool of Cloud Build" in mistakes(text.replace("workerPools/w", "w"))[0]


def test_a_function_closed_to_the_internet_needs_callers_in_the_network() -> None:
    closed = EXAMPLE.replace("[functions.docqa]\n", '[functions.docqa]\ningress = "internal"\n')
    assert 'set network and vpc_egress = "all-traffic" in [functions.hub]' in mistakes(closed)[0]
    inside = 'network = "n"\nsubnet = "s"\nvpc_egress = "all-traffic"\n'
    text = closed.replace("[functions.hub]\n", f"[functions.hub]\n{inside}")
    assert " --ingress=internal " in declared(text, "resources", of="docqa")
    assert " --network=n --subnet=s --vpc-egress=all-traffic " in declared(text, "resources", of="hub")
    assert "--clear-network" in declared(text, "resources", of="docqa")
    gate = EXAMPLE.replace("[functions.gate]\n", '[functions.gate]\ningress = "internal"\n')
    assert "its ingress must be all" in mistakes(gate)[0]
    with pytest.raises(ConfigError, match="--mode=functions has no network"):
        plan(text, mode="functions")


def test_a_gateway_is_where_api_gateway_is() -> None:
    text = EXAMPLE.replace('region = "asia-northeast1"', 'region = "asia-northeast2"', 1)
    assert "API Gateway is not in asia-northeast2" in mistakes(text)[0]
    load(text, direct=True)
    load(text.replace("[gateway]\n", '[gateway]\nregion = "asia-northeast1"\n'))


def test_labels_and_roles_on_one_database() -> None:
    text = WITH_TASKS + '\n[labels]\ncost-center = "42"\n'
    assert declared(text, "labelled") == "declare -ga labelled=(--labels=cost-center=42)"
    assert declared(text, "roles", of="gate") == "roles/datastore.user@a2a-tasks)"
    for key in ("content", "deployment", "before", "keys"):
        assert "is no key of a label" in mistakes(f'{text}{key} = "x"\n')[0]


def test_grpc_is_a_container_in_front_of_the_gateway_that_the_card_names() -> None:
    text = EXAMPLE + "\n[functions.grpc]\nconcurrency = 200\n"
    deployed = plan(text)
    assert environment(deployed, "grpc")["HUB_URL"] == "https://gateway.example.com"
    for name in ("hub", "agent_card"):
        assert environment(deployed, name)["GRPC_URL"] == "grpc.example.com:443"
        assert "GRPC_URL" not in environment(plan(), name)
    flags = declared(text, "resources", of="grpc")
    assert " --use-http2 " in flags
    assert "--allow-unauthenticated" in flags
    assert "build-env-vars" not in flags
    assert "[grpc]=services/grpc" in declared(text, "container")
    assert "grpc" not in [each.function.name for each in plan().wanted()]
    with pytest.raises(ConfigError, match="--mode=functions has no containers"):
        plan(text, mode="functions")
