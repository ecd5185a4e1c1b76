"""Credentials for the person's account, for one scope at a time: so what is not granted is missed only where it is needed."""

from collections.abc import Callable
from typing import Any

import google.auth
from google.auth import exceptions, impersonated_credentials
from google.oauth2 import service_account

_PLATFORM = "https://www.googleapis.com/auth/cloud-platform"


def credentials_of(*, user: str, account: str) -> Callable[[str], Any]:
    """For `user`, in whose name `account` may act, with its key or through IAM; without a user, those of this machine (ADC).

    What it gives raises GoogleAuthError, at the latest when it is used.
    """

    def credentials(scope: str) -> Any:
        if not user:
            return google.auth.default(scopes=[scope])[0]
        source = google.auth.default(scopes=[_PLATFORM])[0]
        if account:
            return impersonated_credentials.Credentials(  # type: ignore[no-untyped-call]
                source_credentials=source, target_principal=account, target_scopes=[scope], subject=user
            )
        if not isinstance(source, service_account.Credentials):
            raise exceptions.DefaultCredentialsError(  # type: ignore[no-untyped-call]
                "WORKSPACE_USER needs WORKSPACE_ACCOUNT, or the key of a service account"
            )
        return source.with_scopes([scope]).with_subject(user)

    return credentials
