"""Starts and ends the resident gcloud."""

import contextlib
import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

_HERE = Path(__file__).parent


@contextlib.contextmanager
def warm_gcloud(installed: str) -> Iterator[Path]:
    """A folder whose `gcloud` does what the installed one does, from a process that has loaded it."""
    # Not a folder of pytest: the path of a socket is short.
    with tempfile.TemporaryDirectory(prefix="gcloud-") as name:
        folder = Path(name)
        environment = {"PATH": os.environ["PATH"], "HOME": name, "CLOUDSDK_CONFIG": str(folder / "config")}
        where = "value[separator=' '](basic.python_location,installation.sdk_root)"
        asked = [installed, "info", f"--format={where}"]
        told = subprocess.run(asked, env=environment, capture_output=True, text=True, check=True).stdout
        python, sdk = told.split()
        door, command = folder / "door", folder / "gcloud"
        asking = shlex.join([python, "-IS", str(_HERE / "client.py"), str(door)])
        command.write_text(f'#!/bin/sh\nexec {asking} "$@"\n')
        command.chmod(0o755)
        with subprocess.Popen(
            [python, str(_HERE / "server.py"), sdk, str(door)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as resident:
            assert resident.stdin
            assert resident.stdout
            assert resident.stdout.readline() == "ready\n"
            yield folder
            resident.stdin.close()
