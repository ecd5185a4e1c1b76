"""`python -m bench`: every benchmark, or those that `--only` names; prints what was measured, and asserts nothing."""

import argparse
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from bench import cold_start, documents, hop, report, router, streams, task_store, throughput
from bench.load import SERVER_PROCESSOR, LoadFailed, pinned_to
from bench.report import Target
from bench.servers import NotServing, Settings
from local.functions import ROOT

BENCHMARKS: dict[str, Callable[[Settings], list[Target]]] = {
    "throughput": throughput.run,
    "hop": hop.run,
    "boundary": hop.run_boundary,
    "gate": hop.run_gate,
    "cold-start": cold_start.run,
    "streams": streams.run,
    "router": lambda _: router.run(),
    "documents": lambda _: documents.run(),
    "task-store": task_store.run,
    "telemetry": throughput.run_telemetry,
}


def main() -> int:
    """Return 0 if everything could be measured, whatever the numbers are."""
    options = _options()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    folder = ROOT / ".run" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    targets: list[Target] = []
    not_measured: list[str] = []
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    print(f"{now} · {report.machine()}")
    place = "each on a processor of its own" if pinned_to(SERVER_PROCESSOR) else "not pinned to processors"
    print(f"{options.rounds} rounds of {options.seconds:g} s, medians (least-most)")
    print(f"servers and load: {place}")
    settings = Settings(
        rounds=options.rounds,
        seconds=options.seconds,
        folder=folder,
        against=options.against and options.against.resolve(),
    )
    for name in options.only:
        try:
            targets += BENCHMARKS[name](settings)
        except (LoadFailed, NotServing) as problem:
            not_measured.append(f"  {name}: {problem}")
    for title, lines in (("Targets", targets), ("Not measured", not_measured)):
        if lines:
            print(f"\n{title}", *lines, sep="\n")
    return 1 if not_measured else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    add = parser.add_argument
    add(
        "--only",
        nargs="+",
        choices=BENCHMARKS,
        default=list(BENCHMARKS),
        metavar="NAME",
        help=f"of {', '.join(BENCHMARKS)}",
    )
    add("--rounds", type=int, default=5, help="measurements of each contestant (5)")
    add("--seconds", type=float, default=3.0, help="length of one measurement under load (3)")
    add(
        "--against", type=Path, metavar="CHECKOUT", help="an older checkout, whose hub takes part in throughput and hop"
    )
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
