"""Servers of the official SDK of MCP, before and after it had a version without sessions, as agents of the hub."""

from collections.abc import Iterator

import pytest

from a2a_hub.routing.routes import Kind
from tests.e2e.sdk_environments import agents
from tests.fakes.hub import Hub, route
from tests.integration.conversation_agents import turn
from tests.integration.test_doctor import steps

_VERSIONS = {"mcp_1_x": "2025-11-25", "mcp_2_x": "2026-07-28"}


@pytest.fixture(scope="module", params=_VERSIONS)
def server(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """The address, and the newest version that the server speaks."""
    with agents(request.param, "mcp_servers.py") as url:
        yield url, _VERSIONS[request.param]


@pytest.fixture(params=["/mcp", "/json/mcp"])
def hub(server: tuple[str, str], request: pytest.FixtureRequest) -> Hub:
    """A hub with a route to each tool."""
    url = f"{server[0]}{request.param}"
    return Hub(
        *(
            route(tool, url, kind=Kind.MCP, tool=tool, text_argument="city", stream_idle_timeout_seconds=20.0)
            for tool in ("forecast", "book", "fail")
        )
    )


@pytest.mark.parametrize("way", ["send", "stream"])
def test_a_read_only_tool_of_the_sdk_answers(hub: Hub, way: str) -> None:
    assert turn(hub, way, "forecast 東京")[1] == "Sunny: forecast 東京"


def test_a_tool_of_the_sdk_without_hints_waits_for_a_yes(hub: Hub) -> None:
    context_id, asked = turn(hub, "send", "book Kobe")
    assert "wants to use the tool “book”:\n\n    city: book Kobe\n" in asked
    assert turn(hub, "send", "yes", context_id)[1] == "Booked: book Kobe"


def test_an_exception_in_a_tool_of_the_sdk_is_contained(hub: Hub) -> None:
    answer = turn(hub, "send", "fail")[1]
    assert "could not complete this request" in answer
    assert "secret" not in answer


def test_the_doctor_names_the_version_and_the_tools_of_the_sdks_server(server: tuple[str, str]) -> None:
    url, version = server
    found = steps(route("travel", f"{url}/mcp", kind=Kind.MCP, tool="book", text_argument="city"))
    assert found["tools"].message == f"MCP {version}: forecast, book, fail"
