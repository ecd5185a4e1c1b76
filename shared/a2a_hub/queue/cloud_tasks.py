"""Wake-ups with a time through Google Cloud Tasks (its REST API, v2), posted to the `tasks` function."""

import base64
import hashlib
import math
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec
from msgspec import Struct

from a2a_hub.http.client import Budget, Http, HttpFailure
from a2a_hub.http.messages import JSON
from a2a_hub.identity.service_tokens import ServiceTokens, TokenUnavailable
from a2a_hub.queue.wakeups import WAKEUPS_PATH, Wakeup, push_body

ENDPOINT = "https://cloudtasks.googleapis.com"
_SECONDS = 5.0
_MOST_ANSWER_BYTES = 64_000
# Pub/Sub's longest acknowledgement deadline too: the receiver has the same time for either.
_DISPATCH_DEADLINE = "600s"
_EXISTS = 409


class QueueSettings(Struct, frozen=True, kw_only=True):
    """The queue `projects/…/locations/…/queues/…`, which posts to the function at `url` with an ID token of `account`."""

    name: str
    url: str
    account: str
    endpoint: str = ENDPOINT


class CloudTasksQueue(Struct, frozen=True):
    """A queue that delivers wake-ups at a time. Its name is the same for the same wake-up and second, so that it comes once."""

    settings: QueueSettings
    http: Http
    tokens: ServiceTokens
    failed: Callable[[str], object]
    """Gets a sentence for the log."""

    def add(self, wakeup: Wakeup, *, due_at: float) -> None:
        """Add the wake-up, delivered not before `due_at`, in seconds since the epoch. Raise nothing."""
        try:
            headers = {"authorization": f"Bearer {self.tokens.access_token()}", "content-type": JSON}
            answer = self.http.request(
                "POST",
                f"{self.settings.endpoint}/v2/{self.settings.name}/tasks",
                headers=headers,
                body=msgspec.json.encode({"task": self._task(wakeup, math.ceil(due_at))}),
                budget=Budget.within(_SECONDS, now=self.http.clock(), max_bytes=_MOST_ANSWER_BYTES),
            )
            answer.read()
        except (HttpFailure, TokenUnavailable) as failure:
            self.failed(f"a wake-up with a time was not queued: {type(failure).__name__}")
            return
        if answer.status >= 300 and answer.status != _EXISTS:
            self.failed(f"a wake-up with a time was refused by Cloud Tasks with status {answer.status}")

    def _task(self, wakeup: Wakeup, second: int) -> dict[str, object]:
        # Hashed: Cloud Tasks slows down for names that follow one another.
        name = hashlib.sha256(f"{wakeup.topic} {wakeup.task_id} {second}".encode()).hexdigest()[:32]
        url = self.settings.url
        return {
            "name": f"{self.settings.name}/tasks/{name}",
            "scheduleTime": datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "dispatchDeadline": _DISPATCH_DEADLINE,
            "httpRequest": {
                "url": url + WAKEUPS_PATH,
                "httpMethod": "POST",
                "headers": {"Content-Type": JSON},
                "body": base64.b64encode(push_body(wakeup, message_id=name)).decode(),
                "oidcToken": {"serviceAccountEmail": self.settings.account, "audience": url},
            },
        }
