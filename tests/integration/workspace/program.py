"""Runs in the Workspace worker's own environment: one turn of a task for each line that comes in."""

import json
import sys
import threading
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from workers.client import Failed, Question
from workers.workspace import settings
from workers.workspace.__main__ import worker


class Turn:
    """A task as the client gives it to a worker."""

    def __init__(self, task_id: str, text: str, history: list[dict[str, Any]], cancelled: bool) -> None:
        self.task_id, self.text, self.history = task_id, text, history
        self.told: list[str] = []
        self.cancelled = threading.Event()
        if cancelled:
            self.cancelled.set()

    def progress(self, text: str) -> None:
        """Keeps it."""
        self.told.append(text)


def _outcome(arguments: list[str], environ: dict[str, str], turn: Turn) -> dict[str, Any]:
    do = worker(settings.read(arguments, environ), now=_now)
    try:
        return {"answer": do(turn)}  # type: ignore[arg-type]
    except Question as question:
        return {"question": str(question)}
    except Failed as failed:
        return {"failed": str(failed)}


def _now(zone: ZoneInfo) -> datetime:
    return datetime(2026, 11, 23, 9, 0, tzinfo=zone)


for line in sys.stdin:
    asked = json.loads(line)
    turn = Turn(asked["taskId"], asked["text"], asked["history"], asked["cancelled"])
    outcome = _outcome(asked["arguments"], asked["environ"], turn)
    print(json.dumps(outcome | {"told": turn.told}), flush=True)  # noqa: T201
