"""What the server needs of tasks that are kept; `a2a_hub.tasks` has it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import msgspec

from a2a_hub.a2a import model
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import Event, Message, Task, TaskPushNotificationConfig


class Sending(Protocol):
    """The two operations that start a turn. Each raises A2AError."""

    def send(self, request: model.SendMessageRequest, call: Call) -> Task | Message:
        """The turn's result."""
        ...

    def stream(
        self, request: model.SendMessageRequest, call: Call, *, idle_seconds: float
    ) -> Iterator[Event | None]:
        """The turn's events, None for `idle_seconds` without one. It has `close`."""
        ...


class Operations(Protocol):
    """The operations on tasks that there are, each with the section that says what it does. Each raises A2AError."""

    def get(self, request: model.GetTaskRequest, call: Call) -> Task:
        """§3.1.3."""
        ...

    def list(self, request: model.ListTasksRequest, call: Call) -> model.ListTasksResponse:
        """§3.1.4."""
        ...

    def cancel(self, request: model.CancelTaskRequest, call: Call) -> Task:
        """§3.1.5."""
        ...

    def subscribe(
        self, request: model.SubscribeToTaskRequest, call: Call, *, idle_seconds: float
    ) -> Iterator[Event | None]:
        """§3.1.6; like `Sending.stream`."""
        ...

    def create_config(self, request: TaskPushNotificationConfig, call: Call) -> TaskPushNotificationConfig:
        """§3.1.7."""
        ...

    def get_config(
        self, request: model.GetTaskPushNotificationConfigRequest, call: Call
    ) -> TaskPushNotificationConfig:
        """§3.1.8."""
        ...

    def list_configs(
        self, request: model.ListTaskPushNotificationConfigsRequest, call: Call
    ) -> model.ListTaskPushNotificationConfigsResponse:
        """§3.1.9."""
        ...

    def delete_config(self, request: model.DeleteTaskPushNotificationConfigRequest, call: Call) -> None:
        """§3.1.10."""
        ...


class Tasks(Protocol):
    """All operations of an agent that keeps tasks."""

    @property
    def sending(self) -> Sending:
        """Starts turns."""
        ...

    @property
    def operations(self) -> Operations:
        """Looks after what was started."""
        ...


def on_task(tasks: Operations, params: msgspec.Struct, call: Call) -> msgspec.Struct | None:
    """The result of the operation whose request `params` is; None where it has none. Raises A2AError."""
    match params:
        case model.GetTaskRequest():
            return tasks.get(params, call)
        case model.ListTasksRequest():
            return tasks.list(params, call)
        case model.CancelTaskRequest():
            return tasks.cancel(params, call)
        case model.TaskPushNotificationConfig():
            return tasks.create_config(params, call)
        case model.GetTaskPushNotificationConfigRequest():
            return tasks.get_config(params, call)
        case model.ListTaskPushNotificationConfigsRequest():
            return tasks.list_configs(params, call)
        case model.DeleteTaskPushNotificationConfigRequest():
            tasks.delete_config(params, call)
            return None
        case _:
            raise AssertionError(f"no operation takes {type(params).__name__}")
