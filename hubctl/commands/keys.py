"""`hubctl keys rotate`: new signing keys, in Secret Manager or in local files, with the old public key accepted meanwhile."""

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from a2a_hub.identity.principal import Principal
from a2a_hub.telemetry import audit
from hubctl.commands.audit import audited
from hubctl.main import CommandError
from hubctl.project_files import SOURCE_TREE, project_file

_PUBLIC = re.compile(r"-----BEGIN PUBLIC KEY-----.+?-----END PUBLIC KEY-----\n?", re.DOTALL)


def run(arguments: argparse.Namespace, *, environment: Mapping[str, str], out: TextIO) -> int:
    """Return 0 after the rotation, 1 if gcloud refused a step of it. Raises CommandError."""
    if arguments.file or arguments.public:
        if not (arguments.file and arguments.public) or arguments.key:
            raise CommandError("files need both --file and --public, and no KEY")
        operator = audited(environment)
        _rotate_files(arguments.file, arguments.public, retire=arguments.retire)
        _record(operator, str(arguments.public), arguments)
        return 0
    if not arguments.key:
        raise CommandError("name a KEY (gate, hub, tasks, card), or --file and --public")
    if not (SOURCE_TREE / "deploy" / "keys.py").is_file():
        raise CommandError("the keys of a deployment are rotated from a checkout of the project, which has deploy.sh")
    config = (arguments.config or project_file("deploy.toml", option="--config")).resolve()
    command = [sys.executable, "-m", "deploy", "--config", str(config), "rotate-key", arguments.key]
    command += ["--retire"] * arguments.retire + ["--dry-run"] * arguments.dry_run
    path = os.pathsep.join((str(SOURCE_TREE), str(SOURCE_TREE / "shared")))
    operator = audited(environment)
    done = subprocess.run(command, cwd=SOURCE_TREE, env={**environment, "PYTHONPATH": path}, stdout=out, check=False)
    if not arguments.dry_run:
        # A rotation that stopped half-way has published the new key.
        _record(operator, arguments.key, arguments, outcome="failed" if done.returncode else None)
    return done.returncode


def _record(operator: Principal, key: str, arguments: argparse.Namespace, **fields: object) -> None:
    action = "retire" if arguments.retire else "rotate"
    audit.record("changed", operator, object="signing key", key=key, action=action, **fields)


def _rotate_files(private: Path, public: Path, *, retire: bool) -> None:
    """Replace the private key and put its public half first; the old public keys stay until `retire`."""
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

    known = _PUBLIC.findall(public.read_text(encoding="utf-8")) if public.exists() else []
    if retire:
        if not known:
            raise CommandError(f"{public} has no public key")
        public.write_text(known[0], encoding="utf-8")
        return
    key = ec.generate_private_key(ec.SECP256R1())
    spki = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    public.write_text("".join((spki, *known)), encoding="utf-8")
    new = private.with_name(f"{private.name}.new")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    new.replace(private)
