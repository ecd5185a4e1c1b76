"""All operations of an agent that keeps tasks, put together from their parts."""

from __future__ import annotations

import time
from collections.abc import Callable

from shared.a2a.agent import Agent
from shared.a2a.reply import Mint
from shared.log import Log
from shared.task_store.opening import Store
from shared.tasks.configs import PushConfigs
from shared.tasks.in_hand import Leaves
from shared.tasks.opener import Opener
from shared.tasks.operations import TaskOperations
from shared.tasks.recorder import Recorder
from shared.tasks.run import Runs
from shared.tasks.runner import Runner
from shared.tasks.sending import Sending
from shared.tasks.settings import TaskSettings
from shared.tasks.starting import Starter
from shared.tasks.storing import Storing
from shared.tasks.ui import UiTexts
from shared.tasks.webhook_address import webhook_refusal
from shared.threads import Threads


class KeptTasks:
    """`sending` and `operations` answer callers, `runner` the `tasks` function. `store` is where tasks are.

    `leaves` says which messages are none for a task that waits in their context without asking; for most agents, there are none.
    """

    def __init__(
        self,
        agent: Agent,
        store: Store,
        *,
        log: Log,
        mint: Mint,
        texts: UiTexts,
        wake: Callable[[str, str], None],
        settings: TaskSettings,
        leaves: Leaves = lambda _request, _call, _notes: False,
    ) -> None:
        self.store = store
        threads = Threads("task")
        runs = Runs(agent, threads=threads, timestamp=mint.timestamp)
        configs = PushConfigs(store, refuses=webhook_refusal(settings.webhook_hosts), new_id=mint.new_id)
        recorder = Recorder(store, log=log, times=settings.lease_times, mint=mint, clock=time.monotonic)
        storing = Storing(store, configs, recorder, threads=threads, new_id=mint.new_id)
        starter = Starter(
            store,
            storing,
            runs,
            lease_seconds=settings.lease_times.seconds,
            new_id=mint.new_id,
            wake=wake,
            runs_at_once=settings.runs_at_once,
        )
        opener = Opener(agent, store, configs, mint=mint, leaves=leaves)
        self.sending = Sending(
            opener, starter, storing, store, patience=settings.patience, texts=texts, mint=mint
        )
        self.operations = TaskOperations(store, configs, agent, runs=runs, timestamp=mint.timestamp)
        self.runner = Runner(agent, store, runs=runs, recorder=recorder, most_attempts=settings.most_attempts)
