"""The table of named clients: what each may use, and everything that is wrong with a table, at once and without a token."""

import pytest

from a2a_hub.identity.principal import (
    ClientTableError,
    Principal,
    StaticTokenVerifier,
    digest,
    load_clients,
    may_call,
)

_TABLE = f"""
[[clients]]
name = "nightly-report"
token_sha256 = "{digest("nightly")}"
routes = ["docqa"]
operations = ["SendMessage", "tools/query"]

[[clients]]
name = "console"
token_sha256 = "{digest("console")}"
"""


def test_a_client_is_its_name_with_its_routes_and_operations() -> None:
    tokens = StaticTokenVerifier(load_clients(_TABLE))
    nightly = tokens.verify("nightly")
    assert nightly == Principal(
        subject="client:nightly-report",
        client="nightly-report",
        routes=frozenset({"docqa"}),
        operations=frozenset({"SendMessage", "tools/query"}),
    )
    assert may_call("SendMessage", nightly)
    assert not may_call("GetTask", nightly)
    assert tokens.verify("console") == Principal(subject="client:console", client="console")
    operator = load_clients(f'[[clients]]\nname = "ops"\ntoken_sha256 = "{digest("ops")}"\noperator = true\n')
    assert StaticTokenVerifier(operator).verify("ops") == Principal(subject="client:ops", client="ops", operator=True)
    assert may_call("GetTask", tokens.verify("console"))


@pytest.mark.parametrize("token", ["", "Nightly", "nightly ", digest("nightly"), "nobody"])
def test_any_other_token_is_nobodys(token: str) -> None:
    assert StaticTokenVerifier(load_clients(_TABLE)).verify(token) is None


def test_a_table_without_clients_lets_nobody_in() -> None:
    assert load_clients("") == {}
    assert StaticTokenVerifier({}).verify("") is None


def test_everything_that_is_wrong_is_said_at_once_and_no_token_is_repeated() -> None:
    table = """
    comment = "clients of the hub"
    [[clients]]
    name = "Nightly Report"
    token_sha256 = "my-secret-token"
    [[clients]]
    name = "console"
    token = "my-secret-token"
    routes = "docqa"
    operations = [1]
    """
    with pytest.raises(ClientTableError) as error:
        load_clients(table)
    assert str(error.value).split("; ") == [
        "comment is not known: clients belong in [[clients]]",
        "clients[0].name must be lower-case letters, digits and hyphens",
        "clients[0].token_sha256 must be the token's SHA-256 in 64 hexadecimal digits, never the token",
        "clients[1].token_sha256 must be the token's SHA-256 in 64 hexadecimal digits, never the token",
        "clients[1].token is not known",
        "clients[1].routes must be a list of names",
        "clients[1].operations must be a list of names",
    ]


@pytest.mark.parametrize(
    ("table", "wrong"),
    [
        ("clients = 3", "clients must be tables"),
        ('clients = "console"', "clients must be tables"),
        (_TABLE + 'expires = "2027-04-01"', "clients[1].expires must be a date, or a time with its zone"),
        (_TABLE + "expires = 2027-04-01T00:00:00", "clients[1].expires must be a date, or a time with its zone"),
        (_TABLE.replace("console", "developer"), "clients[1].name is taken"),
        ("clients = [3]", "clients[0].name must be"),
        ('[[clients]\nname = "my-secret-token"', "it is no TOML"),
        (_TABLE.replace("console", "nightly-report"), "two clients have the same name"),
        (_TABLE.replace(digest("console"), digest("nightly")), "two clients have the same token_sha256"),
    ],
)
def test_a_table_that_cannot_be_meant_is_refused(table: str, wrong: str) -> None:
    with pytest.raises(ClientTableError) as error:
        load_clients(table)
    assert wrong in str(error.value)
    assert "my-secret-token" not in str(error.value)


def test_a_clients_token_is_not_in_what_is_printed() -> None:
    table = f'[[clients]]\nname = "a"\ntoken_sha256 = "{digest("nightly")}"\n'
    assert "nightly" not in repr(load_clients(table))


@pytest.mark.parametrize("expires", ["2027-04-01", "2027-04-01T09:00:00+09:00"])
def test_a_token_works_until_it_expires(expires: str) -> None:
    expiry = 1_806_537_600.0
    clients = load_clients(_TABLE.replace('name = "console"', f'name = "console"\nexpires = {expires}'))
    before = StaticTokenVerifier(clients, now=lambda: expiry - 1)
    assert before.verify("console") == Principal(subject="client:console", client="console")
    after = StaticTokenVerifier(clients, now=lambda: expiry)
    assert after.verify("console") is None
    assert after.verify("nightly")


def test_a_client_works_on_the_roles_that_its_table_names_and_on_no_other() -> None:
    worker = f'[[clients]]\nname = "builder"\ntoken_sha256 = "{digest("builder")}"\nroles = ["developer"]\n'
    tokens = StaticTokenVerifier(load_clients(_TABLE + worker))
    builder, console = tokens.verify("builder"), tokens.verify("console")
    assert builder is not None
    assert builder.roles == frozenset({"developer"})
    assert console is not None
    assert console.roles == frozenset()
