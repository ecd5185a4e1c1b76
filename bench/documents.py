"""How fast documents are indexed and questions on them answered, and how many rightly: `python -m bench.documents`."""

import shutil
import statistics
import tempfile
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from bench.document_corpus import Fact, write
from bench.document_questions import EVERYDAY_SETS, HARD_SETS, SETS, Counts, counts
from bench.report import Target
from functions.docqa.engine import DocumentQA
from functions.docqa.search import index

DOCUMENTS = 1_700
MOST_MILLISECONDS = 15
LEAST_MEGABYTES = 2.0
QUESTIONS = 120
RIGHT, CITED, ABSTAINED = 0.95, 0.98, 0.95


def run() -> list[Target]:
    """Prints what indexing and asking cost and how the labelled questions were answered; the targets for them."""
    folder = Path(tempfile.mkdtemp(prefix="bench-documents-"))
    try:
        return [*_speed(folder), *_answers()]
    finally:
        shutil.rmtree(folder)


def _speed(folder: Path) -> list[Target]:
    print("\nQuestions on documents")
    corpus, path = folder / "corpus", folder / "index.sqlite3"
    facts = write(corpus, documents=DOCUMENTS)
    megabytes = sum(file.stat().st_size for file in corpus.iterdir()) / 1e6
    built, used = _seconds(corpus, path)
    reused, _ = _seconds(corpus, path)
    with closing(DocumentQA.open(corpus, path)) as engine:
        engine.answer(facts[0].question)
        asked = facts[:: len(facts) // QUESTIONS]
        times, used_times, right = _asked(engine, asked)
    median, slow = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    processor = statistics.median(used_times)
    print(
        f"  {len(facts)} passages, {megabytes:.1f} MB: indexed in {built:.1f} s, {used:.1f} s of processor time; "
        f"an index that is up to date is ready in {reused * 1000:.0f} ms"
    )
    print(
        f"  {len(asked)} questions: p50 {median:.1f} ms, p95 {slow:.1f} ms, {processor:.1f} ms of processor time (p50), "
        f"{right} answered rightly"
    )
    rate = megabytes / used
    return [
        Target(
            wanted=f"a question on {len(facts)} passages is answered in < {MOST_MILLISECONDS} ms (p50)",
            measured=f"{median:.1f} ms",
            met=median < MOST_MILLISECONDS,
        ),
        Target(
            wanted=f"documents are indexed at ≥ {LEAST_MEGABYTES:g} MB for each second of one processor",
            measured=f"{rate:.2f} MB/s",
            met=rate >= LEAST_MEGABYTES,
        ),
    ]


def _seconds(corpus: Path, path: Path) -> tuple[float, float]:
    """What an index brought up to date took: on the clock, and of the processor."""
    wall, processor = time.perf_counter(), time.process_time()
    index.update(corpus, path)
    return time.perf_counter() - wall, time.process_time() - processor


def _asked(engine: DocumentQA, asked: list[Fact]) -> tuple[list[float], list[float], int]:
    """Milliseconds on the clock and of the processor for each question, and how many were answered rightly."""
    times, used, right = [], [], 0
    for fact in asked:
        start, processor = time.perf_counter(), time.process_time()
        answer = engine.answer(fact.question)
        times.append((time.perf_counter() - start) * 1000)
        used.append((time.process_time() - processor) * 1000)
        right += fact.expected in answer.text
    return times, used, right


def _answers() -> list[Target]:
    together = _printed("labelled questions", SETS)
    _printed("hard questions", HARD_SETS)
    _printed("everyday questions", EVERYDAY_SETS)
    found = together.shares
    questions = together.answerable + together.unanswerable
    return [
        Target(
            wanted=f"{questions} questions: {RIGHT:.0%} right, {CITED:.0%} cited, {ABSTAINED:.0%} rightly not answered",
            measured=f"{found.right:.1%} {found.cited:.1%} {found.abstained:.1%}",
            met=found.right >= RIGHT and found.cited >= CITED and found.abstained >= ABSTAINED,
        )
    ]


def _printed(title: str, sets: Mapping[str, tuple[Path, Path]]) -> Counts:
    """All of them together, after a table of each."""
    print(f"  {title:26} {'right':>8} {'or shown':>9} {'cited':>8} {'abstained':>10}")
    counted = {name: counts(*where) for name, where in sets.items()}
    counted["all together"] = together = sum(counted.values(), start=Counts())
    for name, each in counted.items():
        found = each.shares
        print(
            f"    {name:24} {found.right:8.1%} {found.shown:9.1%} {found.cited:8.1%} {found.abstained:10.1%}"
        )
    return together


if __name__ == "__main__":
    print(*run(), sep="\n")
