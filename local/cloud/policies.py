"""IAM policies of projects and buckets: the members of roles, and the permissions that each role holds."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

EVERYBODY = "allUsers"
SEARCH = "discoveryengine.servingConfigs.search"
CHECK = "discoveryengine.groundingConfigs.check"
PREDICT = "aiplatform.endpoints.predict"
SANITIZE = "modelarmor.templates.useToSanitizeUserPrompt"
GET, LIST, CREATE, DELETE = (f"storage.objects.{verb}" for verb in ("get", "list", "create", "delete"))
GET_POLICY, SET_POLICY = "storage.buckets.getIamPolicy", "storage.buckets.setIamPolicy"
GET_BUCKET = "storage.buckets.get"

VIEWER, ADMIN = "roles/discoveryengine.viewer", "roles/discoveryengine.admin"
MODEL_USER, MODEL_ADMIN = "roles/aiplatform.user", "roles/aiplatform.admin"
ARMOR_USER, ARMOR_ADMIN = "roles/modelarmor.user", "roles/modelarmor.admin"
OBJECT_VIEWER, SEARCH_AGENT = "roles/storage.objectViewer", "roles/discoveryengine.serviceAgent"
_STORAGE_ADMIN = "roles/storage.admin"

_DOCUMENTS, _STORES = "discoveryengine.documents.", "discoveryengine.dataStores."
_READ_STORE = frozenset(
    {SEARCH, CHECK, f"{_STORES}get", f"{_DOCUMENTS}get", f"{_DOCUMENTS}list", "discoveryengine.operations.get"}
)
_WRITE_STORE = _READ_STORE | {f"{_DOCUMENTS}import", f"{_DOCUMENTS}delete"}
_OBJECTS = frozenset({GET, LIST, CREATE, DELETE})
_ROLES: Mapping[str, frozenset[str]] = {
    VIEWER: _READ_STORE,
    "roles/discoveryengine.editor": _WRITE_STORE,
    ADMIN: _WRITE_STORE | {f"{_STORES}create"},
    MODEL_USER: frozenset({PREDICT}),
    MODEL_ADMIN: frozenset({PREDICT}),
    ARMOR_USER: frozenset({SANITIZE}),
    ARMOR_ADMIN: frozenset({SANITIZE}),
    _STORAGE_ADMIN: _OBJECTS | {GET_POLICY, SET_POLICY, GET_BUCKET},
    "roles/storage.objectAdmin": _OBJECTS,
    "roles/storage.objectUser": _OBJECTS,
    OBJECT_VIEWER: frozenset({GET, LIST}),
    SEARCH_AGENT: frozenset({GET, LIST}),
    "roles/storage.objectCreator": frozenset({CREATE}),
    "roles/storage.legacyBucketReader": frozenset({GET_BUCKET, LIST}),
    "roles/storage.legacyObjectReader": frozenset({GET}),
}
READERS = frozenset(role for role, held in _ROLES.items() if GET in held) - {_STORAGE_ADMIN, SEARCH_AGENT}
"""The roles that read objects, the administrators' and Google's own aside."""
# Of the language of IAM Conditions, the expression that grants a role on a part of a bucket.
_PREFIX = re.compile(r'\s*resource\.name\.startsWith\("([^"]*)"\)\s*')


def member(email: str | None) -> str:
    """Return the name of an account in IAM policies."""
    if email is None:
        return EVERYBODY
    return f"serviceAccount:{email}" if email.endswith(".gserviceaccount.com") else f"user:{email}"


class Policy:
    """The bindings of one project or bucket. A role or a condition that is not known here grants nothing."""

    def __init__(self, bindings: Sequence[Mapping[str, Any]] = ()) -> None:
        self.bindings = tuple(bindings)

    def allows(self, member: str, permission: str, resource: str = "") -> bool:
        """Return True if a role of `member` holds `permission` on `resource` ("projects/_/buckets/B/objects/O")."""
        return any(
            permission in _ROLES.get(binding["role"], ())
            and (member in binding["members"] or EVERYBODY in binding["members"])
            and _covers(binding.get("condition"), resource)
            for binding in self.bindings
        )

    def gives(self, member: str, role: str) -> bool:
        """Return True if `member` has the role."""
        return any(binding["role"] == role and member in binding["members"] for binding in self.bindings)

    def without(self, roles: Collection[str]) -> Policy:
        """Return the policy after everybody has lost these roles."""
        return Policy([each for each in self.bindings if each["role"] not in roles])


def _covers(condition: Mapping[str, str] | None, resource: str) -> bool:
    match = _PREFIX.fullmatch(condition["expression"]) if condition else None
    return not condition or (match is not None and resource.startswith(match[1]))
