"""Push notification configs of tasks (A2A 1.0.1 §3.1.7-§3.1.10): who is told of a task's events, and where."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import urlsplit

import msgspec

from shared.a2a.errors import INVALID_PARAMS, A2AError, invalid_field
from shared.a2a.model import TaskPushNotificationConfig
from shared.a2a.versions import Version
from shared.task_store.push import PushConfig, PushStore
from shared.task_store.store import StoredTask

_MOST_CONFIGS = 10
_LONGEST = 2000
# What a header may hold: the values below are sent in one.
_SENDABLE = re.compile("[ -~]*")
# urlsplit drops line ends and tabs, and takes a space for a part of a host's name.
_NO_URL = re.compile(r"[\s\x00-\x1f\x7f]")
# A token of RFC 9110 §5.6.2.
_SCHEME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class PushConfigs:
    """The configs of a store. `refuses` says why a URL's host may not be notified, or None where it may."""

    def __init__(
        self, store: PushStore, *, refuses: Callable[[str], str | None], new_id: Callable[[], str]
    ) -> None:
        self._store = store
        self._refuses = refuses
        self._new_id = new_id

    def add(
        self,
        stored: StoredTask,
        config: TaskPushNotificationConfig,
        version: Version,
        *,
        delivered: int | None = None,
    ) -> TaskPushNotificationConfig:
        """Stores the config; the task's events from now on go there, or those behind `delivered`. Raises A2AError."""
        self.check(config, task_id=stored.task.id)
        # 0.3 knows one config that has no name; whoever asks for it calls it so.
        new_id = "default" if version is Version.V0_3 else self._new_id()
        complete = msgspec.structs.replace(config, id=config.id or new_id, task_id=stored.task.id)
        position = stored.version if delivered is None else delivered
        self._store.put_config(PushConfig(config=complete, version=version), delivered=position)
        return complete

    def check(self, config: TaskPushNotificationConfig, *, task_id: str | None = None) -> None:
        """Raises A2AError for a config that could not be delivered to, or may not be, or is one too many for the task."""
        if task_id is not None:
            others = [each.push.config.id for each in self._store.configs(task_id)]
            if len(others) >= _MOST_CONFIGS and config.id not in others:
                raise A2AError(
                    INVALID_PARAMS, f"A task has at most {_MOST_CONFIGS} push notification configs"
                )
        own = config.authentication
        for name, value in (
            ("url", config.url),
            ("id", config.id),
            ("token", config.token),
            ("authentication.scheme", own and own.scheme),
            ("authentication.credentials", own and own.credentials),
        ):
            if len(value or "") > _LONGEST:
                raise invalid_field(f"pushNotificationConfig.{name}", f"is longer than {_LONGEST} characters")
            if name != "url" and not _SENDABLE.fullmatch(value or ""):
                raise invalid_field(
                    f"pushNotificationConfig.{name}",
                    "must be of printable ASCII characters, to be sent in a header",
                )
        if own and not _SCHEME.fullmatch(own.scheme):
            raise invalid_field(
                "pushNotificationConfig.authentication.scheme",
                "must be the name of an HTTP authentication scheme, such as Bearer",
            )
        if config.id in (".", "..") or "/" in (config.id or ""):
            raise invalid_field("pushNotificationConfig.id", "must be one segment of a path, without a slash")
        try:
            if _NO_URL.search(config.url):
                raise ValueError
            parts = urlsplit(config.url)
            host, _ = parts.hostname, parts.port
        except ValueError:
            raise invalid_field("pushNotificationConfig.url", "is not a URL") from None
        if parts.scheme not in ("http", "https") or not host or parts.username or parts.password:
            raise invalid_field(
                "pushNotificationConfig.url",
                "must be an http or https URL with a host, without user information",
            )
        reason = self._refuses(config.url)
        if reason is not None:
            raise invalid_field("pushNotificationConfig.url", reason)

    def all(self, task_id: str) -> tuple[TaskPushNotificationConfig, ...]:
        """The task's configs, in the order in which they were added."""
        return tuple(each.push.config for each in self._store.configs(task_id))

    def delete(self, task_id: str, config_id: str) -> None:
        """Deletes a config; one that is not there is no error (§3.1.10)."""
        self._store.delete_config(task_id, config_id)
