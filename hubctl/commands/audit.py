"""`hubctl audit verify`: the chains of the audit log, entry by entry; and the log of an operator's own changes."""

import argparse
import getpass
from collections.abc import Iterator, Mapping, Sequence
from typing import TextIO

from a2a_hub.identity.principal import Principal
from a2a_hub.settings.reader import SettingsError
from a2a_hub.telemetry.audit import FIRST, hash_of
from a2a_hub.telemetry.start import start_audit_log
from hubctl.console import write
from hubctl.log_lines import read_lines
from hubctl.main import CommandError

_LINE = "{chain}  {function}  {first}–{last}, to {time}, last hash {hash}"
Entries = Mapping[int, tuple[Mapping[str, str], str]]


def run(arguments: argparse.Namespace, *, environment: Mapping[str, str], out: TextIO) -> int:  # noqa: ARG001
    """Return 0 if every chain is whole, else 1. Raises CommandError for lines without an audit log."""
    chains: dict[str, dict[int, tuple[Mapping[str, str], str]]] = {}
    problems: list[str] = []
    for line in read_lines(arguments.file):
        entry, digest = line.get("audit"), str(line.get("hash"))
        if not isinstance(entry, dict):
            continue
        chain, number = str(entry.get("chain")), str(entry.get("number"))
        # A service may deliver a line twice.
        known = chains.setdefault(chain, {}).setdefault(int(number) if number.isdigit() else 0, (entry, digest))
        if known != (entry, digest):
            problems.append(f"{chain}: two entries have the number {number}")
    if not chains:
        raise CommandError(f"{arguments.file} holds no entry of an audit log")
    found = []
    for chain, entries in chains.items():
        problems += (f"{chain}: {problem}" for problem in _problems(entries))
        first, last = min(entries), max(entries)
        function, time = (entries[last][0].get(name) for name in ("function", "time"))
        about = {"chain": chain, "function": function, "first": first, "last": last, "time": time}
        found.append(about | {"hash": entries[last][1]})
    elsewhere = [
        f"{chain}: its entries before {min(entries)} are not in these lines"
        for chain, entries in chains.items()
        if min(entries) > 1
    ]
    lines = [_LINE.format_map(each) for each in found] + elsewhere + (problems or ["every chain is whole"])
    value = {"ok": not problems, "chains": found, "problems": problems}
    return write(value, lines, as_json=arguments.json, out=out, ok=not problems)


def _problems(entries: Entries) -> Iterator[str]:
    numbers: Sequence[int] = sorted(entries)
    before, last = numbers[0] - 1, FIRST if numbers[0] == 1 else None
    for number in numbers:
        entry, digest = entries[number]
        if number != before + 1:
            yield f"{before + 1} to {number - 1} are missing"
        elif last is not None and entry.get("previous") != last:
            yield f"{number} does not follow {before}"
        if hash_of(entry) != digest:
            yield f"{number} was changed"
        before, last = number, digest


def audited(environment: Mapping[str, str]) -> Principal:
    """Return the operator, by the name on this machine; what they change is appended to the file AUDIT_LOG, if it is set.

    Called before the change, which a log that cannot be written prevents. Raises CommandError.
    """
    place = environment.get("AUDIT_LOG")
    if place == "stdout":
        raise CommandError("AUDIT_LOG is stdout, which has the answer of this command: name a file")
    try:
        if place:
            start_audit_log("hubctl", place)
    except SettingsError as problem:
        raise CommandError(str(problem)) from None
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = "unknown"
    return Principal(subject=f"operator:{name}")
