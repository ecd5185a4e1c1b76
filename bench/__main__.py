"""`python -m bench`: every benchmark, or those that `--only` names; prints what was measured, and asserts nothing."""

import argparse
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from bench import hop, report, throughput
from bench.load import LoadFailed, generator
from bench.servers import NotServing
from bench.settings import Settings
from local.functions import ROOT
from local.lifeline import Lifeline

BENCHMARKS = {"throughput": throughput.run, "hop": hop.run}


def main() -> int:
    """0 when everything could be measured, whatever the numbers are."""
    options = _options()
    (ROOT / ".run").mkdir(exist_ok=True)
    try:
        load = generator(options.generator)
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        print(
            f"{now} · {report.machine()}\nload from {load.name}, {options.rounds} rounds of {options.seconds:g} s"
        )
        targets = []
        with Lifeline() as lifeline, tempfile.TemporaryDirectory(dir=ROOT / ".run") as folder:
            settings = Settings(
                rounds=options.rounds,
                seconds=options.seconds,
                generator=load,
                folder=Path(folder),
                lifeline=lifeline,
            )
            for name in options.only:
                targets += BENCHMARKS[name](settings)
    except (LoadFailed, NotServing) as problem:
        print(f"not measured: {problem}", file=sys.stderr)
        return 1
    if targets:
        print("\nTargets", *targets, sep="\n")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--only",
        nargs="+",
        choices=BENCHMARKS,
        default=list(BENCHMARKS),
        metavar="NAME",
        help=f"of {', '.join(BENCHMARKS)}",
    )
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each contestant (5)")
    parser.add_argument("--seconds", type=float, default=3.0, help="length of one measurement under load (3)")
    parser.add_argument(
        "--generator", choices=("auto", "wrk", "own"), default="auto", help="of the load (auto)"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
