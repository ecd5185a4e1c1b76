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
[[rows]]
key = 2"""


def test_each_key_and_element_has_the_line_it_starts_on() -> None:
    lines = TomlLines(TEXT)
    expected = {
        ("top",): 1,
        ("a",): 3,
        ("a", "b", "c"): 4,
        ("a", "quoted key", 1): 5,
        ("a", "quoted key", 2): 6,
        ("a", "inline"): 7,
        ("rows", 0): 10,
        ("rows", 0, "list", 0): 12,
        ("rows", 0, "list", 1): 13,
        ("rows", 0, "list", 2): 15,
        ("rows", 0, "sub", "key"): 18,
        ("rows", 1): 19,
        ("rows", 1, "key"): 20,
    }
    assert {path: lines.line_of(path) for path in expected} == expected


def test_what_is_not_listed_has_the_line_of_what_is_around_it() -> None:
    lines = TomlLines(TEXT)
    assert lines.line_of(("a", "missing")) == 3
    assert lines.line_of(("nowhere",)) == 1
