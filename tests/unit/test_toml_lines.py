"""Lines of TOML keys."""

from a2a_hub.toml.lines import TomlLines

TEXT = """\
top = 1

[a]
b.c = 2 # = "x"
"quoted key" = [1, [2, 3],
  4]
inline = { x = [1,
  2] }

[[rows]]
list = [
  "#", # [
  '''
]''',
  "\\"]",
]
[rows.sub]
key = 1
[[rows.more]]
[[ rows.more ]] # [
[[rows]]
key = 2"""


def test_each_table_and_key_has_the_line_it_starts_on() -> None:
    lines = TomlLines(TEXT)
    expected = {
        ("top",): 1,
        ("a",): 3,
        ("a", "b", "c"): 4,
        ("a", "quoted key"): 5,
        ("a", "inline"): 7,
        ("rows", 0): 10,
        ("rows", 0, "list"): 11,
        ("rows", 0, "sub", "key"): 18,
        ("rows", 0, "more", 1): 20,
        ("rows", 1): 21,
        ("rows", 1, "key"): 22,
    }
    assert {path: lines.line_of(path) for path in expected} == expected


def test_what_is_not_listed_has_the_line_of_what_is_around_it() -> None:
    lines = TomlLines(TEXT)
    assert lines.line_of(("a", "missing")) == 3
    assert lines.line_of(("rows", 0, "list", 2)) == 11
    assert lines.line_of(("nowhere",)) == 1
