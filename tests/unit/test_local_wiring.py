"""The table of the local cloud: every row can be started, and says what functions need to know."""

import json
import os
from pathlib import Path

import pytest

from a2a_hub.http.messages import Request, body_of
from a2a_hub.queue import hcs
from a2a_hub.queue.wakeups import topic_of
from a2a_hub.routing.parser import load
from a2a_hub.settings.reader import Settings
from local.cloud.accounts import Accounts
from local.cloud.policies import MODEL_USER
from local.cloud.wiring import HEDERA, HUB_ACCOUNT, OPERATOR, OPERATOR_TOKEN, STAND_INS, StandIn, own_settings
from local.functions import functions

ROUTES = Path(__file__).parents[2] / "workers" / "routes.toml"
NAMES = [function.name for function in functions()] + [one.name for one in STAND_INS]
URLS = {name: f"http://127.0.0.1:{port}" for port, name in enumerate(NAMES, start=40_000)}


def test_no_two_programs_have_one_name() -> None:
    assert len(URLS) == len(NAMES)


def answered(name: str, path: str, **headers: str) -> bytes:
    """What the stand-in of this name answers."""
    row = next(row for row in STAND_INS if row.name == name)
    answer = row.handler(URLS, Accounts({OPERATOR_TOKEN: OPERATOR}, operators=[OPERATOR]))(
        Request(method="GET", path=path, headers=headers, query={}, read_body=body_of(b""))
    )
    assert answer.status == 200
    assert isinstance(answer.body, bytes)
    return answer.body


@pytest.mark.parametrize("row", STAND_INS, ids=lambda row: row.name)
def test_a_row_can_be_started_and_knows_faults(row: StandIn) -> None:
    assert "latency" in json.loads(answered(row.name, "/__faults"))["known"]


@pytest.mark.parametrize("row", STAND_INS, ids=lambda row: row.name)
def test_a_row_speaks_to_functions_that_exist(row: StandIn) -> None:
    assert row.settings_for(URLS).keys() <= {function.name for function in functions()}


def test_a_folder_of_ones_own_takes_the_place_of_the_data_store() -> None:
    search = {"CORPUS_DIR", "DISCOVERY_ENGINE_DATA_STORE"}
    assert search <= own_settings(STAND_INS, URLS, "docqa", inherited={}).keys()
    assert not search & own_settings(STAND_INS, URLS, "docqa", inherited={"CORPUS_DIR": "my"}).keys()


def test_the_hub_reaches_agents_through_their_fronts_and_agents_say_that_they_are_there() -> None:
    hub, pm = (own_settings(STAND_INS, URLS, name, inherited={}) for name in ("hub", "pm"))
    assert hub["PM_URL"] == pm["PUBLIC_URL"] == URLS["pm-front"]
    assert hub["IAM_CREDENTIALS"] == "adc"


def test_an_agent_of_the_operators_own_keeps_its_place() -> None:
    hub = own_settings(STAND_INS, URLS, "hub", inherited={"PM_URL": "https://pm.example"})
    assert "PM_URL" not in hub
    assert hub["EXPENSE_URL"] == URLS["expense-front"]


def test_a_developers_own_google_account_stays_out_of_it() -> None:
    settings = own_settings(STAND_INS, URLS, "hub", inherited={"GOOGLE_APPLICATION_CREDENTIALS": "/home/key.json"})
    assert (settings["GOOGLE_APPLICATION_CREDENTIALS"], settings["CLOUDSDK_CONFIG"]) == ("", os.devnull)


@pytest.mark.parametrize("name", ["hub", "tasks"])
def test_a_run_with_hcs_has_a_topic_for_each_role_of_the_sample_table(name: str) -> None:
    urls = URLS | {row.name: f"http://127.0.0.1:{port}" for port, row in enumerate(HEDERA, start=41_000)}
    told = own_settings((*STAND_INS, *HEDERA), urls, name, inherited={})
    settings = Settings(told)
    read = hcs.read(settings)
    settings.check()
    assert (read.nodes, read.mirror_url) == ({"127.0.0.1:41001": "0.0.3"}, "http://127.0.0.1:41000")
    roles = {route.role for route in load(ROUTES.read_text(encoding="utf-8"), variables={}).routes}
    assert read.topics.keys() == {topic_of(role) for role in roles}


def test_without_a_local_cloud_a_function_is_told_nothing_of_one() -> None:
    assert own_settings((), URLS, "hub", inherited={}) == {}


def test_the_front_of_an_agent_lets_the_hub_in() -> None:
    assert json.loads(answered("pm-front", "/__service"))["invokers"] == [f"serviceAccount:{HUB_ACCOUNT}"]


@pytest.mark.parametrize("name", ["general", "docqa", "expense", "pm", "devtool"])
def test_whoever_may_be_given_a_model_may_use_it(name: str) -> None:
    told = own_settings(STAND_INS, URLS, name, inherited={})
    assert (told["VERTEX_AI_ENDPOINT"], told["GOOGLE_CLOUD_LOCATION"]) == (URLS["vertex-ai"], "global")
    place = "/computeMetadata/v1/instance/service-accounts/default/email"
    email = answered(f"metadata-{name}", place, **{"metadata-flavor": "Google"}).decode()
    policy = answered("vertex-ai", "/v1/projects/p:getIamPolicy", authorization=f"Bearer {OPERATOR_TOKEN}")
    (users,) = (each["members"] for each in json.loads(policy)["bindings"] if each["role"] == MODEL_USER)
    assert f"serviceAccount:{email}" in users
