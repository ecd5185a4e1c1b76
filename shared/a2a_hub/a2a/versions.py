"""Which version a request speaks (A2A 1.0.1 §3.6): `A2A-Version`, as header or query parameter, against the method or path."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from a2a_hub.a2a.errors import VERSION_NOT_SUPPORTED, A2AError


class Version(StrEnum):
    """The supported versions; patch numbers never count."""

    V0_3 = "0.3"
    V1_0 = "1.0"


SUPPORTED = ", ".join(Version)
_BY_NAME = {version.value: version for version in Version}
_WITH_PATCH = r"(\d{1,4}\.\d{1,4})\.\d{1,6}"


def named(header: str | None, query: Sequence[str]) -> Version | None:
    """The version that the request's header and the values of its query parameter name; None where they name none.

    Raises VERSION_NOT_SUPPORTED for a version, or two different ones, that cannot be served.
    """
    versions = {_parse(text.strip()) for text in (header, *query) if text and text.strip()}
    if len(versions) > 1:
        raise A2AError(
            VERSION_NOT_SUPPORTED,
            "The A2A-Version header and query parameters name different versions",
            metadata={"supportedVersions": SUPPORTED},
        )
    return versions.pop() if versions else None


def agree(named_version: Version | None, wire_version: Version, what: str) -> Version:
    """The version of a request whose method or path (`what`) exists in `wire_version` only.

    Method names of the two versions do not overlap, so the method decides; a named version that contradicts it is an error.
    """
    if named_version is not None and named_version != wire_version:
        raise contradiction(what)
    return wire_version


def contradiction(what: str) -> A2AError:
    """The error for a method or path that the named version does not have, though the other one does."""
    return A2AError(
        VERSION_NOT_SUPPORTED,
        f"{what} belongs to another version of A2A than the request names",
        metadata={"supportedVersions": SUPPORTED},
    )


def _parse(text: str) -> Version:
    version = _BY_NAME.get(text)
    if version is None and (match := re.fullmatch(_WITH_PATCH, text)):
        version = _BY_NAME.get(match[1])
    if version is not None:
        return version
    raise A2AError(
        VERSION_NOT_SUPPORTED,
        f"This A2A version is not supported; supported are {SUPPORTED}",
        metadata={"supportedVersions": SUPPORTED},
    )
