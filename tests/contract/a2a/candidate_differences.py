"""What changed between the release candidate of A2A 1.0 whose schema is in `tests/data` and A2A 1.0.1, and why."""

from dataclasses import dataclass
from typing import Any

STRING = {"type": "string"}
BOOLEAN = {"type": "boolean"}


@dataclass(frozen=True)
class Difference:
    """In `message`, 1.0.1 has `added` (name → schema), lacks `removed`, and requires no longer `optional`."""

    message: str
    reason: str
    added: dict[str, Any] | None = None
    removed: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    required: tuple[str, ...] = ()


DIFFERENCES = (
    Difference(
        message="SendMessageConfiguration",
        reason="`blocking` became `returnImmediately`: the default is now to wait",
        added={"returnImmediately": BOOLEAN},
        removed=("blocking",),
    ),
    Difference(
        message="SendMessageConfiguration",
        reason="`pushNotificationConfig` became `taskPushNotificationConfig`",
        added={"taskPushNotificationConfig": {"$ref": "lf.a2a.v1.TaskPushNotificationConfig.jsonschema.json"}},
        removed=("pushNotificationConfig",),
    ),
    Difference(
        message="TaskPushNotificationConfig",
        reason="the config is flat: what was inside `pushNotificationConfig` stands beside `taskId`",
        added={
            "id": STRING,
            "url": STRING,
            "token": STRING,
            "authentication": {"$ref": "lf.a2a.v1.AuthenticationInfo.jsonschema.json"},
        },
        removed=("pushNotificationConfig",),
        optional=("taskId",),
        required=("url",),
    ),
    Difference(message="Task", reason="`contextId` is no longer required", optional=("contextId",)),
)

# Messages of the candidate that 1.0.1 does not have, and what stands for them.
GONE = {
    "PushNotificationConfig": "its fields are TaskPushNotificationConfig's own",
    "CreateTaskPushNotificationConfigRequest": "the TaskPushNotificationConfig itself is the request",
}

# Where the hub requires more than the proto does: (message, field) and why.
STRICTER = {
    (
        "AgentExtension",
        "uri",
    ): "an extension without its URI names nothing; 0.3 and Gemini Enterprise require it",
}
