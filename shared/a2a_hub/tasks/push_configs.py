"""Push notification configs of tasks (A2A 1.0.1 §3.1.7-§3.1.10): the receivers of a task's events."""

import re
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from a2a_hub.a2a.errors import INVALID_PARAMS, A2AError, invalid_field
from a2a_hub.a2a.model import TaskPushNotificationConfig, Version
from a2a_hub.a2a.version_table import CODECS
from a2a_hub.runtime.ids import new_id
from a2a_hub.task_store.store import PushConfig, PushStore
from a2a_hub.tasks.webhook_address import WebhookAddresses

_MAX_CONFIGS = 10
_LONGEST = 2000
# A segment of a path, as the gate lets it in.
_ID = re.compile(r"(?:[A-Za-z0-9_~:-][A-Za-z0-9._~:-]{0,499})?")
# Printable ASCII: the values below are sent in headers.
_SENDABLE = re.compile("[ -~]*")
# urlsplit drops line ends and tabs, and takes a space for a part of a host's name.
_NO_URL = re.compile(r"[\s\x00-\x1f\x7f]")
# A token of RFC 9110 §5.6.2.
_SCHEME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class PushConfigs(Struct, frozen=True):
    """The checks of push notification configs before they are put into a store, for receivers at `addresses`."""

    store: PushStore
    addresses: WebhookAddresses

    def validated(
        self, config: TaskPushNotificationConfig, version: Version, *, task_id: str, with_message: bool
    ) -> PushConfig:
        """Return the config to store. Raise A2AError for one that cannot or may not be delivered to, or exceeds the task's limit.

        The error names the field as a request of `version` does, for the config alone or `with_message`.
        """
        codec = CODECS[version]
        others = [each.push.config.id for each in self.store.configs(task_id)]
        if len(others) >= _MAX_CONFIGS and config.id not in others:
            raise A2AError(INVALID_PARAMS, f"A task has at most {_MAX_CONFIGS} push notification configs")
        invalid = self._first_invalid_field(config)
        if invalid is not None:
            name, reason = invalid
            path = codec.send_push_config_field if with_message else codec.push_config_field
            raise invalid_field(path + name, reason)
        id_ = config.id or codec.default_push_config_id or new_id()
        complete = msgspec.structs.replace(config, id=id_, task_id=task_id)
        return PushConfig(config=complete, version=version)

    def _first_invalid_field(self, config: TaskPushNotificationConfig) -> tuple[str, str] | None:
        """Return the first invalid field and the reason."""
        own = config.authentication
        for name, value in (
            ("url", config.url),
            ("token", config.token),
            ("authentication.scheme", own and own.scheme),
            ("authentication.credentials", own and own.credentials),
        ):
            if len(value or "") > _LONGEST:
                return name, f"is longer than {_LONGEST} characters"
            if name != "url" and not _SENDABLE.fullmatch(value or ""):
                return name, "must be of printable ASCII characters, to be sent in a header"
        if own and not _SCHEME.fullmatch(own.scheme):
            return (
                "authentication.scheme",
                "must be the name of an HTTP authentication scheme, such as Bearer",
            )
        if not _ID.fullmatch(config.id or ""):
            return "id", "must be at most 500 letters, digits and - . _ ~ : without a leading dot: it stands in paths"
        try:
            if _NO_URL.search(config.url):
                raise ValueError
            parts = urlsplit(config.url)
            host, _ = parts.hostname, parts.port
        except ValueError:
            return "url", "is not a URL"
        if parts.scheme not in ("http", "https") or not host or parts.username or parts.password:
            return "url", "must be an http or https URL with a host, without user information"
        reason = self.addresses.refusal(config.url)
        return ("url", reason) if reason is not None else None
