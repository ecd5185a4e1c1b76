"""The development agent is deployed where it is asked for, with what it needs and nothing else."""

from deploy.functions import functions
from deploy.shell import declarations
from tests.deploy.plans import DEVTOOL, EXAMPLE, WITH_TASKS, environment, plan


def test_the_development_agent_is_deployed_only_where_deploy_toml_has_its_table() -> None:
    without, deployed = plan(), plan(EXAMPLE + DEVTOOL)
    named = {"DEVTOOL_URL": "https://devtool.example.com"}
    for name in ("hub", "agent_card"):
        assert environment(deployed, name).items() >= named.items()
        assert not environment(without, name).keys() & named
    assert "devtool" not in [function.function.name for function in without.wanted()]
    assert "a2a-devtool" not in without.accounts()["my-hub-project"]
    assert deployed.members(functions()["devtool"]) == (
        "serviceAccount:a2a-hub@my-hub-project.iam.gserviceaccount.com",
    )
    elsewhere = plan(EXAMPLE + '[functions.devtool]\nurl = "https://agent.example.com"\n')
    assert "devtool" not in [function.function.name for function in elsewhere.deployed()]


def test_the_development_agent_may_use_the_database_of_its_own_project_and_nothing_else() -> None:
    lines = list(declarations(plan(WITH_TASKS + DEVTOOL)))
    assert "declare -gA database=([devtool]=a2a-tasks [hub]=a2a-tasks)" in lines
    (roles,) = [line for line in lines if " roles=" in line]
    assert "[devtool]=roles/datastore.user@a2a-tasks " in roles
    (accounts,) = [line for line in lines if " accounts=" in line]
    assert "[my-workspace-project]='a2a-build a2a-devtool'" in accounts
    (resources,) = [line for line in lines if " resources=" in line]
    # Work that was begun by a request goes on after it.
    assert "--no-cpu-throttling" in resources.partition("[devtool]=")[2].partition(" [")[0]


def test_its_workspaces_are_a_bucket_that_it_may_write_and_without_one_it_works_on_no_files() -> None:
    text = EXAMPLE + DEVTOOL
    assert not [name for name in environment(plan(text), "devtool") if name.startswith("DEVTOOL_")]
    told = plan(text + 'workspace_bucket = "my-workspaces"\n')
    for name in ("DEVTOOL_WORKSPACES", "DEVTOOL_DEFAULT_WORKSPACE"):
        assert environment(told, "devtool")[name] == "/workspaces"
    lines = list(declarations(told))
    (role,) = [line for line in lines if " bucket_role=" in line]
    assert "[devtool]=roles/storage.objectUser" in role
    (resources,) = [line for line in lines if " resources=" in line]
    assert "--add-volume=name=workspaces,type=cloud-storage,bucket=my-workspaces" in resources
