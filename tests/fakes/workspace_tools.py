"""The Workspace worker's tools for one task, and what they told the person."""

import threading
from typing import Any
from zoneinfo import ZoneInfo

from tests.fakes.workspace import OWNER, Workspace
from workers.workspace.google import Google, credentials_of
from workers.workspace.texts import Language
from workers.workspace.tools import Toolbox

ZONE = ZoneInfo("Asia/Tokyo")
EVERYTHING = frozenset({"mail", "calendar", "docs"})


class Bench:
    """A desk, and what it told the person."""

    def __init__(self, workspace: Workspace, *, may_write: frozenset[str] = EVERYTHING, endpoint: str = "") -> None:
        self.told: list[str] = []
        self.cancelled = threading.Event()
        self.desk = Toolbox(
            Google(
                credentials_of(user=OWNER, account=""),
                endpoint=endpoint or workspace.server.url,
                seconds=5,
                most_bytes=100_000,
                first_wait_seconds=0.01,
            ),
            task_id="task-1",
            language=Language.EN,
            zone=ZONE,
            may_write=may_write,
            report=self.told.append,
            cancelled=self.cancelled,
        )
        self.tools = {tool.__name__: tool for tool in self.desk.tools}

    def use(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Return what the tool answers."""
        return self.tools[name](**arguments)
