"""The parts that the turns of one agent share, where its tasks are kept."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from a2a_hub.a2a.agent import Agent
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import SendMessageRequest
from a2a_hub.a2a.reply import MessageFactory
from a2a_hub.queue.wakeups import Wakeups
from a2a_hub.quota.quotas import TaskQuota
from a2a_hub.runtime.scheduler import Scheduler
from a2a_hub.runtime.threads import Threads
from a2a_hub.task_store.store import TaskStore
from a2a_hub.tasks.push_configs import PushConfigs
from a2a_hub.tasks.settings import TaskSettings
from a2a_hub.tasks.subscription import OpenStreams
from a2a_hub.tasks.text_only import UiTexts
from a2a_hub.telemetry.log import Log


class NewTaskPolicy(Protocol):
    """The decision between resuming a context's idle task (input-required without a question) and starting a new one."""

    def starts_new_task(self, request: SendMessageRequest, call: Call, notes: Mapping[str, Any]) -> bool:
        """Return True if this starts a new task instead of resuming the idle one, which has these notes."""


@dataclass(frozen=True, kw_only=True)
class TaskParts:
    """The parts. `texts` is what a person reads, `scheduler` is for work on the store; `now` returns seconds since the epoch."""

    agent: Agent
    store: TaskStore
    configs: PushConfigs
    streams: OpenStreams
    threads: Threads
    scheduler: Scheduler
    wakeups: Wakeups
    texts: UiTexts
    log: Log
    message_factory: MessageFactory
    settings: TaskSettings
    new_task_policy: NewTaskPolicy | None = None
    quota: TaskQuota | None = None
    now: Callable[[], float] = time.time
