"""What each function of one machine is told when it starts."""

from pathlib import Path

import pytest

from a2a_hub.routing.table_file import RouteFile
from local.functions import functions
from local.run import has_own_documents, laid_out, routes_without_sample_policy
from local.settings import Settings, environment_of
from tests.fakes.signatures import KEYS

SETTINGS = Settings(port=2, dev_token="t", folder=Path("/runs/8080"), signing_keys=KEYS)


def _environments(inherited: dict[str, str]) -> dict[str, dict[str, str]]:
    table = functions()
    urls = {each.name: "http://127.0.0.1:1" for each in table}
    return {one.name: environment_of(one, SETTINGS, inherited=inherited, urls=urls) for one in table}


def test_the_index_of_documents_is_kept_beside_the_logs_of_the_run() -> None:
    environments = _environments({})
    assert environments["docqa"]["CORPUS_INDEX"] == "/runs/8080/corpus-index.sqlite3"
    assert [name for name, each in environments.items() if "CORPUS_INDEX" in each] == ["docqa"]


def test_an_index_that_the_operator_names_is_used() -> None:
    assert _environments({"CORPUS_INDEX": "/mine"})["docqa"]["CORPUS_INDEX"] == "/mine"


def test_the_development_tokens_are_for_the_gate_for_workers_and_for_people() -> None:
    environments = _environments({})
    assert {name for name, each in environments.items() if "HUB_DEV_TOKEN" in each} == {"console", "gate", "tasks"}


def test_agents_elsewhere_get_tokens_unless_the_operator_says_otherwise() -> None:
    environments = _environments({})
    told = {name: each["IAM_CREDENTIALS"] for name, each in environments.items() if "IAM_CREDENTIALS" in each}
    assert told == {"gate": "none", "hub": "remote", "agent_card": "none", "tasks": "none"}
    assert _environments({"IAM_CREDENTIALS": "none"})["hub"]["IAM_CREDENTIALS"] == "none"


def test_the_development_agent_works_in_a_folder_of_the_run_with_tasks_of_its_own() -> None:
    told = _environments({"TASK_STORE": "firestore"})["devtool"]
    assert told["DEVTOOL_WORKSPACES"] == told["DEVTOOL_DEFAULT_WORKSPACE"] == "/runs/8080/workspace"
    assert told["TASK_STORE"] == "sqlite:/runs/8080/devtool-tasks.sqlite3"


def test_the_operators_own_workspaces_and_commands_take_the_place_of_the_samples() -> None:
    mine = {"DEVTOOL_WORKSPACES": "/mine", "DEVTOOL_COMMANDS": "make"}
    told = _environments(mine)["devtool"]
    assert {name: value for name, value in told.items() if name.startswith("DEVTOOL_")} == mine


def test_workspaces_of_persons_come_without_commands() -> None:
    told = _environments({"DEVTOOL_WORKSPACE_PER_PERSON": "true"})["devtool"]
    assert "DEVTOOL_COMMANDS" not in told


def test_files_in_the_workspace_of_a_run_stay_as_somebody_left_them(tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    laid_out(folder)
    assert {file.name for file in folder.iterdir()} >= {"notes.md", "メモ.txt"}
    (folder / "notes.md").write_text("mine")
    (folder / "メモ.txt").unlink()
    laid_out(folder)
    assert (folder / "notes.md").read_text() == "mine"
    assert not (folder / "メモ.txt").exists()


@pytest.mark.parametrize(
    ("environment", "is_left_out"),
    [
        ({"CORPUS_DIR": "/mine"}, True),
        ({}, False),
        ({"CORPUS_DIR": "/mine", "ROUTES_FILE": "/mine.toml"}, False),
        ({"CORPUS_DIR": "/mine", "EXPENSE_URL": "https://expense.example"}, False),
    ],
)
def test_the_sample_policy_is_left_out_where_only_the_documents_are_the_operators_own(
    environment: dict[str, str], *, is_left_out: bool
) -> None:
    assert has_own_documents(environment) is is_left_out


def test_the_table_without_the_sample_policy_has_every_other_route(tmp_path: Path) -> None:
    addresses = dict.fromkeys(("PM_URL", "DOCQA_URL", "GENERAL_URL", "DEVTOOL_URL"), "http://127.0.0.1:1")
    read = RouteFile(routes_without_sample_policy(tmp_path), addresses).read()
    assert read
    assert {route.id for route in read[0].routes} == {"pm", "docqa", "general", "devtool"}
