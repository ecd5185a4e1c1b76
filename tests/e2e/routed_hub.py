"""A run whose route table names agents that others have made: the official SDKs' servers, and one that waits for the test."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.hubs import Hub, running
from tests.e2e.paced_agent import PacedAgent, paced_agent
from tests.e2e.sdk_environments import agents

SDKS = {"0.3": "sdk_0_3", "1.x": "sdk_1_x"}
SDK_AGENTS = ("replying", "telling", "telling-once", "asking", "working", "rest")


@dataclass(frozen=True, kw_only=True)
class RoutedHub:
    """The run, and the agent behind its route `paced`. The SDKs' agents are `NAME-of-VERSION`; see `route_of`."""

    hub: Hub
    paced: PacedAgent


def route_of(sdk: str, agent: str) -> str:
    """The id of the route to this agent of this SDK."""
    return f"{agent}-of-{SDKS[sdk].replace('_', '-')}"


@contextlib.contextmanager
def routed_hub(folder: Path) -> Iterator[RoutedHub]:
    """The run and all agents; they have ended afterwards. No route says how its agent is called, except `paced`."""
    with paced_agent() as paced, contextlib.ExitStack() as stack:
        urls = {sdk: stack.enter_context(agents(folder_of_sdk)) for sdk, folder_of_sdk in SDKS.items()}
        tables = [_route(route_of(sdk, agent), f"{url}/{agent}") for sdk, url in urls.items() for agent in SDK_AGENTS]
        tables.append(_route("paced", paced.url, 'protocol_version = "0.3"', 'binding = "JSONRPC"', "default = true"))
        tables = [f"{table}priority = {number}\n" for number, table in enumerate(tables)]
        file = folder / "routes.toml"
        file.write_text("\n".join(tables))
        settings = {
            "ROUTES_FILE": str(file),
            "KEEP_ALIVE_SECONDS": "0.1",
            "WEBHOOK_ALLOWED_HOSTS": "127.0.0.1",
        }
        yield RoutedHub(hub=stack.enter_context(running("local.run", **settings)), paced=paced)


def _route(id_: str, url: str, *more: str) -> str:
    lines = [
        "[[routes]]",
        f'id = "{id_}"',
        f'name = "{id_}"',
        f'description = "The agent {id_}."',
        f'url = "{url}"',
        'boundary = "public"',
        f'keywords = ["{id_}"]',
        *more,
    ]
    return "".join(f"{line}\n" for line in lines)
