"""All operations of an agent that keeps tasks, put together from their parts."""

from __future__ import annotations

import time
from collections.abc import Callable

from a2a_hub.a2a.agent import Agent
from a2a_hub.a2a.reply import MessageFactory
from a2a_hub.runtime.threads import Threads
from a2a_hub.task_store.store import Store
from a2a_hub.tasks.opener import Opener
from a2a_hub.tasks.operations import TaskOperations
from a2a_hub.tasks.push_configs import PushConfigs
from a2a_hub.tasks.recorder import Recorder
from a2a_hub.tasks.run import Runs
from a2a_hub.tasks.runner import Runner
from a2a_hub.tasks.sending import Sending
from a2a_hub.tasks.settings import TaskSettings
from a2a_hub.tasks.starting import Starter
from a2a_hub.tasks.storing import Storing
from a2a_hub.tasks.task_resolution import Leaves
from a2a_hub.tasks.text_only import UiTexts
from a2a_hub.tasks.webhook_address import webhook_refusal
from a2a_hub.telemetry.log import Log


class TaskService:
    """`sending` and `operations` answer callers, `runner` the `tasks` function. `store` is where tasks are.

    `starts_new_task` tells which messages do not resume the idle task of their context. Most agents have none.
    """

    def __init__(
        self,
        agent: Agent,
        store: Store,
        *,
        log: Log,
        message_factory: MessageFactory,
        texts: UiTexts,
        wake: Callable[[str, str], None],
        settings: TaskSettings,
        starts_new_task: Leaves = lambda _request, _call, _notes: False,
    ) -> None:
        self.store = store
        threads = Threads("task")
        runs = Runs(agent, threads=threads, timestamp=message_factory.timestamp)
        configs = PushConfigs(
            store, refuses=webhook_refusal(settings.webhook_hosts), new_id=message_factory.new_id
        )
        recorder = Recorder(
            store, log=log, times=settings.lease_times, message_factory=message_factory, clock=time.monotonic
        )
        storing = Storing(store, configs, recorder, threads=threads, new_id=message_factory.new_id)
        starter = Starter(
            store,
            storing,
            runs,
            lease_seconds=settings.lease_times.seconds,
            new_id=message_factory.new_id,
            wake=wake,
            runs_at_once=settings.runs_at_once,
        )
        opener = Opener(
            agent, store, configs, message_factory=message_factory, starts_new_task=starts_new_task
        )
        self.sending = Sending(
            opener,
            starter,
            storing,
            store,
            patience=settings.patience,
            texts=texts,
            message_factory=message_factory,
        )
        self.operations = TaskOperations(
            store, configs, agent, runs=runs, timestamp=message_factory.timestamp
        )
        self.runner = Runner(agent, store, runs=runs, recorder=recorder, most_attempts=settings.most_attempts)
