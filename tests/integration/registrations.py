"""A stand-in of Gemini Enterprise to register with, and hubctl as an operator calls it there."""

import contextlib
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hubctl.main import main
from tests.fakes.gemini_enterprise.server import Server
from tests.fakes.gemini_enterprise.world import Agent, OAuthClient, Operator, World
from tests.unit.cards import good_card

TOKEN = "ya29.of-the-operator"
SECRET = "GOCSPX-the-secret"
CLIENT = "1234-hub.apps.googleusercontent.com"
APP = "hub-app"


def shown_to_users(world: World, location: str) -> list[str]:
    """Return the display names of the agents that people see in the app."""
    within = f"projects/{world.project_number}/locations/{location}/collections/default_collection/engines/{APP}/"
    return [
        agent.fields["displayName"] for name, agent in world.agents.items() if name.startswith(within) and agent.shared
    ]


@dataclass(kw_only=True)
class Registrations:
    """A project with an app in each of `global` and `us`, and one OAuth client."""

    world: World
    endpoint: str
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    def hubctl(self, *arguments: str, card: Any = None, **environment: str) -> tuple[int, str]:
        """The exit status and what was written. The card is a good one, unless another is given."""
        file = self.folder / "card.json"
        file.write_text(json.dumps(card or good_card()))
        out = io.StringIO()
        status = main(
            ["register", *arguments, "--card", str(file)],
            environment={**self.environment, **environment},
            out=out,
        )
        return status, out.getvalue()

    def registered(self, *arguments: str) -> Agent:
        """The agent after a registration that went well."""
        status, told = self.hubctl(*arguments)
        assert status == 0, told
        return list(self.world.agents.values())[-1]

    def doctor(self, *arguments: str, **environment: str) -> dict[str, dict[str, str]]:
        """Return what the doctor finds, by check; its exit status agrees with it. The published card is the registered one."""
        live = ["--live-card", str(self.folder / "card.json")]
        status, told = self.hubctl("doctor", "--json", *live, *arguments, **environment)
        value = json.loads(told)
        wrong = [each for each in value["findings"] if each["severity"] == "error"]
        assert (status, value["ok"]) == ((1, False) if wrong else (0, True))
        return {each["check"]: each for each in value["findings"]}


@contextlib.contextmanager
def registrations(folder: Path) -> Iterator[Registrations]:
    """A stand-in of its own, served over HTTP."""
    world = World(
        project_id="demo",
        apps={("global", APP), ("us", APP)},
        operators={TOKEN: Operator(email="admin@example.com")},
        clients={CLIENT: OAuthClient(id=CLIENT, secret=SECRET)},
    )
    with Server(world) as server:
        environment = {
            "CLOUDSDK_AUTH_ACCESS_TOKEN": TOKEN,
            "GOOGLE_ENDPOINT": server.endpoint,
            "GOOGLE_CLOUD_PROJECT": "demo",
            "GEMINI_ENTERPRISE_APP": APP,
            "OAUTH_CLIENT_ID": CLIENT,
            "OAUTH_CLIENT_SECRET": SECRET,
        }
        yield Registrations(world=world, endpoint=server.endpoint, folder=folder, environment=environment)
