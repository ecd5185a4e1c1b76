"""The protocol's versions: the table of their codecs, and the version of a request (A2A 1.0.1 §3.6)."""

from __future__ import annotations

import re
from typing import Any

from a2a_hub.a2a.compat.v0_3.codec import CodecV03
from a2a_hub.a2a.errors import VERSION_NOT_SUPPORTED, A2AError
from a2a_hub.a2a.model import Event, Version
from a2a_hub.a2a.version_codec import VersionCodec
from a2a_hub.http.messages import Request

CODECS: dict[Version, VersionCodec] = {codec.version: codec for codec in (CodecV03(), VersionCodec())}
"""The codec of every version, oldest first. A method or path of several versions that names none stands for the oldest."""

IMPLIED = Version.V0_3
"""The version of an agent or a request that names none, where nothing else tells."""

SUPPORTED = ", ".join(Version)
_BY_NAME = {version.value: version for version in Version}
_WITH_PATCH = r"(\d{1,4}\.\d{1,4})\.\d{1,6}"


def named_in(request: Request) -> Version | None:
    """Return the version that `A2A-Version` names, as header or query parameter; None if there is none.

    Raises VERSION_NOT_SUPPORTED for a version, or two different ones, that cannot be served.
    """
    texts = (request.headers.get("a2a-version"), *request.parameters("A2A-Version"))
    versions = {_parse(text.strip()) for text in texts if text and text.strip()}
    if len(versions) > 1:
        raise _not_supported("The A2A-Version header and query parameters name different versions")
    return versions.pop() if versions else None


def contradiction(subject: str) -> A2AError:
    """Return the error for a method or path (`subject`) that other versions have, but not the named one."""
    return _not_supported(f"{subject} belongs to another version of A2A than the request names")


def read_event(version: Version, value: Any) -> Event:
    """Return the event in the result of an agent that speaks `version`. Raises INVALID_PARAMS."""
    return next((codec for codec in CODECS.values() if codec.owns_event(value)), CODECS[version]).read_event(
        value
    )


def _parse(text: str) -> Version:
    version = _BY_NAME.get(text)
    if version is None and (match := re.fullmatch(_WITH_PATCH, text)):
        version = _BY_NAME.get(match[1])
    if version is None:
        raise _not_supported(f"This A2A version is not supported; supported are {SUPPORTED}")
    return version


def _not_supported(message: str) -> A2AError:
    return A2AError(VERSION_NOT_SUPPORTED, message, metadata={"supportedVersions": SUPPORTED})
