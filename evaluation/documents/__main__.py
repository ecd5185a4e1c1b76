"""Print how labelled questions are answered: `python -m evaluation.documents [--bm25] [--misses] [SET…]`."""

import argparse
from collections.abc import Callable
from itertools import takewhile

from evaluation.documents.measure import bm25, engine, judged, names
from hubctl.live.corpus_questions import report


def main(write: Callable[[str], object] = print) -> None:
    """Print a line for each set, one for each language, and one for all."""
    parser = argparse.ArgumentParser(prog="python -m evaluation.documents")
    parser.add_argument("sets", nargs="*", default=names(), metavar="SET")
    parser.add_argument(
        "--bm25", action="store_true", help="show what plain BM25 finds, instead of document QA's answers"
    )
    parser.add_argument("--misses", action="store_true", help="print each wrong or missing answer")
    arguments = parser.parse_args()
    answering = bm25 if arguments.bm25 else engine
    lines = report([each for name in arguments.sets for each in judged(name, answering)])
    for line in lines if arguments.misses else takewhile(bool, lines):
        write(line)


if __name__ == "__main__":
    main()
