"""An agent's knowledge in TOML files: all of it, or the file that is wrong."""

from pathlib import Path

import msgspec
import pytest

from a2a_hub.agents.knowledge import read_folder


class _Entries(msgspec.Struct, forbid_unknown_fields=True):
    names: list[str]


def test_the_files_of_a_folder_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    (tmp_path / "b.toml").write_text('names = ["three"]')
    (tmp_path / "a.toml").write_text('names = ["one", "二"]', "utf-8")
    (tmp_path / "README.md").write_text("no entries")
    assert [each.names for each in read_folder(tmp_path, _Entries)] == [["one", "二"], ["three"]]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("names = [1]", r"^wrong\.toml: .*names\[0\]"),
        ("", r"^wrong\.toml: .*`names`"),
        ('names = []\nmisspelt = ""', r"^wrong\.toml: .*`misspelt`"),
        ("names = ?", r"^wrong\.toml: .*line 1"),
    ],
)
def test_a_file_that_does_not_hold_is_named_with_the_place(tmp_path: Path, text: str, wrong: str) -> None:
    (tmp_path / "good.toml").write_text("names = []")
    (tmp_path / "wrong.toml").write_text(text)
    with pytest.raises(ValueError, match=wrong):
        read_folder(tmp_path, _Entries)
