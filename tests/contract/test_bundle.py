"""A bundle is what is uploaded: whole, without links, and running from any folder."""

import contextlib
import http.client
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from local.bundle import bundle, files_of
from local.functions import ROOT, LocalFunction, functions
from local.ports import free_ports
from local.processes import Probe, Process, answers_ok, wait_until_ready
from local.run import laid_out
from local.settings import WORKSPACE, Settings, environment_of
from tests.fakes.signatures import KEYS

HUB, PM = (LocalFunction(name=name, source=Path(), threads=4, reads_routes=name == "hub") for name in ("hub", "pm"))
REAL = {function.name: function for function in functions()}

TREE = {
    "routes.toml": "",
    "README.md": "",
    "shared/a2a_hub/__init__.py": "",
    "shared/a2a_hub/words.py": "WORDS = 'from shared'\n",
    "shared/a2a_hub/__pycache__/words.cpython-311.pyc": "",
    "functions/__init__.py": "",
    "functions/hub/__init__.py": "",
    "functions/hub/main.py": "from functions.hub.app import answer\n\nhub = lambda request: answer()\n",
    "functions/hub/app.py": "from a2a_hub.words import WORDS\n\n\ndef answer():\n    return WORDS\n",
    "functions/hub/requirements.in": "",
    "functions/hub/requirements.txt": "flask==3.1.3\n",
    "functions/hub/corpus/a.md": "# a\n",
    "functions/hub/.editor": "",
    "functions/pm/__init__.py": "",
    "functions/pm/main.py": "",
    "functions/pm/requirements.txt": "",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small source tree in which one shared file and the corpus are links."""
    root = tmp_path / "tree"
    for name, text in TREE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (root / "shared/a2a_hub/words.py").rename(elsewhere / "words.py")
    (root / "shared/a2a_hub/words.py").symlink_to(elsewhere / "words.py")
    (root / "functions/hub/corpus").rename(elsewhere / "corpus")
    (root / "functions/hub/corpus").symlink_to(elsewhere / "corpus")
    return root


def test_a_bundle_holds_the_function_the_shared_code_and_nothing_else(tree: Path, tmp_path: Path) -> None:
    bundle(HUB, root=tree, target=tmp_path / "build/hub")
    assert [str(file) for file in files_of(tmp_path / "build/hub")] == [
        "a2a_hub/__init__.py",
        "a2a_hub/words.py",
        "functions/__init__.py",
        "functions/hub/__init__.py",
        "functions/hub/app.py",
        "functions/hub/corpus/a.md",
        "main.py",
        "requirements.txt",
        "routes.toml",
        "routes.toml.compiled",
    ]


def test_only_a_function_that_routes_has_the_table(tree: Path, tmp_path: Path) -> None:
    bundle(PM, root=tree, target=tmp_path / "build/pm")
    assert not (tmp_path / "build/pm/routes.toml").exists()


def test_a_bundle_starts_without_compiling_whatever_times_its_files_get(tmp_path: Path) -> None:
    target = tmp_path / "build/hub"
    bundle(REAL["hub"], root=ROOT, target=target)
    for path in target.rglob("*"):
        # As buildpacks leave the files of an image.
        os.utime(path, (315532801, 315532801))
    program = """
import importlib.machinery, os, sys, flask
compile_source = importlib.machinery.SourceFileLoader.source_to_code
def source_to_code(loader, data, path, **options):
    assert not path.startswith(os.getcwd()), f"{path} is compiled"
    return compile_source(loader, data, path, **options)
importlib.machinery.SourceFileLoader.source_to_code = source_to_code
with flask.Flask("hub").app_context():
    import main
print("a2a_hub.routing.routes" in sys.modules)
"""
    settings = {
        "ALLOW_ANONYMOUS": "true",
        "HUB_PUBLIC_URL": "http://127.0.0.1:1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=target, env=settings, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "True"


def test_bundles_are_made_by_a_python_without_packages() -> None:
    command = [sys.executable, "-S", "-c", "import local.bundle"]
    subprocess.run(command, cwd=ROOT, env={"PYTHONPATH": "shared"}, check=True)


def test_links_become_copies(tree: Path, tmp_path: Path) -> None:
    bundle(HUB, root=tree, target=tmp_path / "build/hub")
    assert not [path for path in (tmp_path / "build").rglob("*") if path.is_symlink()]
    assert (tmp_path / "build/hub/functions/hub/corpus/a.md").read_text() == "# a\n"


def test_a_new_bundle_holds_nothing_of_the_old_one(tree: Path, tmp_path: Path) -> None:
    bundle(HUB, root=tree, target=tmp_path / "build/hub")
    (tree / "functions/hub/app.py").rename(tree / "functions/hub/new.py")
    bundle(HUB, root=tree, target=tmp_path / "build/hub")
    assert not (tmp_path / "build/hub/functions/hub/app.py").exists()
    assert [path.name for path in (tmp_path / "build").iterdir()] == ["hub"]


def test_a_bundle_runs_from_any_folder_without_its_source_tree(tree: Path, tmp_path: Path) -> None:
    target = tmp_path / "build/hub"
    bundle(HUB, root=tree, target=target)
    shutil.rmtree(tree)
    with serving(replace(HUB, source=target / "main.py"), folder=tmp_path) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        with contextlib.closing(connection):
            connection.request("GET", "/")
            assert connection.getresponse().read() == b"from shared"


@pytest.mark.parametrize("name", REAL)
def test_every_function_of_the_project_runs_from_its_bundle(name: str, tmp_path: Path) -> None:
    target = tmp_path / "build" / name
    bundle(REAL[name], root=ROOT, target=target)
    assert not [path for path in target.rglob("*") if path.is_symlink()]
    assert {path.name for path in (target / "functions").iterdir() if path.is_dir()} <= {name, "__pycache__"}
    with serving(replace(REAL[name], source=target / "main.py", python_path=None), folder=tmp_path) as port:
        assert answers_ok(Probe(name, port, "/health"))


@contextlib.contextmanager
def serving(function: LocalFunction, *, folder: Path) -> Iterator[int]:
    """The port of a functions-framework process that was started in `folder` and answers."""
    (port,) = free_ports(1)
    laid_out(folder / WORKSPACE)
    environment = environment_of(
        function,
        Settings(port=port, dev_token="for-tests", folder=folder, has_gateway=False, signing_keys=KEYS),
        inherited={"PATH": os.environ["PATH"]},
        urls=dict.fromkeys(REAL, f"http://127.0.0.1:{port}"),
    )
    program = [str(Path(sys.executable).with_name("functions-framework")), "--target", function.name]
    log = folder / "log"
    with log.open("wb") as output:
        popen = subprocess.Popen(
            [*program, "--source", str(function.source), "--host", "127.0.0.1", "--port", str(port)],
            cwd=folder,
            env=environment,
            stdout=output,
            stderr=output,
        )
    process = Process(name=function.name, popen=popen, log=log)
    try:
        wait_until_ready(
            [Probe(function.name, port, "/health")],
            [process],
            stopping=threading.Event(),
            timeout_seconds=60.0,
        )
        yield port
    finally:
        popen.terminate()
        popen.wait()
