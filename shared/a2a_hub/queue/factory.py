"""Makes the wake-ups that the settings name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from a2a_hub.http.client import HttpClient
from a2a_hub.queue.settings import WakeupSettings
from a2a_hub.queue.wakeups import NoWakeups, Wakeups


def open_wakeups(
    settings: WakeupSettings | None,
    *,
    http: HttpClient,
    headers: Callable[[], Mapping[str, str]],
    failed: Callable[[str], object],
) -> Wakeups:
    """`headers` prove to subscribers on this machine who calls; `failed` gets a sentence for the log."""
    if settings is None:
        return NoWakeups()
    if settings.subscribers:
        from a2a_hub.queue.local import LocalWakeups

        return LocalWakeups(settings.subscribers, http=http, headers=headers, failed=failed)
    from a2a_hub.queue.pubsub import PubsubWakeups

    return PubsubWakeups(project=settings.project, prefix=settings.prefix, failed=failed)
