"""What a worker is written against: `Client.run` calls its function for each task, and reports what it returns or raises.

docs/workers.md says what it talks to.
"""

import contextlib
import logging
import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from workers.lease import Lease
from workers.tasks_function import Credential, Refused, TasksFunction

_BROKE_OFF = "The work on this task broke off. / このタスクの処理は中断しました。"
_NOT_OURS = ("LEASE_LOST", "TASK_ENDED", "WRONG_VERSION")
_log = logging.getLogger("worker")


class Failed(Exception):
    """Raised by the work: the task has failed, and the user reads this text."""


class Question(Exception):
    """Raised by the work: the user is asked this text, and the task comes back with the answer in its history."""


class Work:
    """One task in this worker's hands. `cancelled` is set when there is no use in going on."""

    def __init__(self, leased: dict[str, Any], lease: Lease) -> None:
        self.task_id, self.attempt = leased["taskId"], leased["attempt"]
        self.text, self.history = leased["text"], leased["history"]
        self.cancelled, self._lease = lease.useless, lease

    def progress(self, text: str, artifact: dict[str, Any] | None = None, *, append: bool = False) -> None:
        """Tells the user how far it is, and gives them a part of the result: an artifact of A2A."""
        parts = [{"artifact": artifact, "append": append}] if artifact else []
        self._lease.write("progress", updates=[{"status": "in_progress", "text": text}, *parts])


class Client:
    """Works for the tasks function at `url`, on `roles`, or on all that the credential has."""

    def __init__(
        self,
        url: str,
        credential: Credential,
        *,
        roles: Sequence[str] = (),
        lease_seconds: int = 60,
        wait_seconds: int = 30,
    ) -> None:
        self._function = TasksFunction(url, credential)
        self._ask = {"roles": list(roles), "leaseSeconds": lease_seconds, "waitSeconds": wait_seconds}

    def run(self, do: Callable[[Work], str], *, stopping: threading.Event | None = None) -> None:
        """Does one task after the other until `stopping`. What `do` returns is the answer. Raises Refused."""
        stopping = stopping or threading.Event()
        failures = 0
        while not stopping.is_set():
            asked = time.monotonic()
            try:
                leased = self._function.post("/v1/tasks:lease", self._ask)
            except OSError as problem:
                _log.warning("no work to be had: %s", problem)
                failures = min(failures + 1, 6)
                stopping.wait(random.uniform(0.25, 0.5) * 2**failures)
                continue
            failures = 0
            if leased:
                self._work(leased, do)
            elif time.monotonic() - asked < 1:
                stopping.wait(random.uniform(1.0, 3.0))  # So many wait already that this one was not held.

    def _work(self, leased: dict[str, Any], do: Callable[[Work], str]) -> None:
        try:
            with Lease(self._function, leased) as lease:
                work = Work(leased, lease)
                verb, fields = _outcome(work, lease, do)
                if not lease.useless.is_set():
                    _report(work, lease, verb, fields)
        except (OSError, Refused) as problem:
            _log.warning("task %s is given up: %s", leased["taskId"], problem)


def _outcome(work: Work, lease: Lease, do: Callable[[Work], str]) -> tuple[str, dict[str, str]]:
    try:
        text = do(work)
        if not isinstance(text, str) or not text:
            raise TypeError("the work has to return a text that is not empty")
        return "complete", {"text": text}
    except Question as question:
        return "requireInput", {"text": str(question)}
    except Failed as failed:
        return "fail", {"reason": str(failed)}
    except Exception as problem:
        if isinstance(problem, Refused) and problem.reason in _NOT_OURS:
            raise
        _log.exception("the work on task %s failed", work.task_id)
        return "fail", {"reason": _BROKE_OFF}
    except BaseException:
        # This program is being ended: the next worker need not wait for the lease to run out.
        with contextlib.suppress(OSError, Refused):
            lease.write("release")
        raise


def _report(work: Work, lease: Lease, verb: str, fields: dict[str, str]) -> None:
    try:
        lease.write(verb, **fields)
    except Refused as refused:
        if refused.reason in _NOT_OURS:
            raise
        # Done again, it would be refused again.
        _log.error("what the work on task %s came to was not taken: %s", work.task_id, refused)
        lease.write("fail", reason=_BROKE_OFF)
