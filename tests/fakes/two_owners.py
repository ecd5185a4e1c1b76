"""A hub with tasks of one caller, whom others would like to know more of."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from a2a_hub.identity.principal import digest
from tests.fakes.agent_server import AgentServer, ReceivedMessage
from tests.fakes.agent_wire import Json, message, task, text
from tests.fakes.hub import OTHER_TOKEN, Hub, route, settle
from tests.fakes.task_client import TaskClient

ASKING, LIMITED = "token-of-one-who-may-ask", "token-of-one-who-may-cancel-too"
NOT_FOUND = {"JSONRPC": -32001, "HTTP+JSON": 404}
INVALID = {"JSONRPC": -32602, "HTTP+JSON": 400}
_CLIENTS = f"""
[[clients]]
name = "asking"
token_sha256 = "{digest(ASKING)}"
operations = ["SendMessage"]
[[clients]]
name = "limited"
token_sha256 = "{digest(LIMITED)}"
operations = ["SendMessage", "CancelTask"]
"""


@dataclass(frozen=True)
class World:
    """A hub with a task of TOKEN's that waits for an answer, a config of it, and a token for the next page of its tasks."""

    hub: Hub
    task_id: str
    context_id: str
    config_id: str
    page_token: str

    def client(self, way: str, token: str = OTHER_TOKEN) -> TaskClient:
        return TaskClient(self.hub, way, token=token)


def _ask_back(said: ReceivedMessage) -> list[Json]:
    return [message(text(f"Then {said.text}"))] if said.task_id else [task("input-required", says="Which?")]


@contextlib.contextmanager
def two_owners(folder: Path) -> Iterator[World]:
    """The hub, in whose store nothing but these tasks is."""
    (folder / "clients.toml").write_text(_CLIENTS)
    settings = {"TASK_STORE": f"sqlite:{folder}/tasks.db", "CLIENTS_FILE": str(folder / "clients.toml")}
    with AgentServer(_ask_back) as agent:
        hub = Hub(route("alpha", agent.url), settings=settings)
        mine = TaskClient(hub, "1.0 JSONRPC")
        asked = mine.send("Paint it")
        mine.send("Another one")
        config = mine.call(
            "CreateTaskPushNotificationConfig", {"taskId": asked.task_id, "url": "https://receiver.example/"}
        )
        page_token = mine.list(pageSize=1)["nextPageToken"]
        assert page_token
        yield World(hub, asked.task_id, asked.context_id, config["id"], page_token)
        settle()
