"""Route tables to test with: the shipped one, and small ones made of a few lines."""

from pathlib import Path

from a2a_hub.routing.parser import load, unset_variables
from a2a_hub.routing.router import Router
from a2a_hub.routing.routes import RouteTable

SHIPPED_FILE = Path(__file__).parent.parent.parent / "routes.toml"


def shipped_table() -> RouteTable:
    text = SHIPPED_FILE.read_text(encoding="utf-8")
    return load(text, variables=dict.fromkeys(unset_variables(text, {}), "https://agent.example"))


def route_text(id_: str, *lines: str, priority: int | None = None) -> str:
    """A [[routes]] table that holds, with `lines` added."""
    written = [
        "[[routes]]",
        f'id = "{id_}"',
        f'name = "{id_}"',
        f'description = "About {id_}."',
        'url = "https://agent.example"',
        'boundary = "public"',
        *([] if priority is None else [f"priority = {priority}"]),
        *lines,
    ]
    return "\n".join(written) + "\n"


DEFAULT = route_text("other", "default = true")


def router(*routes: str) -> Router:
    """A router over these routes and a default called `other`."""
    return Router(load("\n".join([*routes, DEFAULT]), variables={}))
