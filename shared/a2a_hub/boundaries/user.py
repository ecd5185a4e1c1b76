"""`user`: the agent acts for the caller, and gets the caller's own token."""

from typing import ClassVar

from a2a_hub.boundaries.boundary import Boundary, Credential, CredentialRequest, Examination
from a2a_hub.boundaries.sources import NoCredential
from a2a_hub.diagnosis.report import Step, ok


class User(Boundary, frozen=True, kw_only=True):
    """The caller's own Authorization header."""

    kind: ClassVar[str] = "user"
    per_caller: ClassVar[bool] = True

    def credential(self, request: CredentialRequest) -> Credential:
        if request.authorization is None:
            raise NoCredential(
                "no_user_token",
                "the route passes the caller's own token on, and the request carried none",
                "set PASS_CALLER_TOKEN=true at the gate; bind an authorization in Gemini Enterprise",
            )
        return Credential(headers={"authorization": request.authorization})

    def credential_step(self, _: Examination) -> Step:
        return ok("credential", "the caller's own token")
