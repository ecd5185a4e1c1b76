"""The table of the local cloud: every row can be started, and says what functions need to know."""

import importlib.util
import os

import pytest

from local.cloud.wiring import HUB_ACCOUNT, STAND_INS, StandIn, own_settings
from local.functions import functions

NAMES = [function.name for function in functions()] + [one.name for one in STAND_INS]
URLS = {name: f"http://127.0.0.1:{port}" for port, name in enumerate(NAMES, start=40_000)}


def test_no_two_programs_have_one_name() -> None:
    assert len(URLS) == len(NAMES)


@pytest.mark.parametrize("row", STAND_INS, ids=lambda row: row.name)
def test_a_row_names_a_module_and_gives_it_its_own_port(row: StandIn) -> None:
    command = row.command(URLS)
    assert importlib.util.find_spec(row.module) is not None
    assert command[1:5] == ["-m", row.module, "--port", URLS[row.name].rpartition(":")[2]]


@pytest.mark.parametrize("row", STAND_INS, ids=lambda row: row.name)
def test_a_row_speaks_to_functions_that_exist(row: StandIn) -> None:
    assert row.settings_for(URLS).keys() <= {function.name for function in functions()}


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


def test_without_a_local_cloud_a_function_is_told_nothing_of_one() -> None:
    assert own_settings((), URLS, "hub", inherited={}) == {}


def test_the_front_of_an_agent_lets_the_hub_in_and_trusts_every_account() -> None:
    arguments = next(row for row in STAND_INS if row.name == "pm-front").arguments(URLS)
    assert arguments[-2:] == ["--invoker", HUB_ACCOUNT]
    certificates = {URLS[name] + "/oauth2/v1/certs" for name in NAMES if name.startswith("metadata-")}
    assert certificates <= set(arguments)


@pytest.mark.parametrize("name", ["general", "docqa", "expense", "pm", "devtool"])
def test_whoever_may_be_given_a_model_may_use_it(name: str) -> None:
    told = own_settings(STAND_INS, URLS, name, inherited={})
    assert (told["VERTEX_AI_ENDPOINT"], told["GOOGLE_CLOUD_LOCATION"]) == (URLS["vertex-ai"], "global")
    arguments = next(row for row in STAND_INS if row.name == f"metadata-{name}").arguments(URLS)
    users = next(row for row in STAND_INS if row.name == "vertex-ai").arguments(URLS)
    assert arguments[list(arguments).index("--email") + 1] in users
