"""hubctl as a program, with whatever its output is connected to."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TextIO

import pytest

from hubctl import console

ROOT = Path(__file__).parent.parent.parent
CARD = ("card", "--url", "https://hub.example.com")


def hubctl(
    *arguments: str, out: int | IO[bytes] = subprocess.PIPE, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "hubctl", *arguments],
        stdout=out,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        check=False,
    )


def test_a_reader_that_has_left_ends_it_without_a_word() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as out:
        done = hubctl(*CARD, out=out)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_full_disk_is_told() -> None:
    with Path("/dev/full").open("wb") as out:
        done = hubctl(*CARD, out=out)
    assert done.returncode == 1
    assert done.stderr.decode() == "hubctl: [Errno 28] No space left on device\n"


def test_a_terminal_without_japanese_characters_still_gets_the_whole_card() -> None:
    narrow = hubctl(*CARD, environment={"PYTHONIOENCODING": "ascii"})
    assert narrow.returncode == 0
    assert narrow.stdout.isascii()
    assert json.loads(narrow.stdout) == json.loads(hubctl(*CARD).stdout)


def test_an_interruption_has_the_status_that_shells_know(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(_: TextIO) -> int:
        raise KeyboardInterrupt

    assert console.run(interrupted) == 130
    assert capsys.readouterr() == ("", "")


def test_what_a_terminal_would_act_upon_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    said = "\x1b]52;c;cm0gLXJm\x07\x9b2J\r\u202etxt\tok\n"

    def tells(out: TextIO) -> int:
        out.write(said)
        out.write(json.dumps([said], ensure_ascii=False))
        return 0

    assert console.run(tells) == 0
    text, written = capsys.readouterr().out.splitlines()
    assert text == "\\u001b]52;c;cm0gLXJm\\u0007\\u009b2J\\u000d\\u202etxt\tok"
    assert json.loads(written) == [said]


def test_a_refusal_shows_it_too() -> None:
    done = hubctl("check", "--card", "/nowhere/\x1b[31m.json")
    assert done.returncode == 2
    assert "\x1b" not in done.stderr.decode()
    assert "\\u001b[31m" in done.stderr.decode()
