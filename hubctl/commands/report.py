"""`hubctl report`: the use of hubs, from their log lines: turns, outcomes, unanswered questions, slow turns, failures."""

import argparse
import statistics
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TextIO

import msgspec
from msgspec import Struct

from a2a_hub.telemetry.outcome import Outcome
from a2a_hub.text.normalization import normalise
from hubctl.console import row, table_head
from hubctl.log_lines import Fields, in_order, read_cloud_logging, read_lines, time_of

_FILTER = (
    "jsonPayload.tokens:* OR jsonPayload.composed.tokens:*"
    ' OR (jsonPayload.function="hub" AND (jsonPayload.route:* OR jsonPayload.feedback:*))'
)
_MAX_SHOWN = 10
_DEFAULT = "default"
_OF_A_TURN = ("route", "requestId", "outcome")

Row = dict[str, Any]


def run(arguments: argparse.Namespace, *, environment: Mapping[str, str], out: TextIO) -> int:
    """Return 0 after a report, 1 if there was no turn to report."""
    if arguments.file is None:
        project = arguments.project or environment.get("GOOGLE_CLOUD_PROJECT")
        lines = read_cloud_logging(_FILTER, since=arguments.since, project=project)
    else:
        lines = read_lines(arguments.file)
    earliest = datetime.now(UTC) - arguments.since
    # A line without a time is of a file that the operator has chosen.
    report = report_of(line for line in lines if (time_of(line) or earliest) >= earliest)
    if arguments.json:
        print(msgspec.json.format(msgspec.json.encode(report)).decode(), file=out)
    else:
        print("\n".join(report_text(report)), file=out)
    return 0 if report.turns else 1


class Report(Struct, kw_only=True):
    """The whole report. `default_share` is that of the turns that no rule matched; the lists begin with the most."""

    first: datetime | None = None
    last: datetime | None = None
    turns: int = 0
    callers: int = 0
    default_share: float = 0.0
    outcomes: dict[str, int] = {}
    days: dict[str, int] = {}
    routes: dict[str, Row] = {}
    unanswered: list[Row] = []
    slowest: list[Row] = []
    failures: list[Row] = []
    safety: list[Row] = []
    """The matches of the safety check, by route, direction and filters."""
    tokens: list[Row] = []
    """The tokens that answers of models took, by function and model."""


def report_of(lines: Iterable[Fields]) -> Report:
    """Return the report of these lines; lines without a turn, and dry runs, are left out."""
    by_request: dict[str, Row] = {}
    rated: dict[str, tuple[str, str]] = {}
    safety: Counter[tuple[str, str, str]] = Counter()
    tokens: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for line in in_order(lines):
        for answer in (line, line.get("composed") or {}):
            if used := answer.get("tokens"):
                prompt, *output = (int(used.get(name, 0)) for name in ("prompt", "answer", "thoughts"))
                counts = {"answers": 1, "input": prompt, "output": sum(output)}
                tokens[str(line.get("function")), str(answer.get("model"))].update(counts)
        if verdict := line.get("feedback"):
            # Who rates an answer again has thought better of it.
            rated[str(line.get("turn") or line.get("requestId"))] = str(line.get("route")), str(verdict)
        elif filters := line.get("filters"):
            safety[str(line.get("route")), str(line.get("direction")), ", ".join(filters)] += 1
        elif _is_of_a_turn(line):
            # A turn that fails after its request was answered has a second line, which is right.
            by_request.setdefault(str(line["requestId"]), {}).update(line)
    turns = list(by_request.values())
    ratings = Counter(rated.values())
    if not turns:
        return Report()
    times = sorted(filter(None, map(time_of, turns)))
    routes = _grouped((str(each["route"]), each) for each in turns)
    return Report(
        first=times[0] if times else None,
        last=times[-1] if times else None,
        turns=len(turns),
        callers=len({each["principal"] for each in turns if _has_caller(each)}),
        default_share=sum(each.get("rule") == _DEFAULT for each in turns) / len(turns),
        outcomes=_outcomes(turns),
        days=dict(sorted(Counter(each.date().isoformat() for each in times).items())),
        routes={
            route: _use(of_route) | {verdict: ratings[route, verdict] for verdict in ("good", "bad")}
            for route, of_route in sorted(routes.items())
        },
        unanswered=_unanswered(turns),
        slowest=[
            {"request": each["requestId"], "agent_ms": each.get("downstreamMs"), "ms": _ms(each)}
            | {name: each[name] for name in ("route", "outcome")}
            for each in sorted(turns, key=_ms, reverse=True)[:_MAX_SHOWN]
        ],
        failures=_failures(turns),
        safety=[
            {"route": route, "direction": direction, "filters": filters, "count": count}
            for (route, direction, filters), count in safety.most_common()
        ],
        tokens=[{"function": function, "model": model} | of for (function, model), of in sorted(tokens.items())],
    )


def _is_of_a_turn(line: Fields) -> bool:
    """Return True for the line of a turn; opening a cited document is not a turn."""
    return line.get("function") == "hub" and line.get("kind") != "document" and all(map(line.get, _OF_A_TURN))


def _has_caller(turn: Fields) -> bool:
    """Return True if the line names a caller, and not the function that had a stored turn run."""
    return not str(turn.get("principal") or "function:").startswith("function:")


def _use(turns: Sequence[Fields]) -> Row:
    times = sorted(map(_ms, turns))
    p95 = times[min(len(times) - 1, int(len(times) * 0.95))]
    return {"turns": len(turns), "outcomes": _outcomes(turns), "median_ms": statistics.median(times), "p95_ms": p95}


def _unanswered(turns: Sequence[Fields]) -> list[Row]:
    """Return the questions without an answer, equal ones together; without texts in the log, those of a route."""
    groups = _grouped(
        ((_words(str(each.get("text") or "")), str(each["route"])), each)
        for each in turns
        if each["outcome"] == Outcome.UNANSWERED
    )
    rows = [{"question": of[0].get("text"), "route": route, "count": len(of)} for (_, route), of in groups.items()]
    return sorted(rows, key=_count)[:_MAX_SHOWN]


def _failures(turns: Sequence[Fields]) -> list[Row]:
    groups = _grouped(
        ((str(each["route"]), str(each.get("fault"))), each) for each in turns if each["outcome"] == Outcome.FAILED
    )
    rows = [
        {"route": route, "fault": fault, "count": len(of), "cause": of[-1].get("cause"), "remedy": of[-1].get("remedy")}
        for (route, fault), of in groups.items()
    ]
    return sorted(rows, key=_count)


def _words(text: str) -> str:
    return " ".join("".join(c if unicodedata.category(c)[0] in "LN" else " " for c in normalise(text)).split())


def _outcomes(turns: Sequence[Fields]) -> dict[str, int]:
    return dict(Counter(str(each["outcome"]) for each in turns).most_common())


def _ms(turn: Fields) -> float:
    try:
        return float(turn.get("ms") or 0.0)
    except (TypeError, ValueError):
        return 0.0


def _count(row: Row) -> int:
    return -int(row["count"])


def _grouped(pairs: Iterable[tuple[Any, Fields]]) -> dict[Any, list[Fields]]:
    groups: dict[Any, list[Fields]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups


def report_text(report: Report) -> Iterator[str]:
    """Yield the report's lines for a person."""
    if not report.turns:
        yield "no turn of a hub is in these lines"
        return
    span = f"{report.first:%Y-%m-%d %H:%M} to {report.last:%Y-%m-%d %H:%M} UTC: " if report.first else ""
    yield f"{span}{report.turns} turns of {report.callers} callers; {report.default_share:.0%} by the default route"
    yield ", ".join(f"{count} {outcome}" for outcome, count in report.outcomes.items())
    if len(report.days) > 1:
        yield ", ".join(f"{day[5:]}: {count}" for day, count in report.days.items())
    routes = [use | use["outcomes"] | {"route": route} for route, use in report.routes.items()]
    names = "route:20 turns:6 answered:8 unanswered:10 failed:6 median_ms:9 p95_ms:9 good:4 bad:4"
    yield from _table(names, routes, missing="0")
    yield from _table("count:6 route:20 question:80", report.unanswered, title="Unanswered", missing="(not logged)")
    yield from _table("ms:9 route:20 outcome:10 request:36", report.slowest, title="Slowest")
    failures = [each | {"fix": each["remedy"] or each["cause"]} for each in report.failures[:_MAX_SHOWN]]
    yield from _table("count:6 route:20 fault:16 fix:90", failures, title="Failures")
    yield from _table("count:6 route:20 direction:9 filters:60", report.safety, title="Safety check")
    yield from _table("function:20 model:40 answers:8 input:12 output:12", report.tokens, title="Tokens")


def _table(columns: str, rows: Sequence[Row], *, title: str = "Routes", missing: str = "") -> Iterator[str]:
    """Yield a table with these columns, each a name and a width."""
    if rows:
        names = [each.partition(":")[0] for each in columns.split()]
        widths = [int(each.partition(":")[2]) for each in columns.split()]
        yield from ("", title, *table_head([name.replace("_", " ") for name in names], widths))
        for each in rows:
            values = (each.get(name) for name in names)
            yield row(
                [f"{v:.0f}" if isinstance(v, float) else str(missing if v is None else v) for v in values], widths
            )
