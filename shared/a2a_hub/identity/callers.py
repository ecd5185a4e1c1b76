"""Finds out who sends a request: by the gate's signed header where a gate stands in front, else by the bearer token."""

from __future__ import annotations

from collections.abc import Sequence

from a2a_hub.a2a.errors import UNAUTHENTICATED, UNAVAILABLE, A2AError
from a2a_hub.http.messages import Request
from a2a_hub.identity import signed_principal
from a2a_hub.identity.principal import Principal
from a2a_hub.identity.signed_principal import OutOfTime, PrincipalSigner
from a2a_hub.identity.verifier import TokenVerifier, authenticate
from a2a_hub.telemetry.redacted import Redacted

AUTHORIZATION = "authorization"
_RETRY_AFTER_SECONDS = "5"


class Caller(Redacted, frozen=True, kw_only=True):
    """Who calls (None: anonymous, where that is allowed), and their own Authorization header, for boundaries that pass it on."""

    principal: Principal | None
    authorization: str | None = None


class Callers:
    """Identifies callers. `anonymous_principal` is who anonymous callers are taken for, all of them one.

    `token_header` is where the caller's own token is: API Gateway moves it away from Authorization.
    """

    def __init__(
        self,
        verifiers: Sequence[TokenVerifier],
        *,
        signer: PrincipalSigner | None = None,
        anonymous: bool = False,
        anonymous_principal: Principal | None = None,
        token_header: str = AUTHORIZATION,
    ) -> None:
        self._verifiers = tuple(verifiers)
        self._signer = signer
        self._anonymous = anonymous
        self._nobody = Caller(principal=anonymous_principal)
        self._token_header = token_header

    def identify(self, request: Request) -> Caller:
        """The caller. Raises UNAUTHENTICATED (401) or UNAVAILABLE (503).

        A principal header that is not the gate's refuses the request, even where a bearer token would have let it in.
        """
        headers = request.headers
        signed = headers.get(signed_principal.HEADER)
        if signed is not None and self._signer is not None:
            authorization = headers.get(signed_principal.TOKEN_HEADER)
            principal, same_token = self._verified(signed, request, authorization)
            return Caller(principal=principal, authorization=authorization if same_token else None)
        authorization = headers.get(self._token_header)
        if self._anonymous and not authorization:
            return self._nobody
        if self._anonymous and not self._verifiers:
            return Caller(principal=self._nobody.principal, authorization=authorization)
        return Caller(principal=authenticate(authorization, self._verifiers), authorization=authorization)

    def _verified(self, signed: str, request: Request, authorization: str | None) -> tuple[Principal, bool]:
        assert self._signer is not None, "who believes a gate has its key"
        try:
            verified = self._signer.verify(
                signed, method=request.method, path=request.path, authorization=authorization
            )
        except OutOfTime:
            # The caller's token is good: a 401 would have them look for another one.
            raise A2AError(
                UNAVAILABLE,
                "The request waited for too long on its way, or the clocks of the gate and the hub differ; try again",
                headers={"retry-after": _RETRY_AFTER_SECONDS},
            ) from None
        if verified is None:
            raise A2AError(
                UNAUTHENTICATED,
                "The request did not come through the gate",
                headers={"www-authenticate": 'Bearer realm="a2a", error="invalid_token"'},
            )
        return verified
