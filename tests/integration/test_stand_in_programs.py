"""The stand-ins that are started by hand say why they cannot start."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from local.ports import LOOPBACK

ROOT = Path(__file__).parents[2]


def refusal(module: str, port: int) -> str:
    done = subprocess.run(
        [sys.executable, "-m", module, "--port", str(port)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize("module", ["tests.fakes.gemini_enterprise", "tests.conformance"])
def test_a_port_that_cannot_be_had_is_told_with_the_way_to_another(module: str) -> None:
    with socket.create_server((LOOPBACK, 0)) as held:
        port = held.getsockname()[1]
        assert f"port {port} cannot be used (Address already in use): choose another" in refusal(module, port)
    assert "port 99999 cannot be used (ports end at 65535)" in refusal(module, 99999)
