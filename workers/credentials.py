"""How a worker says who it is: with the token of a named client, or as the service account that it runs as."""

import urllib.parse
import urllib.request
from collections.abc import Mapping

from workers.tasks_function import Credential

_METADATA = "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/identity"


def static_token(token: str) -> Credential:
    """The token of a client in the function's table (CLIENTS_FILE)."""
    return lambda: {"Authorization": f"Bearer {token}"}


def google_account(audience: str, *, metadata_url: str = _METADATA) -> Credential:
    """The account that this program runs as on Google Cloud, for the function's address as the audience."""
    query = urllib.parse.urlencode({"audience": audience})
    request = urllib.request.Request(f"{metadata_url}?{query}", headers={"Metadata-Flavor": "Google"})

    def headers() -> Mapping[str, str]:
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                bearer = f"Bearer {answer.read().decode()}"
        except OSError as problem:
            raise OSError(f"no Google account to be had, and no WORKER_TOKEN is set ({problem})") from problem
        # Cloud Run checks the second one, and leaves the first one whole for the function.
        return {"Authorization": bearer, "X-Serverless-Authorization": bearer}

    return headers


def from_environment(environ: Mapping[str, str]) -> Credential:
    """By `WORKER_TOKEN` where it is set, else the account, for the function at `TASKS_URL`."""
    token = environ.get("WORKER_TOKEN", "")
    return static_token(token) if token else google_account(environ["TASKS_URL"].rstrip("/"))
