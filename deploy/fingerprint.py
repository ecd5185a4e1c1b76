"""What a deployed function is made of, as one short text: when it is the same, there is nothing to deploy."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path


def fingerprint(bundle: Path, *, environment: Mapping[str, str], flags: Sequence[str]) -> str:
    """32 hexadecimal digits, which a label may hold; equal for equal files, environments and flags.

    The commit is left out: one that changes nothing in a bundle needs no deployment.
    """
    digest = hashlib.sha256()
    for path in sorted(bundle.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            digest.update(f"{path.relative_to(bundle)}\n".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    settings = {name: value for name, value in environment.items() if name != "COMMIT_SHA"}
    digest.update(json.dumps([settings, list(flags)], sort_keys=True).encode())
    return digest.hexdigest()[:32]
