"""Hundreds of tasks of all kinds while hubs, workers and the tasks function are killed at random."""

import os
import secrets
import sys
from pathlib import Path

import pytest

from tests.e2e.task_soak import soak

LEAST_TASKS = 500


def test_no_task_is_lost_done_twice_or_out_of_order_whoever_is_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`SOAK_TASKS` and `SOAK_SEED` make a longer run, or the same again."""
    tasks = int(os.environ.get("SOAK_TASKS", LEAST_TASKS))
    seed = int(os.environ.get("SOAK_SEED", secrets.randbelow(1_000_000)))
    made = soak(tmp_path, tasks=tasks, seed=seed)
    with capsys.disabled():
        sys.stdout.write(f"\n{made.report()}\n")
    assert not made.faults
    assert len(made.stored) >= tasks
    assert sum(made.kills.values()) >= 5
    assert made.begun_again
