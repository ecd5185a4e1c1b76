"""What each function installs: pinned, the same everywhere, and no more than it imports."""

import re
import sys
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parents[2]
FUNCTIONS = sorted(path.parent.name for path in ROOT.glob("functions/*/requirements.in"))
PLACES = ("functions/*/requirements.txt", "requirements/*.txt", "bench/*/*.txt", "tests/e2e/*/*.txt")
FILES = sorted(file for place in PLACES for file in ROOT.glob(place))

# What runs a function without being imported by it, and what Flask's adapter reaches through Flask.
RUNTIME = {"flask", "functions-framework", "gunicorn", "msgspec"}
DISTRIBUTION = {"google": "google-auth", "re2": "google-re2", "werkzeug": "flask"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_every_pin_has_hashes_and_no_file_names_an_index(file: Path) -> None:
    text = file.read_text()
    assert "://" not in text
    assert not re.search(r"^\s*--(?!hash)", text, re.MULTILINE)
    for requirement in re.split(r"\n(?=\S)", text.strip()):
        assert re.match(r"[a-z0-9-]+(\[[a-z0-9,-]+\])?==\S+", requirement), requirement
        assert "--hash=sha256:" in requirement


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_runs_here_with_the_versions_it_is_deployed_with(name: str) -> None:
    pins = _pins(ROOT / "functions" / name / "requirements.txt")
    assert pins.items() <= _pins(ROOT / "requirements" / "run.txt").items()
    assert pins.items() <= _pins(ROOT / "requirements" / "dev.txt").items()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_asks_for_what_it_imports_and_nothing_else(name: str) -> None:
    graph = grimp.build_graph("shared", "functions", include_external_packages=True)
    reached = graph.find_upstream_modules(f"functions.{name}", as_package=True)
    external = {module for module in reached if module.split(".")[0] not in {"shared", "functions"}}
    imported = {DISTRIBUTION.get(module, module) for module in external - sys.stdlib_module_names}
    assert imported | RUNTIME == _asked_for(ROOT / "functions" / name / "requirements.in")


def _pins(file: Path) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", file.read_text(), re.MULTILINE))


def _asked_for(file: Path) -> set[str]:
    names: set[str] = set()
    for line in file.read_text().splitlines():
        if line.startswith("-r "):
            names |= _asked_for(file.parent / line.removeprefix("-r "))
        elif line and not line.startswith("#"):
            names.add(re.split(r"[\[=<>]", line)[0])
    return names
