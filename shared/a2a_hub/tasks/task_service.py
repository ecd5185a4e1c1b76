"""The task service of an agent: the only place where the parts that keep its tasks are wired."""

from a2a_hub.a2a.agent import Agent
from a2a_hub.a2a.reply import MessageFactory
from a2a_hub.queue.wakeups import Wakeups
from a2a_hub.quota.task_quota import TaskQuota
from a2a_hub.runtime.scheduler import Scheduler
from a2a_hub.tasks.engine import TurnEngine
from a2a_hub.tasks.operations import TaskOperations
from a2a_hub.tasks.parts import NewTaskPolicy, TaskParts
from a2a_hub.tasks.settings import TaskSettings
from a2a_hub.tasks.text_only import UiTexts
from a2a_hub.telemetry.log import Log

_MOST_STORE_THREADS = 16


class TaskService:
    """All operations on tasks: `engine` starts turns, for callers and for the `tasks` function; `operations` answers callers.

    `new_task_policy` names the messages that start a new task instead of resuming the idle one; without it, there are none.
    """

    def __init__(
        self,
        agent: Agent,
        operations: TaskOperations,
        *,
        log: Log,
        message_factory: MessageFactory,
        texts: UiTexts,
        wakeups: Wakeups,
        settings: TaskSettings,
        new_task_policy: NewTaskPolicy | None = None,
        quota: TaskQuota | None = None,
    ) -> None:
        self.store = operations.store
        self.operations = operations
        parts = TaskParts(
            agent=agent,
            store=self.store,
            configs=operations.configs,
            streams=operations.streams,
            threads=operations.threads,
            scheduler=Scheduler("task store", most_threads=_MOST_STORE_THREADS),
            wakeups=wakeups,
            texts=texts,
            log=log,
            message_factory=message_factory,
            settings=settings,
            new_task_policy=new_task_policy,
            quota=quota,
        )
        self.sending = self.engine = TurnEngine(parts, operations.turns)
