"""Servers made with the official SDK of MCP, 1.x or 2.x; `/mcp` streams its answers, `/json/mcp` does not.

It runs in an environment of its own, and prints its address. It ends with its input.
"""

import socket
import sys
import threading
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount

try:
    from mcp.server.mcpserver import MCPServer as Server
    from mcp_types import ToolAnnotations

    IS_2_X = True
except ImportError:
    from mcp.server.fastmcp import FastMCP as Server
    from mcp.types import ToolAnnotations

    IS_2_X = False


def made() -> Any:
    server = Server("travel")

    @server.tool(annotations=ToolAnnotations(readOnlyHint=True))
    async def forecast(city: str) -> str:
        """Says the weather of a city."""
        return f"Sunny: {city}"

    @server.tool()
    async def book(city: str) -> str:
        """Books a hotel in a city."""
        return f"Booked: {city}"

    @server.tool(annotations=ToolAnnotations(readOnlyHint=True))
    async def fail(city: str) -> str:
        """Fails."""
        raise ValueError(f"secret of {city}")

    return server


def application(*, as_json: bool) -> Any:
    if IS_2_X:
        return made().streamable_http_app(json_response=as_json)
    server = made()
    server.settings.json_response = as_json
    return server.streamable_http_app()


def _end_with_input(server: uvicorn.Server) -> None:
    sys.stdin.read()
    server.should_exit = True


def main() -> None:
    json_app, app = application(as_json=True), application(as_json=False)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> Any:
        async with json_app.router.lifespan_context(json_app), app.router.lifespan_context(app):
            yield

    both = Starlette(routes=[Mount("/json", json_app), Mount("/", app)], lifespan=lifespan)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        sys.stdout.write(f"http://127.0.0.1:{listening.getsockname()[1]}\n")
        sys.stdout.flush()
        server = uvicorn.Server(uvicorn.Config(both, log_level="critical"))
        threading.Thread(target=_end_with_input, args=[server], daemon=True).start()
        server.run(sockets=[listening])


if __name__ == "__main__":
    main()
