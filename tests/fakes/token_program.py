"""A program that gets its tokens as a deployed function does: google-auth reads where the metadata server is when it is imported.

Each line on standard input is an audience, or nothing for an access token; the token, or "no token", is the line that comes back.
"""

import sys

from a2a_hub.identity.default_credentials import DefaultCredentials
from a2a_hub.identity.service_tokens import TokenUnavailable


def main() -> None:
    """Answers until its input ends."""
    tokens = DefaultCredentials()
    for line in sys.stdin:
        audience = line.strip()
        try:
            answer = tokens.id_token(audience) if audience else tokens.access_token()
        except TokenUnavailable:
            answer = "no token"
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
