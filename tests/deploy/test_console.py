"""The console is deployed where deploy.toml has its table, open to everybody, with the settings by which people sign in."""

import pytest

from deploy.config import ConfigError
from deploy.functions import functions
from deploy.shell import declarations
from tests.deploy.plans import EXAMPLE, environment, plan

CLIENT = "210987654321-abcdefghijklmnopqrstuvwxyz012345.apps.googleusercontent.com"
TABLE = f"""
[functions.console.environment]
GOOGLE_CLIENT_ID = "{CLIENT}"
[functions.console.secrets]
GOOGLE_CLIENT_SECRET = "client-secret"
SESSION_KEY = "session-key"
"""


def test_the_console_is_deployed_only_where_deploy_toml_has_its_table_and_there_is_a_gateway() -> None:
    deployed = plan(EXAMPLE + TABLE)
    assert "console" not in [
        each.function.name for each in (*plan().wanted(), *plan(EXAMPLE + TABLE, direct=True).wanted())
    ]
    assert deployed.members(functions()["console"]) == ("allUsers",)
    expected = {
        "PUBLIC_URL": "https://console.example.com",
        "HUB_PUBLIC_URL": "https://gateway.example.com",
        "GOOGLE_CLIENT_ID": CLIENT,
        "GOOGLE_TOKEN_DOMAINS": "example.com",
    }
    told = environment(deployed, "console")
    assert told.items() >= expected.items()
    assert not {"OPERATORS", "TASK_STORE", "GOOGLE_TOKEN_AUDIENCES", "HUB_URL"} & told.keys()
    (resources,) = [line for line in declarations(deployed) if " resources=" in line]
    secrets = resources.partition("[console]=")[2].partition("[")[0]
    assert "GOOGLE_CLIENT_SECRET=client-secret:latest,SESSION_KEY=session-key:latest" in secrets


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ((CLIENT, "1-other.apps.googleusercontent.com"), "one of oauth_client_ids"),
        (('SESSION_KEY = "session-key"', ""), "name the secret with SESSION_KEY"),
        (("GOOGLE_CLIENT_ID =", 'SIGN_IN_CODE = "code"\nGOOGLE_CLIENT_ID ='), "its link is for one machine"),
    ],
)
def test_a_console_at_which_nobody_could_sign_in_is_a_mistake(changed: tuple[str, str], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        plan(EXAMPLE + TABLE.replace(*changed))
