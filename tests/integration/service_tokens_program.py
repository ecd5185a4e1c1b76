"""Asks for a function's own tokens, all at once: `python -m tests.integration.service_tokens_program AUDIENCE…`.

A program of its own, since google-auth reads the metadata server's address when it is imported. `access` stands for an access
token. Writes the tokens as a JSON list, null where there was none.
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

from a2a_hub.identity.default_credentials import DefaultCredentials
from a2a_hub.identity.service_tokens import TokenUnavailable

_tokens = DefaultCredentials()


def _token(audience: str) -> str | None:
    try:
        return _tokens.access_token() if audience == "access" else _tokens.id_token(audience)
    except TokenUnavailable:
        return None


if __name__ == "__main__":
    with ThreadPoolExecutor(8) as pool:
        sys.stdout.write(json.dumps(list(pool.map(_token, sys.argv[1:]))))
