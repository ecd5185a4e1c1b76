"""Wake-ups of roles over the Hedera Consensus Service: a public topic for each role, with ids and hashes (docs/hedera.md)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import importlib.util
import re
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from a2a_hub.http.client import HttpClient, HttpFailure, fetch
from a2a_hub.queue.wakeups import TaskEvent, Wakeups, topic_of
from a2a_hub.runtime.scheduler import Scheduler
from a2a_hub.settings.reader import Settings

if TYPE_CHECKING:
    from hiero_sdk_python import Client

_MIRRORS = {"mainnet": "mainnet-public", "testnet": "testnet", "previewnet": "previewnet"}
_ID = r"\d{1,9}\.\d{1,9}\.\d{1,18}"
_SECONDS, _ATTEMPTS = 15.0, 6
_MAX_WAITING = 200
_MIRROR_SECONDS = 5.0
_WAKING = {TaskEvent.AVAILABLE, TaskEvent.CANCELLED}


class HcsSettings(Struct, frozen=True, kw_only=True):
    """The account that pays, the nodes (none: those of the network), the mirror node, and the ids of the topics by name."""

    operator: str
    key: str
    network: str
    nodes: Mapping[str, str]
    mirror_url: str
    poll_seconds: float
    topics: Mapping[str, str]

    def __repr__(self) -> str:
        return f"HcsSettings(operator={self.operator!r}, topics={self.topics!r})"


class _Row(Struct, frozen=True):
    sequence_number: int
    message: str


class _Page(Struct, frozen=True):
    messages: list[_Row]


def read(settings: Settings) -> HcsSettings:
    """Read the settings that `WAKEUPS=hcs` needs."""
    if importlib.util.find_spec("hiero_sdk_python") is None:
        settings.problem("WAKEUPS", "is hcs, whose packages are not installed: requirements/hcs.txt names them")
    network = settings.text("HCS_NETWORK", "testnet")
    mirror = f"https://{_MIRRORS[network]}.mirrornode.hedera.com" if network in _MIRRORS else None
    networks = f"{', '.join(_MIRRORS)}, or a list of HOST:PORT=0.0.3"
    nodes = [] if mirror else _found(settings, "HCS_NETWORK", rf"([\w.-]+:\d{{1,5}})=({_ID})", networks)
    topics = _found(settings, "HCS_TOPICS", rf"([a-z][a-z0-9-]*)=({_ID})", "a list of ROLE=0.0.1234")
    operator = _found(settings, "HCS_OPERATOR", _ID, "the account that pays, such as 0.0.1234")
    key = _found(settings, "HCS_OPERATOR_KEY", "30[0-9a-fA-F]{60,400}", "its private key: DER, in hexadecimal digits")
    return HcsSettings(
        operator="".join(each[0] for each in operator),
        key="".join(each[0] for each in key),
        network=network,
        nodes={each[1]: each[2] for each in nodes},
        mirror_url=settings.url("HCS_MIRROR_URL", mirror),
        poll_seconds=settings.number("HCS_POLL_SECONDS", 2, minimum=0.02, maximum=600),
        topics={topic_of(each[1]): each[2] for each in topics},
    )


def _found(settings: Settings, name: str, form: str, expected: str) -> list[re.Match[str]]:
    found = [re.fullmatch(form, each) for each in settings.listed(name)]
    if not found or not all(found):
        settings.problem(name, f"must be {expected}")
    return [each for each in found if each]


class HcsWakeups(Wakeups):
    """An implementation of Wakeups. A thread submits the messages in order, so that no task waits for the network; what that does
    not take is logged and lost. `others` wakes as well, also for the topics and times that have no message.
    """

    def __init__(self, settings: HcsSettings, *, others: Wakeups, failed: Callable[[str], object]) -> None:
        """`failed` gets a sentence for the log. The SDK is imported on first use."""
        self._settings = settings
        self._others = others
        self._failed = failed
        self._thread = Scheduler("hcs", max_threads=1)
        self._places = threading.BoundedSemaphore(_MAX_WAITING)
        self._client: Client | None = None
        self._known: set[str] = set()

    def publish(self, topic: str, task_id: str, *, due_at: float | None = None) -> None:
        """Submit `task.available` soon, unless it has a time."""
        self._others.publish(topic, task_id, due_at=due_at)
        if due_at is None:
            self.record(TaskEvent.AVAILABLE, topic, task_id)

    def record(self, event: TaskEvent, topic: str, task_id: str, content: Callable[[], bytes] | None = None) -> None:
        """Submit the event soon, with the hash of the content."""
        topic_id = self._settings.topics.get(topic)
        if topic_id is None:
            return
        message = {"type": event, "taskId": task_id}
        if content:
            message["hash"] = content_hash(self._settings.key, task_id, content())
        if self._places.acquire(blocking=False):
            self._thread.run(lambda: self._submit(topic_id, message))
        else:
            self._failed(f"{event} was not submitted: {_MAX_WAITING} messages wait for the Hedera network")

    def close(self) -> None:
        """Close the connections of `others`; those of the SDK end with the process."""
        self._others.close()

    def _submit(self, topic_id: str, message: dict[str, str]) -> None:
        try:
            from hiero_sdk_python import TopicId, TopicMessageSubmitTransaction

            topic = TopicId.from_string(topic_id)
            transaction = TopicMessageSubmitTransaction(topic, msgspec.json.encode(message))
            # The first one with its receipt, some seconds later: only consensus tells of a wrong topic.
            is_first = topic_id not in self._known
            transaction.execute(self._opened(), timeout=_SECONDS, wait_for_receipt=is_first, validate_status=is_first)
            self._known.add(topic_id)
        except Exception as error:  # The SDK's errors have no base of their own, and their texts may hold the key.
            # The client would avoid the nodes that failed, in the end for an hour.
            self._client = None
            self._failed(f"{message['type']} was not submitted to the topic {topic_id}: {type(error).__name__}")
        finally:
            self._places.release()

    def _opened(self) -> Client:
        from hiero_sdk_python import AccountId, Client, Network, PrivateKey
        from hiero_sdk_python.logger.log_level import LogLevel

        if self._client is None:
            nodes = {address: AccountId.from_string(account) for address, account in self._settings.nodes.items()}
            client = Client.for_network(nodes) if nodes else Client(Network(self._settings.network))
            key = PrivateKey.from_string_der(self._settings.key)
            client.set_operator(AccountId.from_string(self._settings.operator), key).set_max_attempts(_ATTEMPTS)
            client.logger.set_level(LogLevel.DISABLED)
            self._client = client
        return self._client


class MirrorTopics:
    """The topics of the roles. Any new message wakes its topic; the store decides if there is work."""

    def __init__(self, settings: HcsSettings, *, http: HttpClient, notify: Callable[[str], object]) -> None:
        self._settings = settings
        self._http = http
        self._notify = notify
        self._read: dict[str, int] = {}

    def poll(self) -> None:
        """Read a page of each topic, at first only its end. Then raise HttpFailure or ValueError if the mirror node failed."""
        failure: Exception | None = None
        for topic, topic_id in self._settings.topics.items():
            try:
                before = self._read.get(topic)
                query = "order=desc&limit=1" if before is None else f"sequencenumber=gt:{before}&order=asc&limit=100"
                rows = [row for row in self._rows(topic_id, query) if row.sequence_number > (before or 0)]
            except (HttpFailure, ValueError) as error:
                failure = error
                continue
            self._read[topic] = max((row.sequence_number for row in rows), default=before or 0)
            if before is not None and any(map(_wakes, rows)):
                self._notify(topic)
        if failure:
            raise failure

    def _rows(self, topic_id: str, query: str) -> list[_Row]:
        url = f"{self._settings.mirror_url}/api/v1/topics/{topic_id}/messages?{query}"
        answer, body = fetch(self._http, "GET", url, headers={}, seconds=_MIRROR_SECONDS)
        if answer.status != 200:
            raise ValueError(f"the mirror node answered {answer.status} for the topic {topic_id}")
        return msgspec.json.decode(body, type=_Page).messages


def _wakes(row: _Row) -> bool:
    try:
        return msgspec.json.decode(base64.b64decode(row.message), type=dict[str, str]).get("type") in _WAKING
    except (ValueError, RecursionError):
        return False


def content_hash(key: str, task_id: str, content: bytes) -> str:
    """Return the SHA-256 of a salt, which only the key tells, and the content: short texts cannot be guessed from it."""
    return hashlib.sha256(hmac.digest(key.encode(), task_id.encode(), "sha256") + content).hexdigest()
