"""The package: a wheel that installs hubctl and the library into an environment that holds only its dependencies."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from a2a_hub.runtime.version import VERSION

ROOT = Path(__file__).resolve().parents[2]
SDIST = f"a2a_hub-{VERSION}.tar.gz"
WHEEL = f"a2a_hub-{VERSION}-py3-none-any.whl"


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and with the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("distributions")
    _run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, cwd=ROOT)
    with tarfile.open(folder / SDIST) as archive:
        archive.extractall(folder, filter="data")
    unpacked = folder / SDIST.removesuffix(".tar.gz")
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=unpacked)
    return folder


@pytest.fixture(scope="module")
def hubctl(distributions: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program as the wheel installs it. Of the test's own environment it sees the dependencies alone."""
    environment = tmp_path_factory.mktemp("environment")
    venv.create(environment, symlinks=True)
    python = environment / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps")
    _run(*pip, distributions / WHEEL, cwd=environment)
    [packages] = environment.glob("lib/python*/site-packages")
    # A path in a .pth file is searched, but the .pth files in it are not read: not that of the source tree, either.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return environment / "bin" / "hubctl"


def test_the_wheel_installs_the_library_and_hubctl_under_their_own_names_alone(distributions: Path) -> None:
    with zipfile.ZipFile(distributions / WHEEL) as wheel:
        names = wheel.namelist()
    assert {name.partition("/")[0] for name in names} == {"a2a_hub", "hubctl", f"a2a_hub-{VERSION}.dist-info"}
    assert not [name for name in names if "__pycache__" in name]


def test_the_source_distribution_makes_the_same_wheel_as_the_source_tree(distributions: Path, tmp_path: Path) -> None:
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path, cwd=ROOT)
    with zipfile.ZipFile(distributions / WHEEL) as one, zipfile.ZipFile(tmp_path / WHEEL) as other:
        assert sorted(one.namelist()) == sorted(other.namelist())


def test_the_installed_hubctl_says_its_version_and_its_commands(hubctl: Path, tmp_path: Path) -> None:
    assert _run(hubctl, "--version", cwd=tmp_path) == f"hubctl {VERSION}\n"
    assert "validate the route table" in _run(hubctl, "--help", cwd=tmp_path)
    for command in ("card", "check", "corpus", "doctor", "evaluate", "register"):
        assert f"usage: hubctl {command}" in _run(hubctl, command, "--help", cwd=tmp_path)


def test_the_installed_hubctl_reads_the_route_table_of_the_working_directory(hubctl: Path, tmp_path: Path) -> None:
    without = subprocess.run([hubctl, "check"], cwd=tmp_path, capture_output=True, text=True, env=_ENVIRONMENT)
    assert without.returncode == 2
    assert "there is no routes.toml in this folder: name one with --routes FILE" in without.stderr

    shutil.copy(ROOT / "routes.toml", tmp_path)
    assert f"{tmp_path / 'routes.toml'}: " in _run(hubctl, "check", cwd=tmp_path)
    assert '"name"' in _run(hubctl, "card", "--url", "https://hub.example.com", cwd=tmp_path)


def test_the_installed_hubctl_carries_its_schemas_and_the_template_of_an_agent(hubctl: Path, tmp_path: Path) -> None:
    assert '"title": "routes.toml"' in _run(hubctl, "schema", "routes", cwd=tmp_path)
    _run(hubctl, "new", "agent", "travel-desk", cwd=tmp_path)
    assert (tmp_path / "travel-desk" / "requirements.txt").read_text() == f"a2a-hub[functions]=={VERSION}\n"


def test_the_installed_hubctl_reads_a_folder_of_documents(hubctl: Path, tmp_path: Path) -> None:
    (tmp_path / "policy.md").write_text("# Travel policy\n\nTrains are booked two weeks ahead.\n")
    program = "import pathlib; from hubctl.corpus.documents import local_files; print(local_files(pathlib.Path())[0][0].title)"
    assert _run(hubctl.with_name("python"), "-c", program, cwd=tmp_path) == "Travel policy\n"


def test_the_installed_hubctl_carries_all_that_make_run_reads(hubctl: Path, tmp_path: Path) -> None:
    make = tmp_path / "make"
    make.write_text('#!/bin/sh\necho "$@"\n')
    make.chmod(0o755)
    root = tmp_path / "a2a-hub" / VERSION
    # The second start finds the folder of the first.
    for _ in range(2):
        settings = [f"PATH={tmp_path}:{os.environ['PATH']}", f"XDG_DATA_HOME={tmp_path}"]
        said = _run("env", *settings, str(hubctl), "run", "GATEWAY=0", cwd=tmp_path)
        assert said.splitlines() == [
            f"the sample is in {root}",
            f"-C {root} --no-print-directory run PYTHON={hubctl.with_name('python')} GATEWAY=0",
        ]
    program = (
        "import local.run; from local.functions import functions;"
        "print(all(each.source.is_file() for each in functions()), local.run.ROOT)"
    )
    assert _run(sys.executable, "-c", program, cwd=root) == f"True {root}\n"
    needed = ["routes.toml", "shared/a2a_hub/__init__.py", "hubctl/__main__.py", "requirements/run.txt"]
    assert [name for name in [*needed, "services/grpc/server.py"] if not (root / name).is_file()] == []


_ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def _run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, env=_ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout
