"""IAM of a bucket: which member may do what with which object (cloud.google.com/storage/docs/access-control/iam-roles)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

GET, LIST, CREATE, DELETE = (f"storage.objects.{verb}" for verb in ("get", "list", "create", "delete"))
GET_POLICY, SET_POLICY = "storage.buckets.getIamPolicy", "storage.buckets.setIamPolicy"
GET_BUCKET, CREATE_BUCKET = "storage.buckets.get", "storage.buckets.create"
_OBJECTS = frozenset({GET, LIST, CREATE, DELETE})
ADMIN = "roles/storage.admin"
VIEWER = "roles/storage.objectViewer"
SEARCH_AGENT = "roles/discoveryengine.serviceAgent"
ROLES: Mapping[str, frozenset[str]] = {
    ADMIN: _OBJECTS | {GET_POLICY, SET_POLICY, GET_BUCKET, CREATE_BUCKET},
    "roles/storage.objectAdmin": _OBJECTS,
    "roles/storage.objectUser": _OBJECTS,
    VIEWER: frozenset({GET, LIST}),
    SEARCH_AGENT: frozenset({GET, LIST}),
    "roles/storage.objectCreator": frozenset({CREATE}),
    "roles/storage.legacyBucketReader": frozenset({GET_BUCKET, LIST}),
    "roles/storage.legacyObjectReader": frozenset({GET}),
}
# Of the language of IAM Conditions, the expression that grants a role on a part of a bucket.
_PREFIX = re.compile(r'\s*resource\.name\.startsWith\("([^"]*)"\)\s*')

Binding = Mapping[str, Any]


class BadPolicy(Exception):
    """Not a policy that this stand-in can carry out; the message says why."""


class BucketPolicy:
    """The bindings of one bucket."""

    def __init__(self, bindings: Sequence[Binding] = ()) -> None:
        self.bindings = tuple(_checked(binding) for binding in bindings)

    def allows(self, member: str, permission: str, resource: str) -> bool:
        """Whether a role of `member` holds `permission` on `resource` ("projects/_/buckets/B/objects/O")."""
        return any(
            permission in ROLES[binding["role"]]
            and (member in binding["members"] or "allUsers" in binding["members"])
            and resource.startswith(_prefix_of(binding))
            for binding in self.bindings
        )

    def grants(self, permission: str) -> bool:
        """Whether anybody but the administrators holds `permission`."""
        return len(self.without(permission).bindings) < len(self.bindings)

    def without(self, permission: str) -> BucketPolicy:
        """The policy after every role that holds `permission`, the administrators' and Google's own aside, was taken away."""
        kept = (ADMIN, SEARCH_AGENT)
        return BucketPolicy(
            [each for each in self.bindings if each["role"] in kept or permission not in ROLES[each["role"]]]
        )


def _checked(binding: Binding) -> dict[str, Any]:
    role, members, condition = binding.get("role"), binding.get("members"), binding.get("condition")
    if role not in ROLES:
        raise BadPolicy(f"Role {role} is not supported for this resource.")
    if not isinstance(members, list | tuple) or not all(isinstance(each, str) for each in members):
        raise BadPolicy("A binding needs members.")
    kept: dict[str, Any] = {"role": role, "members": list(members)}
    if condition:
        kept["condition"] = dict(condition)
        if not _PREFIX.fullmatch(str(condition.get("expression", ""))):
            raise BadPolicy('Of conditions, only resource.name.startsWith("…") is known here.')
    return kept


def _prefix_of(binding: Binding) -> str:
    condition = binding.get("condition")
    match = _PREFIX.fullmatch(condition["expression"]) if condition else None
    return match[1] if match else ""
