"""A function's own tokens in a process of their own, since google-auth reads the environment when it is imported."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# Nothing listens there, and asking takes no time.
NO_METADATA = {"NO_GCE_CHECK": "true", "GCE_METADATA_HOST": "127.0.0.1:9", "GCE_METADATA_IP": "127.0.0.1:9"}


def service_tokens(environment: Mapping[str, str], *audiences: str) -> list[Any]:
    """A token for each audience, `access` being an access token; all are asked for at once. None where there was none."""
    unwanted = ("GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_CONFIG", "GCE_METADATA_ROOT", "HOME")
    inherited = {name: value for name, value in os.environ.items() if name not in unwanted}
    done = subprocess.run(
        [sys.executable, "-m", "tests.integration.service_tokens_program", *audiences],
        cwd=ROOT,
        env={**inherited, "HOME": os.devnull, "GCE_METADATA_DETECT_RETRIES": "1", **environment},
        capture_output=True,
        check=True,
        text=True,
    )
    tokens: list[Any] = json.loads(done.stdout)
    return tokens
