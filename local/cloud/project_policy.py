"""IAM of a project as Discovery Engine sees it, and what gcloud's `add-iam-policy-binding` and `services enable` ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from a2a_hub.http.messages import Request, Response
from local.cloud.program import json_body, json_response

SEARCH = "discoveryengine.servingConfigs.search"
_DOCUMENTS = "discoveryengine.documents."
READ = frozenset({SEARCH, f"{_DOCUMENTS}get", f"{_DOCUMENTS}list", "discoveryengine.operations.get"})
WRITE = frozenset({f"{_DOCUMENTS}import", f"{_DOCUMENTS}delete"})
VIEWER, ADMIN = "roles/discoveryengine.viewer", "roles/discoveryengine.admin"
ROLES: Mapping[str, frozenset[str]] = {
    VIEWER: READ,
    "roles/discoveryengine.editor": READ | WRITE,
    ADMIN: READ | WRITE,
}


class ProjectPolicy:
    """The bindings of one project that concern Discovery Engine."""

    def __init__(self, bindings: Sequence[Mapping[str, Any]]) -> None:
        self.bindings = tuple(bindings)

    def allows(self, member: str, permission: str) -> bool:
        """Whether a role of `member` holds `permission`."""
        return any(
            permission in ROLES.get(binding["role"], ()) and member in binding["members"]
            for binding in self.bindings
        )

    def administers(self, member: str) -> bool:
        """Whether `member` may change the policy itself."""
        return any(binding["role"] == ADMIN and member in binding["members"] for binding in self.bindings)

    def without_viewers(self) -> ProjectPolicy:
        """The policy after everybody but the administrators has lost the search."""
        return ProjectPolicy([each for each in self.bindings if each["role"] != VIEWER])

    def resource(self) -> dict[str, Any]:
        """As Resource Manager answers."""
        return {"version": 1, "etag": "BwYAAAAAAAA=", "bindings": list(self.bindings)}


def changed(request: Request) -> ProjectPolicy | None:
    """The policy that a `setIamPolicy` brings; None for any other request."""
    if request.method == "POST" and request.path.endswith(":setIamPolicy"):
        return ProjectPolicy(json_body(request)["policy"].get("bindings", ()))
    return None


def enabled(request: Request) -> Response:
    """Service Usage's answer to `services enable`: an operation that is done."""
    service = {"name": request.path.removeprefix("/v1/").partition(":")[0], "state": "ENABLED"}
    answer = {
        "@type": "type.googleapis.com/google.api.serviceusage.v1.EnableServiceResponse",
        "service": service,
    }
    return json_response({"name": "operations/acf.enabled", "done": True, "response": answer})
