"""The local cloud's metadata server, which notes what it mints."""

import base64
import json
from collections.abc import Mapping

from a2a_hub.http.messages import Request, Response
from local.cloud.accounts import Accounts
from local.cloud.metadata import EXPIRED, Metadata
from local.cloud.program import Server


class MetadataServer(Server):
    """`minted` lists the audiences of ID tokens, and "access" for each access token, in their order."""

    def __init__(self, *, lifetime_seconds: float | None = None) -> None:
        email = "hub@project.iam.gserviceaccount.com"
        self._metadata = Metadata(email=email, project="project", accounts=Accounts())
        if lifetime_seconds is not None:
            self._metadata.faults.switch_on(EXPIRED, seconds=lifetime_seconds)
        self.minted: list[str] = []
        super().__init__(self._mint)

    @property
    def environment(self) -> Mapping[str, str]:
        """Return what tells google-auth that this is the metadata server."""
        host = self.url.removeprefix("http://")
        return {"GCE_METADATA_HOST": host, "GCE_METADATA_IP": host}

    def _mint(self, request: Request) -> Response:
        if request.path.endswith(("/identity", "/token")):
            self.minted.append(request.parameter("audience") or "access")
        return self._metadata.handle(request)


def claims_of(token: str) -> dict[str, object]:
    """The claims of an ID token."""
    payload = token.split(".")[1]
    claims: dict[str, object] = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return claims
