"""Prints how the verifier judges labelled sentences: `python -m evaluation.verifier [--misses] [FILE…]`."""

import argparse
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from evaluation.verifier.measure import FAITHFUL, interval, measure

_HERE = Path(__file__).parent


def main(write: Callable[[str], object] = print) -> None:
    """Print a line for each language and kind, and the misses if they are asked for."""
    parser = argparse.ArgumentParser(prog="python -m evaluation.verifier")
    parser.add_argument("files", nargs="*", type=Path, default=[_HERE / "en.jsonl", _HERE / "ja.jsonl"])
    parser.add_argument("--misses", action="store_true", help="print each sentence that was judged wrongly")
    arguments = parser.parse_args()
    measured = measure(arguments.files)
    totals: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for language, kind, right, count in measured.rows():
        for index, value in enumerate((right, count)):
            totals["kept" if kind == FAITHFUL else "rejected"][index] += value
        write(_line(language, kind, right, count))
    for name, (right, count) in totals.items():
        write(_line("all", name, right, count))
    if arguments.misses:
        for miss in measured.misses:
            write(f"\n{miss.kind} {' '.join(miss.flaws)}\n  {miss.item['sentence']}\n  {miss.item['question']}")
            for each in miss.item["evidence"]:
                if each["id"] in miss.item["cites"]:
                    write(f"  [{each['id']}] {each.get('context')} {each['text']}")


def _line(language: str, kind: str, right: int, count: int) -> str:
    low, high = interval(right, count)
    return f"{language:4} {kind:24} {right:4} of {count:4}  {right / count:5.0%}  ({low:.0%} to {high:.0%})"


if __name__ == "__main__":
    main()
