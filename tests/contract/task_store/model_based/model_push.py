"""The model's tasks, and the webhooks that they have."""

from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from a2a_hub.a2a.model import Event, Task, TaskState
from a2a_hub.task_store.store import Delivery, PushConfig, StoredTask, UnknownTask
from a2a_hub.task_store.task_log import event_bytes


@dataclass(kw_only=True)
class Config:
    """A webhook, and who sends to it until when."""

    delivery: Delivery
    claimed_until: float = 0.0


@dataclass(kw_only=True)
class ModelTask:
    """A task with everything of its; what follows from its log is worked out anew each time."""

    id: str
    owner: str
    number: int
    role: str
    payload: bytes
    request_key: str
    created_at: float
    updated_at: float
    settled_at: float = 0.0
    not_before: float = 0.0
    repeat_until: float = 0.0
    token: str = ""
    lease_until: float = 0.0
    attempt: int = 0
    cancel_requested: bool = False
    task: Task
    log: list[Event] = field(default_factory=list)
    configs: dict[str, Config] = field(default_factory=dict)

    @property
    def state(self) -> TaskState:
        return self.task.status.state

    @property
    def due_at(self) -> float:
        return self.not_before or self.lease_until or self.created_at

    @property
    def size(self) -> int:
        return sum(len(event_bytes(event)) for event in self.log)

    def stored(self) -> StoredTask:
        return StoredTask(
            task=self.task,
            owner=self.owner,
            number=self.number,
            version=len(self.log),
            role=self.role,
            payload=self.payload,
            attempt=self.attempt,
            lease_until=self.lease_until,
            cancel_requested=self.cancel_requested,
            created_at=self.created_at,
            updated_at=self.updated_at,
        )

    def let_go(self) -> None:
        self.token, self.lease_until = "", 0.0

    def is_held_by(self, lease: str, now: float) -> bool:
        return self.lease_until > now and self.token == lease


class PushModel:
    """Does what `PushStore` says."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.kept: list[ModelTask] = []

    def find(self, task_id: str) -> ModelTask | None:
        return next((one for one in self.kept if one.id == task_id), None)

    def known(self, task_id: str) -> ModelTask:
        one = self.find(task_id)
        if one is None:
            raise UnknownTask(task_id)
        return one

    def put_config(self, push: PushConfig, *, delivered: int) -> None:
        self.put(self.known(push.config.task_id or ""), push, delivered=delivered)

    def configs(self, task_id: str) -> list[Delivery]:
        one = self.find(task_id)
        return [config.delivery for config in one.configs.values()] if one else []

    def delete_config(self, task_id: str, config_id: str) -> None:
        one = self.find(task_id)
        if one:
            one.configs.pop(config_id, None)

    def due_deliveries(self, *, limit: int) -> list[Delivery]:
        found = [config.delivery for one in self.kept for config in one.configs.values()]
        return [each for each in found if self._config_due(each)][:limit]

    def claim_delivery(self, delivery: Delivery, *, seconds: float) -> bool:
        config = self._config_due(delivery)
        if config:
            config.claimed_until = self.clock() + seconds
        return config is not None

    def save_delivery(self, delivery: Delivery) -> None:
        config = self._config(delivery)
        if config and config.delivery.push == delivery.push:
            delivered = max(delivery.delivered, config.delivery.delivered)
            config.delivery = msgspec.structs.replace(delivery, delivered=delivered)
            config.claimed_until = 0.0

    def _config(self, delivery: Delivery) -> Config | None:
        one = self.find(delivery.push.config.task_id or "")
        return one.configs.get(delivery.push.config.id or "") if one else None

    def _config_due(self, delivery: Delivery) -> Config | None:
        config, now = self._config(delivery), self.clock()
        if config is None or config.delivery != delivery or delivery.dead:
            return None
        behind = delivery.delivered < len(self.known(delivery.push.config.task_id or "").log)
        return config if behind and max(delivery.next_attempt_at, config.claimed_until) <= now else None

    def put(self, one: ModelTask, push: PushConfig, *, delivered: int) -> None:
        one.configs[push.config.id or ""] = Config(delivery=Delivery(push=push, delivered=delivered))
