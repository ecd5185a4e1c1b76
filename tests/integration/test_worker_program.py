"""A worker as a program: what it cannot do is told in one line, without a stack."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.http_server import Exchange, HttpServer

ROOT = Path(__file__).parents[2]
PROGRAMS = (("-m", "workers.echo", "qa"), ("-m", "workers.shell_command", "--role", "qa", "--", "wc"))


def worker(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("module", ["workers.echo", "workers.shell_command"])
def test_help_says_what_it_does_and_needs_without_any_setting(module: str) -> None:
    done = worker("-m", module, "--help", TASKS_URL="")
    told = " ".join(done.stdout.split())
    assert (done.returncode, done.stderr) == (0, "")
    assert told.startswith(f"usage: python -m {module} [-h]")
    assert "TASKS_URL, the address of the tasks function, and WORKER_TOKEN" in told
    assert "whose tasks it takes" in told
    assert "`" not in told


def test_missing_packages_are_told() -> None:
    # Without those of an environment.
    done = worker("-S", "-m", "workers.workspace", "--help", PYTHONPATH="")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.endswith("is not installed; install this worker's packages: workers/workspace/requirements.txt")


@pytest.mark.parametrize("arguments", PROGRAMS)
@pytest.mark.parametrize("url", ["", "127.0.0.1:8080"])
def test_an_address_that_is_none_is_told(arguments: tuple[str, ...], url: str) -> None:
    done = worker(*arguments, TASKS_URL=url, WORKER_TOKEN="t")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"TASKS_URL is {url!r}: it has to be the address of the tasks function, which `make run` prints"
    ]


@pytest.mark.parametrize("arguments", PROGRAMS)
def test_a_refusal_is_told_and_is_the_end(arguments: tuple[str, ...]) -> None:
    def refuse(exchange: Exchange) -> None:
        problem = b'{"reason": "UNAUTHENTICATED", "detail": "The bearer token is not valid here"}'
        exchange.answer(401, problem, content_type="application/problem+json")

    with HttpServer(refuse) as function:
        done = worker(*arguments, TASKS_URL=function.url, WORKER_TOKEN="old")
    assert done.returncode == 1
    assert done.stderr.splitlines() == ["the tasks function rejects this worker: The bearer token is not valid here"]
