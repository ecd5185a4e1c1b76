"""The protocol's operations: one table, operation × version × binding → name on the wire (A2A 1.0.1 §5.3; 0.3 §3.5.6)."""

from __future__ import annotations

from enum import StrEnum

import msgspec
from msgspec import Struct

from a2a_hub.a2a import model


class Capability(StrEnum):
    """What a card must declare before the operation may be used (§3.3.4)."""

    NONE = "none"
    STREAMING = "streaming"
    PUSH_NOTIFICATIONS = "pushNotifications"
    EXTENDED_AGENT_CARD = "extendedAgentCard"


class Rest(Struct, frozen=True):
    """An HTTP method and a path template; `{name}` is one path segment. Fields of GET and DELETE come from the query."""

    method: str
    path: str


class Operation(Struct, frozen=True):
    """One row. `name` is the 1.0 JSON-RPC method, `jsonrpc_v0_3` the 0.3 one (None where 0.3 has no such operation)."""

    name: str
    request: type[Struct]
    rest: tuple[Rest, ...]
    jsonrpc_v0_3: str | None
    rest_v0_3: tuple[Rest, ...]
    streaming: bool = False
    capability: Capability = Capability.NONE

    @property
    def wraps(self) -> bool:
        """Whether its result is one of several kinds, told apart by a member's name (§3.2.3)."""
        return self.streaming or self.request is model.SendMessageRequest


_CONFIGS = "/tasks/{task_id}/pushNotificationConfigs"

SEND_MESSAGE = Operation(
    "SendMessage",
    model.SendMessageRequest,
    (Rest("POST", "/message:send"),),
    "message/send",
    (Rest("POST", "/v1/message:send"),),
)
SEND_STREAMING_MESSAGE = Operation(
    "SendStreamingMessage",
    model.SendMessageRequest,
    (Rest("POST", "/message:stream"),),
    "message/stream",
    (Rest("POST", "/v1/message:stream"),),
    streaming=True,
    capability=Capability.STREAMING,
)
GET_TASK = Operation(
    "GetTask",
    model.GetTaskRequest,
    (Rest("GET", "/tasks/{id}"),),
    "tasks/get",
    (Rest("GET", "/v1/tasks/{id}"),),
)
LIST_TASKS = Operation(
    "ListTasks",
    model.ListTasksRequest,
    (Rest("GET", "/tasks"),),
    None,
    (Rest("GET", "/v1/tasks"),),
)
CANCEL_TASK = Operation(
    "CancelTask",
    model.CancelTaskRequest,
    (Rest("POST", "/tasks/{id}:cancel"),),
    "tasks/cancel",
    (Rest("POST", "/v1/tasks/{id}:cancel"),),
)
SUBSCRIBE_TO_TASK = Operation(
    "SubscribeToTask",
    model.SubscribeToTaskRequest,
    (Rest("GET", "/tasks/{id}:subscribe"), Rest("POST", "/tasks/{id}:subscribe")),
    "tasks/resubscribe",
    (Rest("GET", "/v1/tasks/{id}:subscribe"), Rest("POST", "/v1/tasks/{id}:subscribe")),
    streaming=True,
    capability=Capability.STREAMING,
)
CREATE_PUSH_CONFIG = Operation(
    "CreateTaskPushNotificationConfig",
    model.TaskPushNotificationConfig,
    (Rest("POST", _CONFIGS),),
    "tasks/pushNotificationConfig/set",
    (Rest("POST", "/v1" + _CONFIGS),),
    capability=Capability.PUSH_NOTIFICATIONS,
)
GET_PUSH_CONFIG = Operation(
    "GetTaskPushNotificationConfig",
    model.GetTaskPushNotificationConfigRequest,
    (Rest("GET", _CONFIGS + "/{id}"),),
    "tasks/pushNotificationConfig/get",
    (Rest("GET", "/v1" + _CONFIGS + "/{id}"),),
    capability=Capability.PUSH_NOTIFICATIONS,
)
LIST_PUSH_CONFIGS = Operation(
    "ListTaskPushNotificationConfigs",
    model.ListTaskPushNotificationConfigsRequest,
    (Rest("GET", _CONFIGS),),
    "tasks/pushNotificationConfig/list",
    (Rest("GET", "/v1" + _CONFIGS),),
    capability=Capability.PUSH_NOTIFICATIONS,
)
DELETE_PUSH_CONFIG = Operation(
    "DeleteTaskPushNotificationConfig",
    model.DeleteTaskPushNotificationConfigRequest,
    (Rest("DELETE", _CONFIGS + "/{id}"),),
    "tasks/pushNotificationConfig/delete",
    (Rest("DELETE", "/v1" + _CONFIGS + "/{id}"),),
    capability=Capability.PUSH_NOTIFICATIONS,
)
GET_EXTENDED_AGENT_CARD = Operation(
    "GetExtendedAgentCard",
    model.GetExtendedAgentCardRequest,
    (Rest("GET", "/extendedAgentCard"),),
    "agent/getAuthenticatedExtendedCard",
    (Rest("GET", "/v1/card"),),
    capability=Capability.EXTENDED_AGENT_CARD,
)

OPERATIONS: tuple[Operation, ...] = (
    SEND_MESSAGE,
    SEND_STREAMING_MESSAGE,
    GET_TASK,
    LIST_TASKS,
    CANCEL_TASK,
    SUBSCRIBE_TO_TASK,
    CREATE_PUSH_CONFIG,
    GET_PUSH_CONFIG,
    LIST_PUSH_CONFIGS,
    DELETE_PUSH_CONFIG,
    GET_EXTENDED_AGENT_CARD,
)


def within(params: msgspec.Struct) -> tuple[Operation, ...]:
    """The operations that a request asks for besides its own."""
    configuration = params.configuration if isinstance(params, model.SendMessageRequest) else None
    registers = configuration is not None and configuration.task_push_notification_config is not None
    return (CREATE_PUSH_CONFIG,) if registers else ()
