"""Results of any operation that 0.3 has, in 0.3's JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from a2a_hub.a2a.card import AgentCard
from a2a_hub.a2a.compat.v0_3.dialect import Dialect
from a2a_hub.a2a.compat.v0_3.event import to_compat_event
from a2a_hub.a2a.compat.v0_3.task import to_compat_task
from a2a_hub.a2a.model import (
    Event,
    ListTaskPushNotificationConfigsResponse,
    ListTasksResponse,
    TaskPushNotificationConfig,
)


def to_compat_result(value: Event | msgspec.Struct | None, dialect: Dialect) -> Any:
    """Any result in 0.3's JSON. Raises TypeError for one that 0.3 does not have."""
    match value:
        case None:
            return None
        case _ if isinstance(value, Event):
            return to_compat_event(value, dialect)
        case ListTasksResponse() if dialect is Dialect.REST:
            return {
                "tasks": [to_compat_task(task, dialect) for task in value.tasks],
                "nextPageToken": value.next_page_token,
                "pageSize": value.page_size,
                "totalSize": value.total_size,
            }
        case _:
            return _rare(value, dialect)


def _rare(value: msgspec.Struct, dialect: Dialect) -> Any:
    # Loaded when there is such a result, which most processes never have.
    from a2a_hub.a2a.compat.v0_3.card import to_compat_card, to_compat_rest_card
    from a2a_hub.a2a.compat.v0_3.push_config import to_compat_task_push_config

    match value:
        case TaskPushNotificationConfig():
            return to_compat_task_push_config(value, dialect)
        case ListTaskPushNotificationConfigsResponse(configs=configs):
            listed = [to_compat_task_push_config(config, dialect) for config in configs]
            return {"configs": listed, "nextPageToken": ""} if dialect is Dialect.REST else listed
        case AgentCard():
            return to_compat_rest_card(value) if dialect is Dialect.REST else to_compat_card(value)
        case _:
            raise TypeError(f"A2A 0.3 has no {type(value).__name__}")
