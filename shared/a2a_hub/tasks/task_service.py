"""The task service of an agent: the only place where the parts that keep its tasks are wired."""

import time

from a2a_hub.a2a.agent import Agent, Canceller
from a2a_hub.a2a.reply import MessageFactory
from a2a_hub.queue.wakeups import Wakeups
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
from a2a_hub.tasks.task_resolution import AlwaysResume, NewTaskPolicy
from a2a_hub.tasks.text_only import UiTexts
from a2a_hub.tasks.webhook_address import WebhookAddresses
from a2a_hub.telemetry.log import Log


class StoredTasks:
    """The tasks in `store` and the runs of this process: everything that starts no turn.

    `operations` answers callers. `canceller` passes their cancellations on.
    """

    def __init__(
        self, store: Store, canceller: Canceller, *, message_factory: MessageFactory, settings: TaskSettings
    ) -> None:
        self.store = store
        self.threads = Threads("task")
        self.runs = Runs(canceller, threads=self.threads, timestamp=message_factory.timestamp)
        self.configs = PushConfigs(
            store, addresses=WebhookAddresses(settings.webhook_hosts), new_id=message_factory.new_id
        )
        self.operations = TaskOperations(
            store, self.configs, canceller, runs=self.runs, timestamp=message_factory.timestamp
        )


class TaskService:
    """All operations on tasks: `sending` and `operations` answer callers, `runner` answers the `tasks` function.

    `new_task_policy` names the messages that start a new task instead of resuming the idle one; without it, there are none.
    """

    def __init__(
        self,
        agent: Agent,
        stored: StoredTasks,
        *,
        log: Log,
        message_factory: MessageFactory,
        texts: UiTexts,
        wakeups: Wakeups,
        settings: TaskSettings,
        new_task_policy: NewTaskPolicy | None = None,
    ) -> None:
        store, runs = stored.store, stored.runs
        self.store = store
        self.operations = stored.operations
        recorder = Recorder(
            store, log=log, times=settings.lease_times, message_factory=message_factory, clock=time.monotonic
        )
        storing = Storing(store, stored.configs, recorder, threads=stored.threads, new_id=message_factory.new_id)
        starter = Starter(
            store,
            storing,
            runs,
            lease_seconds=settings.lease_times.seconds,
            new_id=message_factory.new_id,
            wakeups=wakeups,
            runs_at_once=settings.runs_at_once,
        )
        opener = Opener(
            agent,
            store,
            stored.configs,
            message_factory=message_factory,
            new_task_policy=new_task_policy or AlwaysResume(),
        )
        self.sending = Sending(
            opener,
            starter,
            storing,
            store,
            wait_limits=settings.wait_limits,
            texts=texts,
            message_factory=message_factory,
        )
        self.runner = Runner(agent, store, runs=runs, recorder=recorder, most_attempts=settings.most_attempts)
