"""The hub's settings: everything that is wrong is said at once, and nothing is open that nobody opened."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from a2a_hub.settings.hub import missing_variable
from a2a_hub.settings.reader import SettingsError
from functions.hub.config import Config, read
from tests.fakes.signatures import HUB_SETTINGS

_CLOSED = HUB_SETTINGS
_AGENTS = ("DOCQA_URL", "EXPENSE_URL", "GENERAL_URL", "PM_URL")


def test_every_wrong_setting_is_named_at_once(tmp_path: Path) -> None:
    table = tmp_path / "routes.toml"
    table.write_text('[[routes]]\nid = "Wrong Id"\n')
    wrong = {
        "HUB_DEV_TOKEN": "token,two words",
        "A2A_GATEWAY_TOKEN": "トークン",
        "ROUTES_FILE": str(table),
        "HUB_PUBLIC_URL": "hub.example.com",
        "PORT": "0",
        "ALLOW_ANONYMOUS": "yes",
        "LOG_TEXT": "1",
        "CARD_MAX_AGE_SECONDS": "-1",
        "CARD_SECURITY": "magic",
        "IAM_CREDENTIALS": "key-file",
        "MAX_BODY_BYTES": "many",
        "KEEP_ALIVE_SECONDS": "0",
        "IDENTITY_TTL_SECONDS": "86400",
        "SIGNING_KEY": "short",
        "GATE_PUBLIC_KEYS": "short",
        "TASKS_PUBLIC_KEYS": HUB_SETTINGS["SIGNING_KEY"],
        "GATE_SIGNING_KEY": "former" * 6,
        "GOOGLE_USERINFO_URL": "http://userinfo.example",
        "CLIENTS_FILE": str(tmp_path / "none.toml"),
    }
    problems = _problems(wrong)
    assert {problem.split()[0] for problem in problems} >= wrong.keys()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HUB_PUBLIC_URL", "http://[half"),
        ("HUB_PUBLIC_URL", "http://host:port"),
        ("HUB_PUBLIC_URL", "https://"),
        ("HUB_PUBLIC_URL", "ftp://hub.example.com"),
        ("MAX_BODY_BYTES", "nan"),
        ("KEEP_ALIVE_SECONDS", "inf"),
    ],
)
def test_a_wrong_value_is_a_sentence_and_no_exception_of_a_library(name: str, value: str) -> None:
    (problem,) = _problems(_CLOSED | {name: value})
    assert problem.startswith(f"{name} must be ")


def test_a_route_table_that_is_not_there_is_named(tmp_path: Path) -> None:
    (problem,) = _problems(_CLOSED | {"ROUTES_FILE": str(tmp_path / "other.toml")})
    assert problem == "ROUTES_FILE names a file that does not exist: other.toml"


def test_a_folder_is_no_route_table(tmp_path: Path) -> None:
    (problem,) = _problems(_CLOSED | {"ROUTES_FILE": str(tmp_path)})
    assert problem == f"ROUTES_FILE names a folder, where a file is needed: {tmp_path.name}"


def test_a_route_table_in_another_encoding_is_named(tmp_path: Path) -> None:
    table = tmp_path / "routes.toml"
    table.write_bytes("[hub]\nname = '経費'\n".encode("shift_jis"))
    assert _problems(_CLOSED | {"ROUTES_FILE": str(table)}) == ["ROUTES_FILE names a file that is not UTF-8"]


def test_a_clients_table_in_another_encoding_is_named(tmp_path: Path) -> None:
    table = tmp_path / "clients.toml"
    table.write_bytes(b"\xff\xfe")
    assert _problems(_CLOSED | {"CLIENTS_FILE": str(table)}) == ["CLIENTS_FILE names a file that is not UTF-8"]


def test_without_any_identity_the_hub_does_not_start() -> None:
    (problem,) = _problems({})
    assert problem.startswith("ALLOW_ANONYMOUS is not true, and no kind of identity is on")


def test_id_tokens_are_taken_of_named_accounts_alone() -> None:
    (problem,) = _problems(_CLOSED | {"ID_TOKEN_AUDIENCES": "https://hub.example"})
    assert problem.startswith("ID_TOKEN_CALLERS must name the accounts that get in")


def test_without_addresses_the_hub_starts_and_knows_what_is_missing() -> None:
    config = read(_CLOSED)
    assert config.hub.unset == _AGENTS
    assert sorted(missing_variable(route) or "" for route in config.hub.table.routes) == list(_AGENTS)


def test_an_address_that_is_set_is_not_missing() -> None:
    config = read(_CLOSED | {"PM_URL": "https://pm.example"})
    assert config.hub.unset == ("DOCQA_URL", "EXPENSE_URL", "GENERAL_URL")
    assert missing_variable(config.hub.table.by_id["pm"]) is None


def test_on_google_cloud_every_missing_address_stops_the_start() -> None:
    problems = _problems(_CLOSED | {"K_SERVICE": "hub"})
    assert {problem.split()[0] for problem in problems} == {*_AGENTS, "HUB_PUBLIC_URL"}


def test_secrets_are_not_in_the_settings_printed() -> None:
    config = read(HUB_SETTINGS | {"HUB_DEV_TOKEN": "a-development-token"})
    assert "a-development-token" not in repr(config)
    assert "PRIVATE KEY" not in repr(config)


def test_the_shared_key_of_earlier_versions_is_refused_with_what_replaces_it() -> None:
    (problem,) = _problems(_CLOSED | {"GATE_SIGNING_KEY": "k" * 48})
    assert problem.startswith("GATE_SIGNING_KEY is no longer used")
    assert {"SIGNING_KEY", "GATE_PUBLIC_KEYS,", "TASKS_PUBLIC_KEYS"} <= set(problem.split())


def test_two_functions_with_one_key_are_a_mistake() -> None:
    (problem,) = _problems(_CLOSED | {"TASKS_PUBLIC_KEYS": _CLOSED["GATE_PUBLIC_KEYS"]})
    assert problem == "GATE_PUBLIC_KEYS and TASKS_PUBLIC_KEYS name one key: each function has a key of its own"


@pytest.mark.parametrize(
    ("settings", "starts"),
    [
        ({"A2A_GATEWAY_TOKEN": "t" * 31}, False),
        ({"A2A_GATEWAY_TOKEN": "t" * 32}, True),
        ({"HUB_DEV_TOKEN": "t"}, True),
        ({"HUB_DEV_TOKEN": "t", "K_SERVICE": "hub"}, False),
        ({"HUB_DEV_TOKEN": f"{'t' * 32},t", "K_SERVICE": "hub"}, False),
    ],
)
def test_a_short_static_token_stops_the_start(settings: dict[str, str], starts: bool) -> None:
    if starts:
        assert read(settings).identity.clients
    else:
        (name,) = settings.keys() - {"K_SERVICE"}
        assert f"{name} must have at least 32 characters: `openssl rand -hex 32` prints 64" in _problems(settings)


def test_an_empty_variable_counts_as_unset() -> None:
    config: Config = read(_CLOSED | {"MAX_BODY_BYTES": " ", "LOG_TEXT": "", "PM_URL": ""})
    assert (config.limits.body_bytes, config.hub.log_text) == (10 << 20, False)
    assert "PM_URL" in config.hub.unset


def test_a_silent_stream_gets_a_comment_before_a_client_of_the_official_sdk_gives_up() -> None:
    given_up_after = 5.0  # without a byte: httpx's default
    assert read(_CLOSED).keep_alive_seconds < given_up_after


@pytest.mark.parametrize(("body", "held"), [({}, 20), ({"MAX_BODY_BYTES": str((25 << 20) + 1)}, 26)])
def test_the_largest_body_finds_room(body: dict[str, str], held: int) -> None:
    assert read(_CLOSED | body).limits.held_bytes == held << 20


def _problems(environ: Mapping[str, str]) -> list[str]:
    with pytest.raises(SettingsError) as raised:
        read(environ)
    return [line.strip() for line in str(raised.value).splitlines()[1:] if line.startswith("  ")]
