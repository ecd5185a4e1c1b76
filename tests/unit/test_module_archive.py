"""The byte code of a bundle in one file: what is loaded from it, and what is not."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from a2a_hub.runtime import module_archive

ROOT = Path(__file__).parents[2]
TREE = {
    "rooms/__init__.py": "from rooms.first import NAME\n",
    "rooms/first.py": "from pathlib import Path\n\nNAME = Path(__file__).with_name('name.txt').read_text()\n",
    "rooms/inner/__init__.py": "",
    "rooms/inner/second.py": "def fail():\n    raise ValueError('no')\n",
    "rooms/name.txt": "a name",
}
Run = Callable[[str], str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tree of modules with its archive."""
    for name, text in TREE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    module_archive.write(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Run:
    """What a program prints, and its stack, which uses the archive of the tree."""

    def printed(program: str) -> str:
        use = f"from pathlib import Path; from a2a_hub.runtime import module_archive as a; a.use(Path({str(folder)!r}))"
        command = [sys.executable, "-c", f"{use}\n{program}"]
        environment = {"PYTHONPATH": os.pathsep.join((str(ROOT), str(folder)))}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    return printed


_LOADERS = "import rooms, rooms.inner.second as s; print(*(type(m.__loader__).__name__ for m in (rooms, s)))"


def test_packages_and_modules_are_loaded_from_the_archive(run: Run) -> None:
    assert run(_LOADERS) == "_Archive _Archive\n"


def test_what_lies_beside_a_module_is_found_from_it(run: Run, folder: Path) -> None:
    assert run("import rooms; print(rooms.NAME, rooms.__file__, *rooms.__path__)") == (
        f"a name {folder}/rooms/__init__.py {folder}/rooms\n"
    )


def test_a_stack_shows_the_lines_of_the_source(run: Run) -> None:
    program = """
import traceback
from rooms.inner.second import fail
try:
    fail()
except ValueError:
    traceback.print_exc()
"""
    assert 'File "rooms/inner/second.py", line 2, in fail\n    raise ValueError' in run(program)


def test_a_source_that_was_changed_or_added_since_is_loaded_itself(run: Run, folder: Path) -> None:
    archive = folder / "modules.pyc"
    longer, newer, added = (
        folder / "rooms/first.py",
        folder / "rooms/inner/second.py",
        folder / "rooms/third.py",
    )
    longer.write_text("NAME = 'another'\n")
    os.utime(longer, ns=(0, 0))
    newer.write_text(newer.read_text().replace("'no'", "'on'"))
    os.utime(newer, ns=(archive.stat().st_mtime_ns + 61 * 10**9,) * 2)
    added.write_text("NAME = 'new'\n")
    assert run("import rooms, rooms.third; print(rooms.NAME, rooms.third.NAME)") == "another new\n"
    assert "ValueError: on" in run("from rooms.inner.second import fail\nfail()")


def test_sources_that_were_unpacked_after_the_archive_are_not_taken_for_changed(
    run: Run, folder: Path
) -> None:
    for source in folder.rglob("*.py"):
        os.utime(source, ns=((folder / "modules.pyc").stat().st_mtime_ns + 5 * 10**9,) * 2)
    assert run(_LOADERS) == "_Archive _Archive\n"


def test_a_source_that_is_gone_is_gone(run: Run, folder: Path) -> None:
    (folder / "rooms/inner/second.py").unlink()
    assert "ModuleNotFoundError" in run("import rooms.inner.second")


@pytest.mark.parametrize("content", [None, b"", b"\x00\x00\r\n of another Python"])
def test_an_archive_of_another_python_or_none_is_not_used(
    run: Run, folder: Path, content: bytes | None
) -> None:
    (folder / "modules.pyc").unlink()
    if content is not None:
        (folder / "modules.pyc").write_bytes(content)
    assert run(_LOADERS) == "SourceFileLoader SourceFileLoader\n"


def test_a_module_that_fails_while_it_is_loaded_can_be_tried_again(run: Run, folder: Path) -> None:
    (folder / "rooms/name.txt").unlink()
    program = """
for _ in range(2):
    try:
        import rooms
    except FileNotFoundError:
        print("not found")
"""
    assert run(program) == "not found\nnot found\n"
