"""The differences that the development agent shows are those that `patch` applies."""

import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from a2a_hub.text.diffs import unified_diff


def test_a_change_is_shown_with_its_surroundings() -> None:
    old = "".join(f"{number}\n" for number in range(1, 11))
    assert unified_diff("a.txt", old, old.replace("5\n", "five\n")) == (
        "--- a/a.txt\n+++ b/a.txt\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
    )


def test_a_new_file_and_a_missing_line_end_are_shown() -> None:
    assert unified_diff("a.txt", None, "x") == (
        "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,1 @@\n+x\n\\ No newline at end of file\n"
    )


def _text(generator: random.Random, lines: int, alphabet: str) -> str:
    text = "".join(f"{generator.choice(alphabet)}\n" for _ in range(lines))
    return text if generator.random() < 0.7 else text[:-1]


@pytest.mark.parametrize("seed", range(40))
def test_what_is_shown_leads_from_the_one_to_the_other(tmp_path: Path, seed: int) -> None:
    patch = shutil.which("patch") or shutil.which("git")
    assert patch, "this machine has neither patch nor git"
    generator = random.Random(seed)
    old = _text(generator, generator.choice([0, 1, 5, 30, 600]), "abc")
    new = _text(generator, generator.choice([1, 5, 30, 600]), "abcd")
    (tmp_path / "a.txt").write_text(old)
    difference = unified_diff("a.txt", old, new)
    command = [patch, "-p1", "-s"] if patch.endswith("patch") else [patch, "apply", "--unidiff-zero", "-"]
    if old == new:
        return
    subprocess.run(command, cwd=tmp_path, input=difference.encode(), check=True)
    assert (tmp_path / "a.txt").read_text() == new


def test_lines_that_stand_everywhere_cost_little() -> None:
    old, new = "first\n" + "a\n" * 398, "other\n" + "a\nb\n" * 199
    started = time.process_time()
    for _ in range(20):
        assert "+b\n" in unified_diff("a.txt", old, new)
    assert time.process_time() - started < 2


def test_changes_between_empty_lines_are_shown_apart() -> None:
    paragraphs = [f"one {number}\n\n" for number in range(30)]
    changed = [*paragraphs[:2], "two\n\n", *paragraphs[3:26], "three\n\n", *paragraphs[27:]]
    difference = unified_diff("a.txt", "".join(paragraphs), "".join(changed))
    assert [line for line in difference.splitlines()[2:] if line[0] in "+-"] == [
        "-one 2",
        "+two",
        "-one 26",
        "+three",
    ]
