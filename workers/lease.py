"""A lease on one task: renewed while the work goes on, and what is written under it is taken once."""

import random
import threading
import time
from typing import Any, Self

from workers.tasks_function import Refused, TasksFunction


class Lease:
    """The right to write to a task. `useless` is set when the task is this worker's no more, or nobody wants the result."""

    def __init__(self, function: TasksFunction, leased: dict[str, Any]) -> None:
        self.useless, self._finished = threading.Event(), threading.Event()
        self._function, self._lease, self._path = function, leased["lease"], f"/v1/tasks/{leased['taskId']}"
        self._seconds, self._version = leased["leaseSeconds"], leased["version"]
        self._until = time.monotonic() + self._seconds
        self._writing = threading.Lock()

    def __enter__(self) -> Self:
        threading.Thread(target=self._keep, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._finished.set()

    def write(self, verb: str, **fields: Any) -> None:
        """Sends a write until it is taken, once. Raises Refused when the task is this worker's no more, or OSError."""
        with self._writing:
            sent_before = False
            while True:
                try:
                    self._version = self._post(verb, version=self._version, **fields)
                    return
                except Refused as refused:
                    if not sent_before or refused.reason not in ("WRONG_VERSION", "TASK_ENDED"):
                        raise
                    # Not the write was lost, but the answer to it.
                    self._version = None
                    return
                except OSError:
                    sent_before = True
                    if time.monotonic() > self._until:
                        raise
                    time.sleep(random.uniform(0.2, 1.0))

    def _keep(self) -> None:
        """Renews at a third of the lease's length until the work is finished, or there is no use in it."""
        pause = self._seconds / 3
        while not self._finished.wait(pause) and not self.useless.is_set():
            started, pause = time.monotonic(), self._seconds / 3
            try:
                self._post("renew", leaseSeconds=self._seconds)
                self._until = started + self._seconds
            except Refused:
                self.useless.set()
            except OSError:
                pause = min(1.0, pause)
                if time.monotonic() > self._until:
                    self.useless.set()

    def _post(self, verb: str, **fields: Any) -> int:
        answer = self._function.post(f"{self._path}:{verb}", {"lease": self._lease, **fields})
        if answer["cancelRequested"]:
            self.useless.set()
        return int(answer["version"])
