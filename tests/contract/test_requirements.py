"""What each function installs: pinned, the same everywhere, and no more than it imports."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parents[2]
FUNCTIONS = sorted(path.parent.name for path in ROOT.glob("functions/*/requirements.in"))
PLACES = (
    "functions/*/requirements.txt",
    "requirements/*.txt",
    "bench/*/*.txt",
    "tests/e2e/*/*.txt",
    "workers/*/*.txt",
)
FILES = sorted(file for place in PLACES for file in ROOT.glob(place))

# What runs a function without being imported by it, and what Flask's adapter reaches through Flask.
RUNTIME = {"flask", "functions-framework", "gunicorn", "msgspec"}
# uvicorn takes it where it is installed.
EVENT_LOOP = {"console": {"uvloop"}, "gate": {"uvloop"}, "hub": {"uvloop"}, "tasks": {"uvloop"}}
# Installed with requirements/hcs.txt, for one transport of wake-ups, and requirements/dictionary.txt.
EXTRA = {"hiero-sdk-python", "jamdict-data"}
DISTRIBUTION = {
    "click": "functions-framework",
    "functions_framework": "functions-framework",
    "Stemmer": "PyStemmer",
    "google.adk": "google-adk",
    "google.api_core": "google-api-core",
    "google.auth": "google-auth",
    "google.oauth2": "google-auth",
    "google.cloud.discoveryengine_v1": "google-cloud-discoveryengine",
    "google.cloud.firestore": "google-cloud-firestore",
    "google.cloud.firestore_v1": "google-cloud-firestore",
    "google.cloud.pubsub_v1": "google-cloud-pubsub",
    "google.pubsub_v1": "google-cloud-pubsub",
    "google.cloud.storage": "google-cloud-storage",
    "google.genai": "google-genai",
    "hiero_sdk_python": "hiero-sdk-python",
    "jamdict_data": "jamdict-data",
    "markdown_it": "markdown-it-py",
    "opentelemetry": "opentelemetry-exporter-otlp-proto-http",
    "re2": "google-re2",
    "uvicorn": "functions-framework",
    "uvicorn_worker": "functions-framework",
    "werkzeug": "flask",
}


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
    graph = grimp.build_graph(
        "a2a_hub", "functions", include_external_packages=True, exclude_type_checking_imports=True
    )
    reached = graph.find_upstream_modules(f"functions.{name}", as_package=True)
    external = {module for module in reached if module.split(".")[0] not in {"a2a_hub", "functions"}}
    own = graph.find_descendants(f"functions.{name}")
    names = _named(graph, reached | own, "google") | external - sys.stdlib_module_names - {"google"}
    imported = {_distribution(module) for module in names} - EXTRA
    assert imported | RUNTIME | EVENT_LOOP.get(name, set()) == _asked_for(ROOT / "functions" / name / "requirements.in")


def test_the_workspace_worker_asks_for_what_it_imports() -> None:
    graph = grimp.build_graph("workers", include_external_packages=True)
    own = {module for module in graph.modules if module.startswith("workers.workspace")}
    reached = {each for module in own for each in graph.find_modules_directly_imported_by(module)}
    names = _named(graph, own, "google") | reached - own - sys.stdlib_module_names - {"google"}
    imported = {_distribution(name) for name in names if not name.startswith("workers")}
    # Time zones are read from a package, where the machine has none.
    asked_for = _asked_for(ROOT / "workers" / "workspace" / "requirements.in")
    assert imported - {"requests"} | {"tzdata"} == asked_for
    assert "requests" in _pins(ROOT / "workers" / "workspace" / "requirements.txt")


def test_the_package_asks_for_what_it_imports() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    asked_for = {re.split(r"[\[>]", each)[0] for requirements in lists for each in requirements}
    graph = grimp.build_graph(
        "a2a_hub", "functions", "hubctl", include_external_packages=True, exclude_type_checking_imports=True
    )
    own = {module for module in graph.modules if module.split(".")[0] in {"a2a_hub", "hubctl"}}
    bundled = graph.find_upstream_modules("hubctl", as_package=True)
    reached = {each for module in own | bundled for each in graph.find_modules_directly_imported_by(module)}
    external = {each for each in reached if each.split(".")[0] not in {"a2a_hub", "functions", "hubctl"}}
    names = _named(graph, own, "google") | external - sys.stdlib_module_names - {"google"}
    assert {_distribution(name) for name in names} == asked_for


def test_the_package_is_built_by_the_backend_that_is_pinned() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]
    name, _, version = build["requires"][0].partition("==")
    assert _pins(ROOT / "requirements" / "dev.txt")[name] == version


def _named(graph: grimp.ImportGraph, modules: set[str], package: str) -> set[str]:
    """The full names that `modules` import from `package`, a namespace that several distributions share."""
    names: set[str] = set()
    for module in modules & graph.find_modules_that_directly_import(package):
        for detail in graph.get_import_details(importer=module, imported=package):
            for node in ast.walk(ast.parse(detail["line_contents"].rstrip(" (") + "\n")):
                if isinstance(node, ast.Import):
                    names |= {alias.name for alias in node.names}
                elif isinstance(node, ast.ImportFrom):
                    names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def _distribution(module: str) -> str:
    """Return what is installed to import `module`: by the longest name that is known, else its own."""
    known = [name for name in DISTRIBUTION if f"{module}.".startswith(f"{name}.")]
    return DISTRIBUTION[max(known, key=len)] if known else module


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
