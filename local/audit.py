"""`make audit`: look every pinned package up in OSV, the database of known vulnerabilities."""

import json
import re
import sys
import urllib.request
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
_OSV = "https://api.osv.dev/v1/querybatch"
_MAX_QUERIES = 1000
_TIMEOUT_SECONDS = 30.0
_PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", re.MULTILINE)
FOUND, NOT_CHECKED = 1, 3


class Pin(NamedTuple):
    """A package at a version. `ecosystem` is OSV's name of its registry."""

    ecosystem: str
    name: str
    version: str


class NotReached(Exception):
    """The database did not answer; the message says why."""


def pins(root: Path) -> Mapping[Pin, Sequence[str]]:
    """Return every package that a file below `root` pins, with the names of these files."""
    found: defaultdict[Pin, list[str]] = defaultdict(list)
    for file in sorted(root.rglob("*")):
        place = file.relative_to(root)
        # Environments and other things that commands make.
        if any(part.startswith(".") or part in ("build", "dist", "node_modules") for part in place.parts):
            continue
        for pin in _pins_of(file):
            found[pin].append(place.as_posix())
    return found


def _pins_of(file: Path) -> Iterator[Pin]:
    if file.name == "package-lock.json":
        for path, package in json.loads(file.read_text(encoding="utf-8"))["packages"].items():
            if name := path.rpartition("node_modules/")[2]:
                yield Pin("npm", package.get("name", name), package["version"])
    elif file.suffix == ".txt" and "requirements" in (file.stem, file.parent.name):
        yield from (Pin("PyPI", *each) for each in _PIN.findall(file.read_text(encoding="utf-8")))


def vulnerabilities(asked: Sequence[Pin], url: str) -> Iterator[tuple[Pin, str]]:
    """Yield each known vulnerability of a pin, by its id. Raises NotReached."""
    for start in range(0, len(asked), _MAX_QUERIES):
        part = asked[start : start + _MAX_QUERIES]
        queries = [{"package": {"ecosystem": pin.ecosystem, "name": pin.name}, "version": pin.version} for pin in part]
        body = json.dumps({"queries": queries}).encode()
        request = urllib.request.Request(url, body, {"Content-Type": "application/json"})  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as response:  # noqa: S310
                results = json.load(response)["results"]
        except (OSError, ValueError, KeyError) as problem:
            raise NotReached(f"{url}: {problem}") from None
        for pin, result in zip(part, results, strict=True):
            yield from ((pin, each["id"]) for each in result.get("vulns", ()))


def main(*, root: Path = ROOT, url: str = _OSV) -> int:
    """Print what is known; return 0 if that is nothing, 1 if something, 3 if the database could not be asked."""
    pinned = pins(root)
    try:
        found = list(vulnerabilities(sorted(pinned), url))
    except NotReached as problem:
        print(f"NOT CHECKED: the advisory database cannot be reached from here ({problem})", file=sys.stderr)
        return NOT_CHECKED
    for pin, vulnerability in found:
        print(f"{pin.name} {pin.version}: https://osv.dev/{vulnerability} ({', '.join(pinned[pin])})")
    print(f"{len(pinned)} pinned packages, {len(found)} known vulnerabilities")
    return FOUND if found else 0


if __name__ == "__main__":
    sys.exit(main())
