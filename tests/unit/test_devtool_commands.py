"""Commands that the development agent runs: only programs that are allowed, as they were shown, and nothing stays behind."""

import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from a2a_hub.http.messages import Cancellation
from a2a_hub.text.language import Language
from functions.devtool.programs import AllowedPrograms
from functions.devtool.texts import Fault, ToolFailed
from tests.fakes.task_instance import until

ROOT = Path(__file__).parents[2]
PROGRAMS = AllowedPrograms(names=frozenset({"sh", "echo", "env"}), path="/usr/local/bin:/usr/bin:/bin", seconds=20)
REFUSED = {
    "": Fault.NOT_A_COMMAND,
    "   ": Fault.NOT_A_COMMAND,
    "echo 'open": Fault.NOT_A_COMMAND,
    "echo a\necho b": Fault.NOT_A_COMMAND,
    "echo \x1b[2K": Fault.NOT_A_COMMAND,
    "echo \u202egnp.exe": Fault.NOT_A_COMMAND,
    "echo a\u3164b": Fault.NOT_A_COMMAND,
    "echo a\0b": Fault.NOT_A_COMMAND,
    "echo " + "x" * 5000: Fault.NOT_A_COMMAND,
    "rm -rf .": Fault.PROGRAM,
    "/bin/echo a": Fault.PROGRAM,
    "./echo a": Fault.PROGRAM,
    "ECHO a": Fault.PROGRAM,
    "'' echo": Fault.PROGRAM,
    "A=1 echo a": Fault.PROGRAM,
    "echo a | sh": Fault.SHELL,
    "echo a; echo b": Fault.SHELL,
    "echo a && echo b": Fault.SHELL,
    "echo a > b": Fault.SHELL,
    "echo $(id)": Fault.SHELL,
    "echo `id`": Fault.SHELL,
    "echo a &": Fault.SHELL,
    "echo 'a' ; sh": Fault.SHELL,
}


def run(folder: Path, command: str, programs: AllowedPrograms = PROGRAMS) -> str:
    with closing(programs.run(command, folder=folder, cancellation=Cancellation())) as running:
        while True:
            try:
                next(running)
            except StopIteration as end:
                return str(end.value)


def _is_alive(marker: Path) -> bool:
    """Return True if what writes to the marker all the time still does."""
    before = marker.read_text()
    deadline = time.monotonic() + 0.5
    while time.monotonic() < deadline:
        if marker.read_text() != before:
            return True
    return False


@pytest.mark.parametrize("command", REFUSED, ids=lambda command: command[:12])
def test_a_command_that_is_not_one_allowed_program_is_refused(command: str) -> None:
    with pytest.raises(ToolFailed) as refused:
        PROGRAMS.parse(command)
    assert refused.value.fault is REFUSED[command]
    for language in Language:
        assert refused.value.text(language)


def test_without_a_setting_nothing_runs() -> None:
    with pytest.raises(ToolFailed) as refused:
        AllowedPrograms(names=frozenset(), path="/bin", seconds=1).parse("echo a")
    assert refused.value.fault is Fault.NO_COMMANDS


def test_quoted_signs_are_arguments_like_any_other(tmp_path: Path) -> None:
    assert run(tmp_path, "echo 'a; b' \"c | d\" e\\;f '$HOME' \"it's\"") == "a; b c | d e;f $HOME it's\n"


def test_a_program_sees_nothing_of_our_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNING_KEY", "a secret")
    seen = dict(line.split("=", 1) for line in run(tmp_path, "env").splitlines())
    ours = {name for name in seen if not name.startswith("GIT_")}
    assert ours == {"PATH", "HOME", "PWD", "LANG", "TERM", "NO_COLOR"}
    assert seen["PWD"] == str(tmp_path)


def test_git_obeys_no_settings_of_a_folder_that_looks_like_a_repository(tmp_path: Path) -> None:
    programs = AllowedPrograms(names=frozenset({"git"}), path=PROGRAMS.path, seconds=20)
    bare = tmp_path / "bare"
    for folder in ("objects", "refs"):
        (bare / folder).mkdir(parents=True)
    (bare / "HEAD").write_text("ref: refs/heads/main")
    (bare / "config").write_text('[core]\n\tworktree = .\n\tfsmonitor = "touch obeyed; false"\n')
    with pytest.raises(ToolFailed):
        run(tmp_path, "git -C bare status", programs=programs)
    assert not (bare / "obeyed").exists()


def test_a_program_reads_nothing_and_runs_in_the_workspace(tmp_path: Path) -> None:
    assert run(tmp_path, "sh -c 'read x; echo got $x; pwd'") == f"got\n{tmp_path}\n"


def test_both_outputs_are_read_and_control_characters_left_out(tmp_path: Path) -> None:
    assert run(tmp_path, "sh -c 'echo out; echo err >&2; printf \"\\033[31mred\\r\\n\"'") == "out\nerr\n[31mred\n"


def test_blanks_as_wide_as_japanese_letters_are_kept(tmp_path: Path) -> None:
    assert run(tmp_path, "echo '一　二'") == "一　二\n"


def test_of_very_much_output_the_first_and_the_last_is_kept(tmp_path: Path) -> None:
    output = run(tmp_path, "sh -c 'echo first; head -c 3000000 /dev/zero | tr \"\\\\0\" x; echo; echo last'")
    assert output.startswith("first\n")
    assert output.endswith("\nlast\n")
    assert len(output) < 40_000


def test_a_program_that_takes_too_long_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    marker.write_text("")
    programs = AllowedPrograms(names=PROGRAMS.names, path=PROGRAMS.path, seconds=2.0)
    command = "sh -c 'echo begun; (while true; do echo x >> marker; sleep 0.05; done) & wait'"
    with pytest.raises(ToolFailed) as failed:
        run(tmp_path, command, programs)
    assert failed.value.fault is Fault.TIMEOUT
    assert "begun" in failed.value.text(Language.EN)
    assert not _is_alive(marker)


def test_a_program_that_leaves_others_behind_is_ended_with_them(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    marker.write_text("")
    assert run(tmp_path, "sh -c '(while true; do echo x >> marker; sleep 0.05; done) & echo done'") == "done\n"
    assert not _is_alive(marker)


def test_whoever_cancels_ends_the_program_and_all_that_it_started(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    marker.write_text("")
    cancellation = Cancellation()
    command = "sh -c '(while true; do echo x >> marker; sleep 0.05; done) & wait'"
    with closing(PROGRAMS.run(command, folder=tmp_path, cancellation=cancellation)) as running:
        ended = threading.Event()

        def follow() -> None:
            for _ in running:
                pass
            ended.set()

        threading.Thread(target=follow).start()
        until(lambda: marker.read_text())
        cancellation.cancel()
        assert ended.wait(20)
    assert not _is_alive(marker)


_DYING = """
import os, sys, time
from pathlib import Path
from functions.devtool.programs import AllowedPrograms
from a2a_hub.http.messages import Cancellation

programs = AllowedPrograms(names=frozenset({"sh"}), path="/usr/bin:/bin", seconds=60)
command = "sh -c '(while true; do echo x >> marker; sleep 0.05; done) & wait'"
running = programs.run(command, folder=Path(sys.argv[1]), cancellation=Cancellation())
while not Path(sys.argv[1], "marker").exists():
    next(running)
os.kill(os.getpid(), 9)
"""


def test_a_program_and_all_that_it_started_end_with_our_process(tmp_path: Path) -> None:
    dying = subprocess.run([sys.executable, "-c", _DYING, str(tmp_path)], cwd=ROOT)
    assert dying.returncode == -9
    until(lambda: not _is_alive(tmp_path / "marker"))


def test_a_program_that_closes_its_output_early_is_waited_for(tmp_path: Path) -> None:
    run(tmp_path, "sh -c 'exec >&- 2>&-; sleep 0.5; touch ended'")
    assert (tmp_path / "ended").exists()


def test_a_program_that_is_allowed_but_not_installed_is_told_of(tmp_path: Path) -> None:
    programs = AllowedPrograms(names=frozenset({"nothing-like-it"}), path=PROGRAMS.path, seconds=1)
    with pytest.raises(ToolFailed) as failed:
        run(tmp_path, "nothing-like-it", programs)
    assert failed.value.fault is Fault.NOT_STARTED


def test_a_program_in_the_workspace_never_takes_the_place_of_an_allowed_one(tmp_path: Path) -> None:
    (tmp_path / "echo").write_text("#!/bin/sh\necho not me\n")
    (tmp_path / "echo").chmod(0o755)
    assert run(tmp_path, "echo me") == "me\n"
