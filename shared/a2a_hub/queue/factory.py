"""Choose and open the transport of wake-ups: `WAKEUPS` is `none`, `local:URL,…`, `pubsub` (or `pubsub:PREFIX`), or `hcs`,
which may stand before one of the others: `hcs,pubsub`.

With `pubsub`, those with a time go through the queue of Cloud Tasks that `WAKEUP_QUEUE` names.
"""

import re
from collections.abc import Callable, Mapping

import msgspec
from msgspec import Struct

from a2a_hub.http.client import HttpClient
from a2a_hub.identity.service_tokens import ServiceTokens
from a2a_hub.queue import hcs
from a2a_hub.queue.hcs import HcsSettings
from a2a_hub.queue.local import LocalWakeups
from a2a_hub.queue.pubsub import CLOUD_TASKS_ENDPOINT, CloudTasksQueue, PubsubWakeups, QueueSettings
from a2a_hub.queue.wakeups import NoWakeups, Wakeups
from a2a_hub.settings.reader import Settings, is_http_url

_NAME = "WAKEUPS"
# The prefix of a topic's name (cloud.google.com/pubsub/docs/pubsub-basics#resource_names).
_PREFIX = re.compile(r"(?!goog)[A-Za-z][A-Za-z0-9._~-]{0,99}|")
_QUEUE = re.compile(r"projects/[^/]+/locations/[^/]+/queues/[A-Za-z0-9-]{1,100}")


class WakeupSettings(Struct, frozen=True, kw_only=True):
    """The transport: subscribers on this machine, or the topics of a project whose names start with `prefix`, and a queue."""

    subscribers: tuple[str, ...] = ()
    project: str = ""
    prefix: str = ""
    queue: QueueSettings | None = None
    hcs: HcsSettings | None = None

    @property
    def wakes_hub(self) -> bool:
        """True if the hub's own tasks are woken for too, and not only those of roles."""
        return bool(self.subscribers or self.project)


def read(settings: Settings) -> WakeupSettings | None:
    """Read the settings; None means no wake-ups, so that only sweeps find tasks."""
    text = settings.text(_NAME, "none")
    first, _, others = text.partition(",")
    if first == "hcs":
        return msgspec.structs.replace(_read(settings, others or "none") or WakeupSettings(), hcs=hcs.read(settings))
    return _read(settings, text)


def _read(settings: Settings, text: str) -> WakeupSettings | None:
    kind, _, rest = text.partition(":")
    queue = _queue(settings)
    match kind:
        case "none" if not rest:
            return None
        case "local" if rest:
            subscribers = tuple(url.strip() for url in rest.split(","))
            if not all(is_http_url(url) for url in subscribers):
                settings.problem(_NAME, "must name addresses after local:, such as local:http://127.0.0.1:8090/wakeups")
            return WakeupSettings(subscribers=subscribers)
        case "pubsub" if _PREFIX.fullmatch(rest):
            project = settings.optional("GOOGLE_CLOUD_PROJECT")
            if project is None:
                settings.problem("GOOGLE_CLOUD_PROJECT", f"must name the project of the topics: {_NAME} is pubsub")
            return WakeupSettings(project=project or "", prefix=rest, queue=queue)
        case _:
            settings.problem(_NAME, "must be none, local:URL, pubsub, pubsub:PREFIX, hcs, or hcs,ONE OF THESE")
            return None


def _queue(settings: Settings) -> QueueSettings | None:
    name, account = settings.optional("WAKEUP_QUEUE"), next(iter(settings.listed("WAKEUP_ACCOUNTS")), None)
    endpoint = settings.url("CLOUD_TASKS_ENDPOINT", CLOUD_TASKS_ENDPOINT)
    if name is None:
        return None
    if not _QUEUE.fullmatch(name):
        settings.problem("WAKEUP_QUEUE", "must be projects/PROJECT/locations/REGION/queues/NAME")
    if account is None:
        settings.problem("WAKEUP_ACCOUNTS", "must name the account as which WAKEUP_QUEUE calls `tasks`")
    return QueueSettings(name=name, url=settings.url("TASKS_URL", None), account=account or "", endpoint=endpoint)


def open_wakeups(
    settings: WakeupSettings | None,
    *,
    http: HttpClient,
    headers: Callable[[bytes], Mapping[str, str]],
    failed: Callable[[str], object],
    tokens: ServiceTokens | None,
) -> Wakeups:
    """Open the transport. `headers`, made from a body, authenticate the caller to local subscribers, and `tokens` to Cloud Tasks;
    `failed` gets a sentence for the log.
    """
    if settings is not None and settings.hcs is not None:
        others = msgspec.structs.replace(settings, hcs=None)
        opened = open_wakeups(others, http=http, headers=headers, failed=failed, tokens=tokens)
        return hcs.HcsWakeups(settings.hcs, others=opened, failed=failed)
    if settings is None or not settings.wakes_hub:
        return NoWakeups()
    if settings.subscribers:
        return LocalWakeups(settings.subscribers, http=http, headers=headers, failed=failed)
    queue = (
        CloudTasksQueue(settings.queue, http=http, tokens=tokens, failed=failed) if settings.queue and tokens else None
    )
    return PubsubWakeups(project=settings.project, prefix=settings.prefix, failed=failed, queue=queue)
