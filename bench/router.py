"""The time of a decision of the router: `python -m bench.router`, for the sample table and a large one."""

import random
import re
import statistics
import time
from collections.abc import Callable

from a2a_hub.boundaries.kinds import Public
from a2a_hub.routing.parser import load, unset_variables
from a2a_hub.routing.patterns import compile_all
from a2a_hub.routing.router import Router
from a2a_hub.routing.routes import HubProfile, Route, RouteTable
from bench.report import Target, at_most
from local.functions import ROOT

ROUTES = 1_000
MAX_MICROSECONDS = 200
TEXT_BYTES = 2_000
TEXTS = 300
SYLLABLES = re.findall("[a-z]+", "ka mi to ra ne so pu le vi xo qua ster ing pro con ment tion al re un")
KATAKANA = [chr(code) for code in range(ord("ア"), ord("ン"))]
KANJI = [chr(code) for code in range(ord("一"), ord("一") + 1_500)]


def run() -> list[Target]:
    """Print the cost of loading and choosing, each text being new to the router; return the target for a large table."""
    print("\nThe router")
    source = (ROOT / "routes.toml").read_text(encoding="utf-8")
    variables = dict.fromkeys(unset_variables(source, {}), "https://agent.example")
    print(f"  sample table: load {milliseconds(lambda: load(source, variables=variables)):.1f} ms", end=", ")
    sample = load(source, variables=variables)
    print(f"make a router {milliseconds(lambda: Router(sample)):.1f} ms")
    router, chance = Router(sample), random.Random(1)
    print(f"  sample table: compile every pattern, in the background {milliseconds(compile_all):.1f} ms")
    questions = (ROOT / "evaluation" / "routing.tsv").read_text(encoding="utf-8").splitlines()
    report("sample table, questions", router, [line.split("\t")[0] for line in questions if "\t" in line])
    report("sample table, 2 kB", router, [english(chance) for _ in range(TEXTS)])

    table = large_table(chance)
    print(f"  {ROUTES} routes: make a router {milliseconds(lambda: Router(table)):.0f} ms")
    router = Router(table)
    medians = [
        report(f"{ROUTES} routes, 2 kB English", router, [english(chance) for _ in range(TEXTS)]),
        report(f"{ROUTES} routes, 2 kB Japanese", router, [japanese(chance) for _ in range(TEXTS)]),
    ]
    plain = ["lorem ipsum dolor sit amet, " * 72 + str(number) for number in range(TEXTS)]
    medians.append(report(f"{ROUTES} routes, 2 kB without any rule", router, [text[:TEXT_BYTES] for text in plain]))
    wanted = f"a table of {ROUTES} routes decides 2 kB in ≤ {MAX_MICROSECONDS} µs"
    return [at_most(wanted, max(medians), MAX_MICROSECONDS, shown="{:.0f} µs")]


def report(name: str, router: Router, texts: list[str]) -> float:
    """Print the median and the 99th percentile of one decision for each text; return the median, in µs."""
    durations = []
    rules: dict[str, int] = {}
    for text in texts:
        start = time.perf_counter_ns()
        choice = router.choose(text)
        durations.append((time.perf_counter_ns() - start) / 1_000)
        rules[choice.rule] = rules.get(choice.rule, 0) + 1
    tail = statistics.quantiles(durations, n=100)[98]
    shares = ", ".join(f"{count} by {rule}" for rule, count in sorted(rules.items()))
    middle = statistics.median(durations)
    print(f"  {name:34} median {middle:6.0f} µs   p99 {tail:6.0f} µs   ({shares})")
    return middle


def milliseconds(work: Callable[[], object]) -> float:
    """Return the milliseconds of the first run of `work`, as at a cold start."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1_000


def large_table(chance: random.Random) -> RouteTable:
    """Return routes of ten keywords and two patterns each, half of them Japanese, and a default."""
    routes = []
    for number in range(ROUTES):
        english_words = [word(chance) if at else f"{word(chance)} {word(chance)}" for at in range(5)]
        pair = rf"\b{word(chance)}s?\b.*\b(?:{word(chance)}|{word(chance)})\b"
        pair_ja = f"{word_ja(chance)}.*(?:{word_ja(chance)}|{word_ja(chance)})"
        keywords = (*english_words, *(word_ja(chance) for _ in range(5)))
        routes.append(route(f"route-{number}", priority=number + 1, keywords=keywords, patterns=(pair, pair_ja)))
    return RouteTable(hub=HubProfile(), routes=(*routes, route("other", default=True)))


def route(
    id_: str,
    *,
    priority: int = 0,
    keywords: tuple[str, ...] = (),
    patterns: tuple[str, ...] = (),
    default: bool = False,
) -> Route:
    """Return a route of which only the rules matter."""
    return Route(
        id=id_,
        name=id_,
        name_ja=id_,
        description=id_,
        description_ja=id_,
        keywords=keywords,
        patterns=patterns,
        priority=priority,
        url="https://agent.example",
        boundary=Public(),
        default=default,
    )


def word(chance: random.Random) -> str:
    """Return an English-looking word of three to five syllables."""
    return "".join(chance.choices(SYLLABLES, k=chance.randint(3, 5)))


def word_ja(chance: random.Random) -> str:
    """Return a word of two to five katakana or kanji."""
    return "".join(chance.choices(chance.choice((KATAKANA, KANJI)), k=chance.randint(3, 5)))


def english(chance: random.Random) -> str:
    """Return about 2 kB of words, of which a few happen to be keywords."""
    text = ""
    while len(text) < TEXT_BYTES:
        text += word(chance) + chance.choice((" ", " ", ", ", ". "))
    return text


def japanese(chance: random.Random) -> str:
    """Return about 2 kB of UTF-8."""
    text = ""
    while len(text.encode()) < TEXT_BYTES:
        text += word_ja(chance) + chance.choice("のをはがに、。")
    return text


if __name__ == "__main__":
    print("Targets", *run(), sep="\n")
