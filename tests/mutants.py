"""Changes important lines, one by one, in a copy of the project, and reports the changes that no test notices (`make mutants`).

The lines are in `mutants.toml`: the `file`, its exact `text`, which stands there once, what it is `mutated` to, and the `tests`
to run, as pytest's arguments. The working tree stays as it is.
"""

import os
import queue
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from shutil import copy2

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).with_suffix(".toml")
_SECONDS = 300


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One change to one line that matters."""

    name: str
    file: str
    text: str
    mutated: str
    tests: list[str]


def read(path: Path = LIST) -> list[Mutant]:
    """Return the listed mutants."""
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["mutants"]
    return [Mutant(**row) for row in rows]


def copy_project(target: Path) -> None:
    """Copy every file that git knows or would add, with its current content."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            copy2(ROOT / name, target / name, follow_symlinks=False)


def run_tests(copy: Path, tests: Sequence[str], *, seconds: float = _SECONDS) -> tuple[int | None, str]:
    """Return pytest's exit status, None if it does not end in time, and its output."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider", *tests]
    path = os.pathsep.join([str(copy), str(copy / "shared")])
    # Byte code is told from its source by size and second alone: a mutant must not run as the one before it.
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=copy, env=environment, timeout=seconds, capture_output=True, text=True)
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout


def outcome(mutant: Mutant, copy: Path) -> str:
    """Return "killed", or what has to be done about the mutant."""
    file = copy / mutant.file
    original = file.read_text(encoding="utf-8") if file.exists() else ""
    if (count := original.count(mutant.text)) != 1:
        return f"GONE: its text stands {count} times in {mutant.file}"
    try:
        file.write_text(original.replace(mutant.text, mutant.mutated), encoding="utf-8")
        status, _ = run_tests(copy, mutant.tests)
    finally:
        file.write_text(original, encoding="utf-8")
    match status:
        case 0:
            return "SURVIVED"
        case 1 | None:
            return "killed"
        case _:
            return f"INVALID: pytest ends with {status}"


def main(names: Sequence[str], write: Callable[[str], object] = print) -> int:
    """Return 1 unless every listed mutant, or every one whose name holds one of `names`, is killed."""
    mutants = [each for each in read() if not names or any(name in each.name for name in names)]
    copies: queue.SimpleQueue[Path] = queue.SimpleQueue()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(2) as threads:
        for number in range(2):
            copy_project(copy := Path(folder) / str(number))
            copies.put(copy)
        unmutated = copies.get()
        every_test = list(dict.fromkeys(test for each in mutants for test in each.tests))
        status, output = run_tests(unmutated, every_test, seconds=4 * _SECONDS)
        if status != 0:
            write(f"The listed tests do not pass without a mutant:\n{output[-3000:]}")
            return 1
        copies.put(unmutated)

        def examine(mutant: Mutant) -> str:
            copy = copies.get()
            try:
                return outcome(mutant, copy)
            finally:
                copies.put(copy)

        bad = 0
        for mutant, what in zip(mutants, threads.map(examine, mutants), strict=True):
            write(f"{what:10} {mutant.name}")
            bad += what != "killed"
    write(f"{len(mutants)} mutants, {bad} of them not killed")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
