"""Document QA over many documents (`python -m bench.documents 170000`); `python -m evaluation.documents` measures its answers."""

import random
import resource
import statistics
import sys
import tempfile
import time
import tomllib
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bench.report import Target, at_least, at_most
from functions.docqa.engine import DocumentQA
from functions.docqa.retrieval import index

_WORDS = Path(__file__).with_suffix(".toml")
DOCUMENTS, MILLION = 17_000, 170_000
MAX_MILLISECONDS = {DOCUMENTS: 35, MILLION: 150}
MAX_READY_MILLISECONDS = 1_000
MIN_MEGABYTES = 2.0
QUESTIONS, MIN_RIGHT = 60, 57


@dataclass(frozen=True, slots=True)
class Fact:
    """A question and what its answer must hold."""

    question: str
    expected: str


def write(folder: Path, *, documents: int, seed: int = 7) -> list[Fact]:
    """Write `documents` Markdown files of six sections (and passages) each; return the facts in them, in their order."""
    choose = random.Random(seed)
    words = tomllib.loads(_WORDS.read_text(encoding="utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    facts = []
    for number in range(documents):
        of = words["ja" if number % 2 else "en"]
        site = of["site"].format(place=choose.choice(of["places"]), number=number)
        lines = [f"# {of['title'].format(site=site)}", ""]
        for thing in choose.sample(of["things"], 6):
            about = {"thing": thing, "site": site, "days": choose.randint(2, 90), "act": choose.choice(of["acts"])}
            filler, separator = choose.sample(of["filler"], 2), of["separator"]
            rule = of["rule"].format_map(about)
            lines += [f"## {thing}", "", separator.join((*filler, rule)), "", separator.join(filler * 2), ""]
            facts.append(Fact(of["question"].format_map(about), of["expected"].format_map(about)))
        (folder / f"rules-{number:05}.md").write_text("\n".join(lines), encoding="utf-8")
    return facts


def run(documents: int = DOCUMENTS) -> list[Target]:
    """Print the cost of indexing and asking; return the targets for them."""
    with tempfile.TemporaryDirectory(prefix="bench-documents-") as folder:
        return _speed(Path(folder), documents)


def _speed(folder: Path, documents: int) -> list[Target]:
    print("\nQuestions on documents")
    corpus, path = folder / "corpus", folder / "index.sqlite3"
    facts = write(corpus, documents=documents)
    megabytes = sum(file.stat().st_size for file in corpus.iterdir()) / 1e6
    built, used = _seconds(corpus, path)
    reading = resource.getrusage(resource.RUSAGE_CHILDREN)
    reused, _ = _seconds(corpus, path)
    with closing(DocumentQA(corpus, path)) as engine:
        engine.answer(facts[0].question)
        sample = facts[1 :: len(facts) // QUESTIONS][:QUESTIONS]
        times, used_times, right = _timed_answers(engine, sample)
    median, slow = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    processor = statistics.median(used_times)
    print(
        f"  {len(facts)} passages, {megabytes:.1f} MB: indexed in {built:.1f} s, {used:.1f} s of processor time beside "
        f"{reading.ru_utime + reading.ru_stime:.1f} s of the reader's; the index has {path.stat().st_size / 1e6:.0f} MB"
    )
    print(
        f"  {len(sample)} questions: p50 {median:.1f} ms, p95 {slow:.1f} ms, {processor:.1f} ms of the processor (p50)"
    )
    most = MAX_MILLISECONDS.get(documents, MAX_MILLISECONDS[DOCUMENTS])
    asking = f"a question on {len(facts)} passages takes ≤ {most} ms of a processor (p50)"
    ready = f"an index of {len(facts)} passages that is up to date is ready in ≤ {MAX_READY_MILLISECONDS} ms"
    finding = f"{MIN_RIGHT} of {QUESTIONS} generated facts are found among {len(facts)} passages"
    indexing = f"documents are indexed at ≥ {MIN_MEGABYTES:g} MB for each second of one processor, reading apart"
    return [
        at_least(finding, right, MIN_RIGHT, shown="{:.0f}"),
        at_most(asking, processor, most, shown="{:.1f} ms"),
        at_most(ready, reused * 1000, MAX_READY_MILLISECONDS, shown="{:.0f} ms"),
        at_least(indexing, megabytes / used, MIN_MEGABYTES, shown="{:.2f} MB/s"),
    ]


def _seconds(corpus: Path, path: Path) -> tuple[float, float]:
    """Return the time of an index update: on the clock, and of the processor."""
    wall, processor = time.perf_counter(), time.process_time()
    index.update(corpus, path)
    return time.perf_counter() - wall, time.process_time() - processor


def _timed_answers(engine: DocumentQA, facts: list[Fact]) -> tuple[list[float], list[float], int]:
    """Return milliseconds on the clock and of the processor for each question, and the number of right answers."""
    times, used, right = [], [], 0
    for fact in facts:
        start, processor = time.perf_counter(), time.process_time()
        answer = engine.answer(fact.question)
        times.append((time.perf_counter() - start) * 1000)
        used.append((time.process_time() - processor) * 1000)
        right += fact.expected in answer.text
    return times, used, right


if __name__ == "__main__":
    print(*run(int(sys.argv[1]) if sys.argv[1:] else DOCUMENTS), sep="\n")
