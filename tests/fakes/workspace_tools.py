"""The Workspace worker's tools for one task, and what they told the person."""

import threading
from typing import Any
from zoneinfo import ZoneInfo

from tests.fakes.workspace import OWNER, Workspace
from workers.client import Work
from workers.workspace.google import Google, credentials_of
from workers.workspace.settings import read
from workers.workspace.texts import Language
from workers.workspace.tools import Toolbox

ZONE = ZoneInfo("Asia/Tokyo")
EVERYTHING = frozenset({"mail", "calendar", "docs"})


class Bench:
    """A desk, the lease on its task, and what it told the person."""

    def __init__(self, workspace: Workspace, *, may_write: frozenset[str] = EVERYTHING, endpoint: str = "") -> None:
        self.told: list[str] = []
        self.abandoned = threading.Event()
        google = Google(
            credentials_of(user=OWNER, account=""),
            endpoint=endpoint or workspace.server.url,
            seconds=5,
            max_bytes=100_000,
            first_wait_seconds=0.01,
        )
        options = ["--model=gemini", f"--time-zone={ZONE.key}", *(f"--may-write={kind}" for kind in may_write)]
        settings = read(options, {"GOOGLE_CLOUD_PROJECT": "my-hub-project"})
        leased = {"taskId": "task-1", "attempt": 1, "text": "", "history": []}
        self.desk = Toolbox(google, Work(leased, self), settings, Language.EN)  # type: ignore[arg-type]
        self.tools = {tool.__name__: tool for tool in self.desk.tools}

    def write(self, _: str, *, updates: list[dict[str, str]]) -> None:
        """Take a report, as a lease does."""
        self.told.append(updates[0]["text"])

    def use(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Return what the tool answers."""
        return self.tools[name](**arguments)
