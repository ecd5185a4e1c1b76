"""The address of the hub that hubctl calls, and the addresses that it refuses."""

from collections.abc import Mapping, Sequence

import pytest

from hubctl.connection import hub_address, hub_token
from hubctl.main import CommandError
from tests.unit.test_hubctl_check import hubctl

NO_ADDRESSES = (
    "foo",
    "ftp://hub.example.com",
    "http://",
    "http://[::1",
    "http://127.0.0.1:99999",
    "http://a b",
)


@pytest.mark.parametrize(
    ("environment", "address"),
    [
        ({}, "http://127.0.0.1:8080"),
        ({"HUB_PORT": ""}, "http://127.0.0.1:8080"),
        ({"HUB_PORT": "28080"}, "http://127.0.0.1:28080"),
        ({"HUB_PORT": "28080", "HUB_URL": "https://hub.example.com"}, "https://hub.example.com"),
    ],
)
def test_it_is_where_make_run_has_started_one_unless_it_was_told(environment: Mapping[str, str], address: str) -> None:
    assert hub_address(None, environment, variables=["HUB_URL"]) == address
    given = "https://given.example.com"
    assert hub_address(given, environment, variables=["HUB_URL"]) == given


@pytest.mark.parametrize("address", NO_ADDRESSES)
@pytest.mark.parametrize(
    "command",
    [
        ("doctor", "--url"),
        ("evaluate", "--live", "--url"),
        ("register", "list", "--project", "demo", "--app", "app", "--endpoint"),
    ],
)
def test_what_is_no_address_is_refused_by_every_command(
    command: Sequence[str], address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hubctl(*command, address)[0] == 2
    assert repr(address) in capsys.readouterr().err


@pytest.mark.parametrize("address", [each for each in NO_ADDRESSES if "://" in each])
def test_a_card_at_no_address_is_refused(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert hubctl("check", "--card", address)[0] == 2
    assert repr(address) in capsys.readouterr().err


def test_the_variable_that_holds_no_address_is_named() -> None:
    with pytest.raises(CommandError, match="HUB_URL is 'hub', which is not an address"):
        hub_address(None, {"HUB_URL": "hub"}, variables=["HUB_URL"])
    with pytest.raises(CommandError, match="HUB_PORT is 'http://127"):
        hub_address(None, {"HUB_PORT": "none"}, variables=["HUB_URL"])


def test_the_first_token_of_the_run_is_taken_unless_one_was_given() -> None:
    assert hub_token(None, {"HUB_DEV_TOKEN": "alice,bob"}) == "alice"
    assert hub_token("carol", {"HUB_DEV_TOKEN": "alice,bob"}) == "carol"
    assert hub_token(None, {}) is None
