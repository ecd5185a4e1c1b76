"""The environment that every command makes for itself."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from local.install import STAMP

SCRIPT = Path(__file__).resolve().parents[2] / "local" / "install.py"


def test_two_commands_at_once_make_one_environment_and_the_next_changes_nothing_through_a_link_neither(
    tmp_path: Path,
) -> None:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("# nothing is needed\n")
    command = [sys.executable, str(SCRIPT), str(tmp_path / "venv"), str(requirements)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    outputs = sorted(popen.communicate()[0] for popen in both)
    assert [popen.returncode for popen in both] == [0, 0]
    assert outputs[0] == ""
    assert outputs[1].startswith("installing ")

    made = (tmp_path / "venv" / STAMP).stat().st_mtime_ns
    assert subprocess.run(command, capture_output=True, text=True).stdout == ""
    (tmp_path / "link").symlink_to("venv")
    command[2] = str(tmp_path / "link")
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == ""
    assert (tmp_path / "venv" / STAMP).stat().st_mtime_ns == made


def test_an_environment_left_half_made_is_made_anew_and_takes_no_requirement_without_its_hash(
    tmp_path: Path,
) -> None:
    venv, requirements = tmp_path / "venv", tmp_path / "requirements.txt"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").write_text("not a program")
    requirements.write_text("")
    command = [sys.executable, str(SCRIPT), str(venv), str(requirements)]
    subprocess.run(command, check=True)
    assert json.loads((venv / STAMP).read_text())["place"] == str(venv)
    assert subprocess.run([venv / "bin" / "python", "-c", ""]).returncode == 0
    requirements.write_text("msgspec==0.22.0\n")
    failed = subprocess.run(command, capture_output=True, text=True)
    assert failed.returncode != 0
    assert "hash" in failed.stderr.lower()
    assert "The same command tries again." in failed.stderr
    assert not (venv / STAMP).exists()


def test_a_terminal_shows_which_package_is_being_installed(tmp_path: Path) -> None:
    pip = tmp_path / "pip"
    pip.write_text(
        "#!/bin/sh\necho 'Collecting one==1 (from -r a)'; echo 'Installing collected packages: one'; exit 3\n"
    )
    pip.chmod(0o755)
    program = f"import sys; from local.install import show_progress; sys.exit(show_progress([{str(pip)!r}], 2))"
    terminal, its_end = pty.openpty()
    done = subprocess.run([sys.executable, "-c", program], stdout=its_end, cwd=SCRIPT.parents[1])
    os.close(its_end)
    shown = os.read(terminal, 1000).decode()
    os.close(terminal)
    assert done.returncode == 3
    assert re.search(r"  1 of 2: one==1.*  unpacking.*  failed after \d+ s", shown)


def made(folder: Path, python: Path, *settings: str) -> subprocess.CompletedProcess[str]:
    """Run `make install` in a folder, with a program in the place of Python."""
    (folder / "local").mkdir()
    for name in ("Makefile", "local/hubctl.sh"):
        (folder / name).write_text((SCRIPT.parents[1] / name).read_text())
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "lib" / "python3" / "site-packages").mkdir(parents=True)
    command = ["make", "--no-print-directory", f"PYTHON={python}", *settings, "install"]
    # `make test` leaves its own options to whatever runs under it.
    alone = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return subprocess.run(command, cwd=folder, env=alone, capture_output=True, text=True)


@pytest.mark.parametrize("gateway", ["0", "1"])
def test_without_the_gateway_its_package_is_not_installed(gateway: str, tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\n[ "$1" != local/install.py ] || echo "$3"\n[ "$3" != requirements/gateway.txt ]\n')
    python.chmod(0o755)
    done = made(tmp_path, python, f"GATEWAY={gateway}", "DICTIONARY=0")
    if gateway == "0":
        assert (done.stdout, done.returncode) == ("requirements/run.txt\n", 0)
    else:
        assert done.stdout.splitlines() == ["requirements/run.txt", "requirements/gateway.txt"]
        assert "Without it: make run GATEWAY=0" in done.stderr


def test_a_dictionary_that_cannot_be_installed_keeps_nobody_from_starting(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\n[ "$3" != requirements/dictionary.txt ]\n')
    python.chmod(0o755)
    done = made(tmp_path, python, "GATEWAY=0")
    assert done.returncode == 0
    assert "DICTIONARY=0 make run" in done.stderr


def test_an_environment_that_python_cannot_make_says_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "venv.py").write_text("raise SystemExit('no room')")
    (tmp_path / "requirements.txt").touch()
    command = [sys.executable, str(SCRIPT), str(tmp_path / "new"), str(tmp_path / "requirements.txt")]
    failed = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(tmp_path)})
    assert failed.returncode == 1
    assert "no room" in failed.stderr
    assert "apt install python3-venv" in failed.stderr


def test_who_interrupts_it_reads_no_stack(tmp_path: Path) -> None:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("# nothing is needed\n")
    command = [sys.executable, str(SCRIPT), str(tmp_path / "venv"), str(requirements)]
    popen = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # What a shell starts in the background has it ignored, and hands that down.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert popen.stdout is not None
    assert popen.stdout.readline().startswith("installing ")
    # As a terminal does it: to all of them.
    os.killpg(popen.pid, signal.SIGINT)
    said = popen.communicate()[1]
    assert "interrupted; the same command begins the installation again\n" in said
    assert str(SCRIPT) not in said
    assert popen.returncode == 1


def test_without_any_python_it_is_said_which_one_is_needed() -> None:
    done = subprocess.run(
        ["make", "PYTHON=no-such-python", "run"], cwd=SCRIPT.parents[1], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "Python 3.11 or newer is needed, and there is no no-such-python." in done.stderr


def test_a_folder_that_cannot_be_written_to_is_told_without_a_stack(tmp_path: Path) -> None:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("")
    command = [sys.executable, str(SCRIPT), str(requirements / "venv"), str(requirements)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.endswith("into a folder of your own.\n")


def test_hubctl_is_found_through_a_link_from_anywhere(tmp_path: Path) -> None:
    (tmp_path / "tree" / ".venv" / "bin").mkdir(parents=True)
    python = tmp_path / "tree" / ".venv" / "bin" / "python"
    python.write_text('#!/bin/sh\necho "$PYTHONPATH: $*"\n')
    hubctl = python.with_name("hubctl")
    hubctl.write_text(SCRIPT.with_name("hubctl.sh").read_text())
    for program in (python, hubctl):
        program.chmod(0o755)
    (tmp_path / "link").symlink_to(hubctl)
    told = subprocess.run(
        [tmp_path / "link", "check"],
        cwd="/",
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"]},
    )
    tree = tmp_path / "tree"
    assert told.stdout == f"{tree}:{tree / 'shared'}: -m hubctl check\n"
