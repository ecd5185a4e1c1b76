"""`hubctl report`: the use of a hub, from the lines of its log."""

import argparse
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

import msgspec

from hubctl.log_lines import duration, read_cloud_logging, read_lines, time_of
from hubctl.log_report import report_of, report_text

_FILTER = (
    "jsonPayload.tokens:* OR jsonPayload.composed.tokens:*"
    ' OR (jsonPayload.function="hub" AND (jsonPayload.route:* OR jsonPayload.feedback:*))'
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("file", type=Path, nargs="?", metavar="FILE", help="log lines, - for standard input; without it, Cloud Logging")
    add("--since", type=duration, default="7d", metavar="7d", help="how far back: 30m, 24h, 7d, 2w")
    add("--project", help="the project of Cloud Logging (GOOGLE_CLOUD_PROJECT, else gcloud's own)")
    add("--json", action="store_true", help="print the report as JSON")


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
