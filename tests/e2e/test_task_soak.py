"""A slice of `make soak`: tasks of all kinds while hubs, workers and the tasks function are killed at random."""

import secrets
import sys
from pathlib import Path

import pytest

from tests.e2e.task_soak import soak

_SECONDS = 15


def test_no_task_is_lost_done_twice_or_out_of_order_whoever_is_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = soak(tmp_path, seconds=_SECONDS, seed=secrets.randbelow(1_000_000), away_seconds=(1.0, 3.0))
    with capsys.disabled():
        sys.stdout.write(f"\n{made.report()}\n")
    assert not made.faults
    assert made.accepted
    assert made.disruptions
