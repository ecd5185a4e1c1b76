"""The settings of a local run."""

import socket
from pathlib import Path

import pytest

from local.settings import NotStartable, require_free, settings_from

RUNS = Path("runs")


def test_nothing_set_gives_the_usual_port_and_a_new_token_each_time() -> None:
    one, two = settings_from({}, runs=RUNS), settings_from({}, runs=RUNS)
    assert (one.port, one.url, one.folder) == (8080, "http://127.0.0.1:8080", RUNS / "8080")
    assert one.dev_token != two.dev_token


def test_tokens_are_one_for_each_caller() -> None:
    settings = settings_from({"HUB_DEV_TOKEN": " a , b,,"}, runs=RUNS)
    assert (settings.dev_token, settings.first_token) == ("a,b", "a")


@pytest.mark.parametrize("unset", ["", " ", ",", " , "])
def test_a_token_without_a_character_is_none(unset: str) -> None:
    assert len(settings_from({"HUB_DEV_TOKEN": unset}, runs=RUNS).dev_token) >= 32


def test_port_zero_is_any_free_port() -> None:
    port = settings_from({"HUB_PORT": "0"}, runs=RUNS).port
    assert 0 < port <= 65535
    require_free(port)


@pytest.mark.parametrize("wrong", ["eighty", "-1", "65536", "8080/tcp", "８０８０", "8 0"])
def test_what_is_no_port_is_said_to_be_none(wrong: str) -> None:
    with pytest.raises(NotStartable, match=r"HUB_PORT is .*it has to be a port number"):
        settings_from({"HUB_PORT": wrong}, runs=RUNS)


def test_a_port_that_somebody_holds_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(NotStartable, match=f"port {port} cannot be used"):
            require_free(port)


def test_the_gateway_is_left_out_when_it_is_said() -> None:
    assert settings_from({}, runs=RUNS).has_gateway
    assert not settings_from({"GATEWAY": "0"}, runs=RUNS).has_gateway
    with pytest.raises(NotStartable, match="GATEWAY is 'no'"):
        settings_from({"GATEWAY": "no"}, runs=RUNS)


def test_the_local_cloud_is_there_when_it_is_said() -> None:
    assert not settings_from({}, runs=RUNS).has_cloud
    assert settings_from({"CLOUD": "local"}, runs=RUNS).has_cloud
    with pytest.raises(NotStartable, match="CLOUD is 'gcp'; it has to be local"):
        settings_from({"CLOUD": "gcp"}, runs=RUNS)


def test_each_run_has_a_signing_key_of_its_own() -> None:
    keys = {settings_from({}, runs=RUNS).signing_keys["gate"].private for _ in range(2)}
    assert len(keys) == 2


@pytest.mark.parametrize("wrong", [{"PRIVATE": "expense"}, {"PRIVATE": "pm", "CLOUD": "local"}])
def test_what_only_the_local_cloud_can_close_is_refused_without_it(wrong: dict[str, str]) -> None:
    with pytest.raises(NotStartable, match=r"PRIVATE is '(expense|pm)'"):
        settings_from(wrong, runs=RUNS)
    settings_from({"PRIVATE": "expense", "CLOUD": "local"}, runs=RUNS)
