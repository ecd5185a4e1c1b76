"""The base of the stand-ins of Google's APIs: faults first, then the caller's request; every refusal is an answer."""

import re
import threading
from collections.abc import Sequence

from a2a_hub.http.messages import Request, Response
from local.cloud.accounts import Accounts
from local.cloud.policies import Policy, member
from local.cloud.program import ApiError, Faults, denied, json_body, json_response

QUOTA, BROKEN = "quota", "server-error"
_REFUSED = {
    QUOTA: ("RESOURCE_EXHAUSTED", "Quota exceeded. Please try again later."),
    BROKEN: ("UNAVAILABLE", "The service is currently unavailable."),
}
_ADMINISTERED = re.compile(r"/v1/projects/[^/]+(?:/services/[^/]+)?:\w+")
_SERVICE_USAGE = "type.googleapis.com/google.api.serviceusage.v1"


class GoogleApi:
    """One API, whose callers are among `accounts`. A subclass has `_answer`, which may raise ApiError. Thread-safe."""

    faults_of: str
    """Its table in faults.toml."""

    def __init__(self, *, accounts: Accounts) -> None:
        self.faults = Faults("google-api", self.faults_of)
        self._accounts = accounts
        self._counting = threading.Lock()

    def handle(self, request: Request) -> Response:
        """Return the answer to one request."""
        if (response := self.faults.handle(request)) is not None:
            return response
        try:
            if (response := self._administered(request)) is not None:
                return response
            self.faults.wait()
            self._refuse_if_asked_to()
            return self._answer(request)
        except ApiError as error:
            return self._refusal(request, error)

    def _answer(self, request: Request) -> Response:
        raise NotImplementedError

    def _administered(self, request: Request) -> Response | None:  # noqa: ARG002 - a subclass's
        """Answer an administrator's request, which no fault hinders; None for any other."""
        return None

    def _refusal(self, request: Request, error: ApiError) -> Response:  # noqa: ARG002 - a subclass's
        return error.response()

    def _refuse_if_asked_to(self) -> None:
        for fault, (status, message) in _REFUSED.items():
            with self._counting:
                parameters = self.faults.parameters(fault)
                if parameters is None:
                    continue
                left = parameters.get("times")
                if left is not None and left <= 1:
                    self.faults.switch_off(fault)
                elif left is not None:
                    self.faults.switch_on(fault, times=left - 1)
            raise ApiError(status, message)


class ProjectApi(GoogleApi):
    """An API whose `users` and operators have a role in a project.

    What gcloud asks Resource Manager and Service Usage is answered at this API's address: the policy, and that it is enabled.
    The fault `denied_fault` takes the users' role from everybody, until the policy is set.
    """

    service: str
    user_role: str
    admin_role: str
    denied_fault: str
    disabled_fault: str

    def __init__(self, *, users: Sequence[str], accounts: Accounts) -> None:
        super().__init__(accounts=accounts)
        roles = {self.admin_role: accounts.operators, self.user_role: map(member, users)}
        self._granted = Policy([{"role": role, "members": list(members)} for role, members in roles.items()])

    @property
    def _policy(self) -> Policy:
        return self._granted.without({self.user_role}) if self.denied_fault in self.faults else self._granted

    def _require(self, request: Request, permission: str, resource: str) -> None:
        if not self._policy.allows(self._accounts.caller(request, service=self.service), permission):
            raise denied(self.service, permission, resource)

    def _require_enabled(self) -> None:
        if self.disabled_fault in self.faults:
            message = f"{self.service} has not been used in this project before or it is disabled."
            metadata = {"service": self.service}
            raise ApiError("PERMISSION_DENIED", message, reason="SERVICE_DISABLED", metadata=metadata)

    def _administered(self, request: Request) -> Response | None:
        if not _ADMINISTERED.fullmatch(request.path):
            return None
        if not self._policy.gives(self._accounts.caller(request, service=self.service), self.admin_role):
            raise ApiError("PERMISSION_DENIED", "The caller does not have permission.")
        if request.path.endswith(":enable"):
            self.faults.switch_off(self.disabled_fault)
            service = {"name": request.path.removeprefix("/v1/").partition(":")[0], "state": "ENABLED"}
            answer = {"@type": f"{_SERVICE_USAGE}.EnableServiceResponse", "service": service}
            return json_response({"name": "operations/acf.enabled", "done": True, "response": answer})
        if request.method == "POST" and request.path.endswith(":setIamPolicy"):
            self._granted = Policy(json_body(request)["policy"].get("bindings", ()))
            self.faults.switch_off(self.denied_fault)
        return json_response({"version": 1, "etag": "BwYAAAAAAAA=", "bindings": self._policy.bindings})
