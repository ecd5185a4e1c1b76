"""The protocol's operations: one table with their names in 1.0 (A2A 1.0.1 §5.3). Other versions' names are in their codecs."""

from enum import StrEnum

from msgspec import Struct

from a2a_hub.a2a import model


class Capability(StrEnum):
    """A capability that the card must declare before an operation may be used (§3.3.4)."""

    STREAMING = "streaming"
    PUSH_NOTIFICATIONS = "pushNotifications"
    EXTENDED_AGENT_CARD = "extendedAgentCard"


class Rest(Struct, frozen=True):
    """An HTTP method and a path template; `{name}` is one path segment. Fields of GET and DELETE come from the query."""

    method: str
    path: str


class Operation(Struct, frozen=True):
    """One row. `name` is the JSON-RPC method of 1.0; `extension` is the URI of its extension."""

    name: str
    request: type[Struct]
    rest: tuple[Rest, ...] = ()
    capability: Capability | None = None
    extension: str = ""

    @property
    def streaming(self) -> bool:
        """True if its result is a stream of events."""
        return self.capability is Capability.STREAMING

    @property
    def wraps(self) -> bool:
        """True if the result is one of several kinds, told apart by a member's name (§3.2.3)."""
        return self.streaming or self.request is model.SendMessageRequest


_CONFIGS = "/tasks/{task_id}/pushNotificationConfigs"
_SUBSCRIBE = "/tasks/{id}:subscribe"
_STREAM, _PUSH = Capability.STREAMING, Capability.PUSH_NOTIFICATIONS

SEND_MESSAGE = Operation("SendMessage", model.SendMessageRequest, (Rest("POST", "/message:send"),))
SEND_STREAMING_MESSAGE = Operation(
    "SendStreamingMessage", model.SendMessageRequest, (Rest("POST", "/message:stream"),), _STREAM
)
GET_TASK = Operation("GetTask", model.GetTaskRequest, (Rest("GET", "/tasks/{id}"),))
LIST_TASKS = Operation("ListTasks", model.ListTasksRequest, (Rest("GET", "/tasks"),))
CANCEL_TASK = Operation("CancelTask", model.CancelTaskRequest, (Rest("POST", "/tasks/{id}:cancel"),))
SUBSCRIBE_TO_TASK = Operation(
    "SubscribeToTask", model.SubscribeToTaskRequest, (Rest("GET", _SUBSCRIBE), Rest("POST", _SUBSCRIBE)), _STREAM
)
CREATE_PUSH_CONFIG = Operation(
    "CreateTaskPushNotificationConfig", model.TaskPushNotificationConfig, (Rest("POST", _CONFIGS),), _PUSH
)
GET_PUSH_CONFIG = Operation(
    "GetTaskPushNotificationConfig",
    model.GetTaskPushNotificationConfigRequest,
    (Rest("GET", _CONFIGS + "/{id}"),),
    _PUSH,
)
LIST_PUSH_CONFIGS = Operation(
    "ListTaskPushNotificationConfigs", model.ListTaskPushNotificationConfigsRequest, (Rest("GET", _CONFIGS),), _PUSH
)
DELETE_PUSH_CONFIG = Operation(
    "DeleteTaskPushNotificationConfig",
    model.DeleteTaskPushNotificationConfigRequest,
    (Rest("DELETE", _CONFIGS + "/{id}"),),
    _PUSH,
)
GET_EXTENDED_AGENT_CARD = Operation(
    "GetExtendedAgentCard",
    model.GetExtendedAgentCardRequest,
    (Rest("GET", "/extendedAgentCard"),),
    Capability.EXTENDED_AGENT_CARD,
)

OPERATIONS: tuple[Operation, ...] = tuple(each for each in list(globals().values()) if isinstance(each, Operation))
