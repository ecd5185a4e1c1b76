"""Choose and open the transport of wake-ups: `WAKEUPS` is `none`, `local:URL,…`, or `pubsub` (or `pubsub:PREFIX`)."""

import re
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from msgspec import Struct

from a2a_hub.http.client import HttpClient
from a2a_hub.queue.local import LocalWakeups
from a2a_hub.queue.pubsub import PubsubWakeups
from a2a_hub.queue.wakeups import NoWakeups, Wakeups
from a2a_hub.settings.reader import Settings

_NAME = "WAKEUPS"
# The prefix of a topic's name (cloud.google.com/pubsub/docs/pubsub-basics#resource_names).
_PREFIX = re.compile(r"(?!goog)[A-Za-z][A-Za-z0-9._~-]{0,99}|")


class WakeupSettings(Struct, frozen=True, kw_only=True):
    """The transport: subscribers on this machine, or the topics of a project whose names start with `prefix`."""

    subscribers: tuple[str, ...] = ()
    project: str = ""
    prefix: str = ""


def read(settings: Settings) -> WakeupSettings | None:
    """Read the settings; None means no wake-ups, so that only sweeps find tasks."""
    kind, _, rest = settings.text(_NAME, "none").partition(":")
    match kind:
        case "none" if not rest:
            return None
        case "local" if rest:
            subscribers = tuple(url.strip() for url in rest.split(","))
            if not all(_usable(url) for url in subscribers):
                settings.problem(_NAME, "must name addresses after local:, such as local:http://127.0.0.1:8090/wakeups")
            return WakeupSettings(subscribers=subscribers)
        case "pubsub" if _PREFIX.fullmatch(rest):
            project = settings.optional("GOOGLE_CLOUD_PROJECT")
            if project is None:
                settings.problem("GOOGLE_CLOUD_PROJECT", f"must name the project of the topics: {_NAME} is pubsub")
            return WakeupSettings(project=project or "", prefix=rest)
        case _:
            settings.problem(_NAME, "must be none, local:URL, pubsub, or pubsub:PREFIX")
            return None


def _usable(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def open_wakeups(
    settings: WakeupSettings | None,
    *,
    http: HttpClient,
    headers: Callable[[], Mapping[str, str]],
    failed: Callable[[str], object],
) -> Wakeups:
    """Open the transport. `headers` authenticate the caller to local subscribers; `failed` gets a sentence for the log."""
    if settings is None:
        return NoWakeups()
    if settings.subscribers:
        return LocalWakeups(settings.subscribers, http=http, headers=headers, failed=failed)
    return PubsubWakeups(project=settings.project, prefix=settings.prefix, failed=failed)
