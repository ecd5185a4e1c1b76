"""Log lines of a file, of standard input or of Cloud Logging; as written, or as Cloud Logging and BigQuery export them."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hubctl.main import CommandError

_GCLOUD_SECONDS = 600
_MAX_LINES = 100_000

Fields = Mapping[str, Any]


def read_lines(file: Path | None) -> Iterator[Fields]:
    """Yield the fields of each line of a file, or of standard input for `-`; what is no JSON object is skipped.

    Raises CommandError.
    """
    if file is None or str(file) == "-":
        yield from _fields(sys.stdin)
        return
    try:
        with file.open(encoding="utf-8", errors="replace") as lines:
            yield from _fields(lines)
    except OSError as problem:
        raise CommandError(f"{file} cannot be read: {problem.strerror}") from None


def read_cloud_logging(filter_: str, *, since: timedelta, project: str | None) -> Iterator[Fields]:
    """Yield the fields of the entries that `gcloud logging read` finds. Raises CommandError."""
    gcloud = shutil.which("gcloud")
    if gcloud is None:
        raise CommandError(
            "gcloud is not installed here: install it, or name a file of exported lines (- for standard input)"
        )
    freshness = f"--freshness={int(since.total_seconds())}s"
    command = [gcloud, "logging", "read", filter_, "--format=json", freshness, f"--limit={_MAX_LINES}"]
    try:
        ran = subprocess.run(  # noqa: S603 - options of ours, and the name of a project
            [*command, *([f"--project={project}"] if project else [])],
            stdout=subprocess.PIPE,
            timeout=_GCLOUD_SECONDS,
            check=True,
        )
    except subprocess.CalledProcessError:
        raise CommandError("gcloud could not read the log: its message is above") from None
    except subprocess.TimeoutExpired:
        raise CommandError(f"gcloud took more than {_GCLOUD_SECONDS} s: ask for less with --since") from None
    yield from _fields([ran.stdout.decode()])


def time_of(fields: Fields) -> datetime | None:
    """Return when the line was written; None if it does not say so."""
    try:
        found = datetime.fromisoformat(str(fields.get("time")).replace(" UTC", "+00:00"))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def in_order(lines: Iterable[Fields]) -> list[Fields]:
    """Return the lines, the earliest first: gcloud and bq export the latest first. Those without a time stay in front."""
    return sorted(lines, key=lambda line: time_of(line) or datetime.min.replace(tzinfo=UTC))


def _fields(lines: Iterable[str]) -> Iterator[Fields]:
    lines = (line.removeprefix("\ufeff") for line in lines)
    for line in lines:
        # gcloud and bq indent what they export.
        value = _decoded(line if line.rstrip() != "[" else line + "".join(lines))
        for entry in value if isinstance(value, list) else [value]:
            if isinstance(entry, dict):
                # Log Analytics has it as JSON in a string.
                payload = entry.get("jsonPayload", entry.get("json_payload"))
                payload = _decoded(payload) if isinstance(payload, str) else payload
                yield {"time": entry.get("timestamp"), **payload} if isinstance(payload, dict) else entry


def _decoded(text: str) -> Any:
    """Return the value of a JSON text, without the members that a row of a table has as null; None if it is none."""
    try:
        return json.loads(
            text, object_pairs_hook=lambda pairs: {name: each for name, each in pairs if each is not None}
        )
    except ValueError:
        return None
