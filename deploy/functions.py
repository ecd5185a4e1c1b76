"""The functions that are deployed, and who may invoke each: the one table that grants are made from."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any


class Invoker(StrEnum):
    """The holder of roles/run.invoker on a function: the service account of this name, unless it is one of the first three."""

    EVERYBODY = "everybody"
    GEMINI_ENTERPRISE = "gemini_enterprise"
    WORKERS = "workers"
    """Of deploy.toml: their accounts are their own."""
    GATEWAY = "gateway"
    GATE = "gate"
    HUB = "hub"
    TASKS = "tasks"
    WAKEUPS = "wakeups"
    """Pub/Sub, where it wakes functions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """An API that a function calls, and the role in its own project that lets it; empty: a role on less than that."""

    api: str
    role: str
    setting: str = ""
    """Only where one of the function's settings, written NAME=value, begins like this; empty: always."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function; its name is its folder and its entry point."""

    name: str
    invokers: tuple[Invoker, ...]
    direct_invokers: tuple[Invoker, ...] = ()
    """Without a gateway, if they are others then."""
    only_with_gateway: bool = False
    """True if it is not deployed without a gateway."""
    is_agent: bool = False
    """True if it may have its own project, account or region, or be deployed by others."""
    reads_routes: bool = False
    """True if it reads the route table, and so needs the public address and every agent's."""
    checks_callers: bool = False
    """True if it authenticates callers when it is the entry point."""
    container: str = ""
    """The folder of a container that speaks HTTP/2; empty: a bundle of Functions Framework."""
    signs_for: tuple[str, ...] = ()
    """The functions to which it sends the signed principal; it signs with a key of its own."""
    mounts_documents: bool = False
    """True if it answers from a bucket."""
    works_on_files: bool = False
    """True if it works on the files of a bucket and runs commands of its callers. It is deployed only where deploy.toml has a
    table for it, is kept away from the project of the hub, and keeps its tasks in a database of its own project.
    """
    serves_people: bool = False
    """True if people open it in a browser."""
    calls: tuple[str, ...] = ()
    """Functions whose addresses it gets, beside those of the route table."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """The variables that it always has."""
    needs: tuple[Need, ...] = ()
    only_with: str = ""
    """Deployed only where one of the hub's settings, written NAME=value, begins like this; empty: always."""
    takes_workers: bool = False
    """True if workers outside get their work from it."""
    publishes_wakeups: bool = False
    """True if it tells of work on tasks: through the topics, and the queue of those with a time."""
    writes_audit_log: bool = False
    """True if it writes an audit log of who asks, decides or changes something."""
    sends_telemetry: bool = True

    @property
    def is_optional(self) -> bool:
        """True if it is deployed only where deploy.toml has a table for it."""
        return self.works_on_files or self.serves_people or bool(self.container)

    @property
    def needs_public_url(self) -> bool:
        """True if it has the address that callers from outside reach."""
        return self.reads_routes or self.serves_people or bool(self.container)


@cache
def _tables() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@cache
def needs(name: str) -> tuple[Need, ...]:
    """Return the needs of one name."""
    return tuple(Need(**each) for each in _tables()["needs"][name])


def store() -> Need:
    """Return the need of a task store."""
    (need,) = needs("store")
    return need


@cache
def functions() -> Mapping[str, Function]:
    """Return the functions by their names, in the order of deployment."""
    return {name: _function(name, table) for name, table in _tables()["functions"].items()}


def _function(name: str, table: Mapping[str, Any]) -> Function:
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    values["needs"] = tuple(need for each in table.get("needs", ()) for need in needs(each))
    for key in ("invokers", "direct_invokers"):
        values[key] = tuple(map(Invoker, table.get(key, ())))
    return Function(name=name, **values)
