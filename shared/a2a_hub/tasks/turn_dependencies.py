"""The dependencies that all turns of an agent with a task store share."""

from collections.abc import Callable

from msgspec import Struct

from a2a_hub.a2a.agent import Agent
from a2a_hub.queue.wakeups import Wakeups
from a2a_hub.quota.quotas import TaskQuota
from a2a_hub.runtime.scheduler import Scheduler
from a2a_hub.runtime.threads import Threads
from a2a_hub.task_store.store import TaskStore
from a2a_hub.tasks.display import Display
from a2a_hub.tasks.push_configs import PushConfigs
from a2a_hub.tasks.settings import TaskSettings
from a2a_hub.tasks.subscription import OpenStreams
from a2a_hub.tasks.text_only import UiTexts
from a2a_hub.telemetry.log import Log


class TurnDependencies(Struct, frozen=True, kw_only=True):
    """The dependencies of a turn. `texts` are shown to people, `display` filters what user interfaces show, `scheduler` runs
    work on the store, and `now` returns seconds since the epoch.
    """

    now: Callable[[], float]
    new_id: Callable[[], str]
    agent: Agent
    store: TaskStore
    configs: PushConfigs
    streams: OpenStreams
    threads: Threads
    scheduler: Scheduler
    wakeups: Wakeups
    texts: UiTexts
    display: Display
    log: Log
    settings: TaskSettings
    quota: TaskQuota | None = None
