"""The environment that every command makes for itself."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

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
