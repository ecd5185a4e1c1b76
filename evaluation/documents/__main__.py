"""Print how labelled questions are answered: `python -m evaluation.documents [--bm25] [--misses] [SET…]`."""

import argparse
from collections import Counter
from collections.abc import Callable

from evaluation.documents.measure import bm25, engine, judged, names
from hubctl.live.corpus_questions import Judged, Outcome


def main(write: Callable[[str], object] = print) -> None:
    """Print a line for each set, and one for all."""
    parser = argparse.ArgumentParser(prog="python -m evaluation.documents")
    parser.add_argument("sets", nargs="*", default=names(), metavar="SET")
    parser.add_argument(
        "--bm25", action="store_true", help="show what plain BM25 finds, instead of document QA's answers"
    )
    parser.add_argument("--misses", action="store_true", help="print each question with another outcome than is wanted")
    arguments = parser.parse_args()
    write(f"{'':16} {'answerable':>10} {'right':>6} {'wrong':>6} {'shown':>6}   {'unanswerable':>12} {'asserted':>8}")
    together: list[Judged] = []
    for name in arguments.sets:
        results = judged(name, bm25 if arguments.bm25 else engine)
        together += results
        write(_line(name, results))
        for each in results if arguments.misses else ():
            if each.outcome != (Outcome.RIGHT if each.question.answerable else Outcome.ABSTAINED):
                write(f"    {each.outcome}: {each.question.question} → {each.record['answer']}")
    write(_line("all", together))


def _line(name: str, results: list[Judged]) -> str:
    of = Counter(each.outcome for each in results if each.question.answerable)
    others = Counter(each.outcome for each in results if not each.question.answerable)
    right, wrong, shown = of[Outcome.RIGHT], of[Outcome.WRONG], of[Outcome.SHOWN]
    return f"{name:16} {of.total():10} {right:6} {wrong:6} {shown:6}   {others.total():12} {others[Outcome.WRONG]:8}"


if __name__ == "__main__":
    main()
