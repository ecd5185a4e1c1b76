"""Puts load on a server: with wrk where it is installed, else with `bench.keep_alive`, which needs nothing but Python."""

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bench.question import Question
from local.ports import LOOPBACK

_SCRIPT = Path(__file__).with_name("wrk.lua")


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """The result of one server under load. `generator_busy` is the share of one processor that the generator itself took."""

    requests: int
    requests_per_second: float
    p50_ms: float
    p99_ms: float
    generator_busy: float


class LoadFailed(Exception):
    """Some requests were not answered with 200, so that the numbers say nothing."""


class Generator(Protocol):
    """A program that keeps `connections` busy, each with one request at a time, for `seconds`."""

    name: str

    def run(self, port: int, question: Question, *, connections: int, seconds: float) -> Load:
        """Measure the load. Raises LoadFailed."""
        ...


class Wrk:
    """github.com/wg/wrk."""

    def __init__(self, program: str) -> None:
        self._program = program
        done = subprocess.run([program, "-v"], capture_output=True, text=True).stdout.split()
        self.name = " ".join(done[:2]) or "wrk"

    def run(self, port: int, question: Question, *, connections: int, seconds: float) -> Load:
        """See `Generator.run`."""
        command = [
            self._program,
            "-t1",
            f"-c{connections}",
            f"-d{max(1, round(seconds))}s",
            "-s",
            str(_SCRIPT),
        ]
        for name, value in question.headers.items():
            command += ["-H", f"{name}: {value}"]
        body = {"BENCH_BODY_HEAD": question.head, "BENCH_BODY_TAIL": question.tail}
        return _measured([*command, f"http://{LOOPBACK}:{port}/"], environment={**os.environ, **body})


class KeepAlive:
    """`bench.keep_alive`, in a process of its own."""

    name = "bench.keep_alive"

    def run(self, port: int, question: Question, *, connections: int, seconds: float) -> Load:
        """See `Generator.run`."""
        command = [sys.executable, "-m", "bench.keep_alive", str(port), str(connections), str(seconds)]
        order = {"headers": dict(question.headers), "head": question.head, "tail": question.tail}
        return _measured(command, environment=dict(os.environ), order=json.dumps(order))


def generator(name: str) -> Generator:
    """Return `wrk` or `own`; for `auto` wrk where it is installed."""
    program = "wrk" if name == "wrk" else shutil.which("wrk") if name == "auto" else None
    return Wrk(program) if program else KeepAlive()


def _measured(command: list[str], *, environment: dict[str, str], order: str = "") -> Load:
    before, started = _children_seconds(), time.monotonic()
    done = subprocess.run(command, env=environment, input=order, capture_output=True, text=True)
    busy = (_children_seconds() - before) / (time.monotonic() - started)
    try:
        totals = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        raise LoadFailed(f"{command[0]} ended with {done.returncode}: {done.stderr.strip()}") from None
    if totals["errors"] or not totals["requests"]:
        raise LoadFailed(f"{totals['errors']} of {totals['requests']} requests failed")
    return Load(
        requests=totals["requests"],
        requests_per_second=totals["requests"] / totals["seconds"],
        p50_ms=totals["p50_ms"],
        p99_ms=totals["p99_ms"],
        generator_busy=busy,
    )


def _children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
