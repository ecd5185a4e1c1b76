"""What a text must hold for a pattern to match it: never too strict, and strict enough to be of use."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_hub.routing.matching import Literal, LiteralIndex
from a2a_hub.routing.patterns import BadPattern, compile_pattern
from a2a_hub.routing.required_literals import required_literals
from a2a_hub.text.normalization import normalise
from tests.unit.route_tables import shipped_table

READ = [
    ("WBS", ("wbs",)),
    (r"\bproject\b.*\bplan", ("project",)),
    ("a|bc|def", ("a", "bc", "def")),
    ("(?:receipt|expense)s?", ("receipt", "expense")),
    ("(?P<what>経費|精算)の", ("経費", "精算")),
    ("(?:the|our) (?:contract|manual|sla)", ("contract", "manual", "sla")),
    ("colou?r", ("colo",)),
    ("ab+c", ("ab",)),
    ("x{0,3}yz", ("yz",)),
    ("(?:long literal)?z", ("z",)),
    ("(?:long literal)+z", ("long literal",)),
    ("(?i)a[bc|)]de(?#)", ("de",)),
    (r"[]abc](?i:de)[[:alpha:]\]]f", ("de",)),
    (r"\d\.\d", (".",)),
    (r"p-?1", ("p",)),
    (r"\x{7d4c}\p{Han}\pLend", ("end",)),
    (r"\x41bcd", ("bcd",)),
    (r"a\Q(b\E", ()),
    (r"\141bc", ()),
    (".*", ()),
    ("(?:a|)", ()),
    ("ß", ()),
    ("a{,3}", ()),
    ("a{²}", ()),
    ("a\\", ()),
    ("(" * 2_000, ()),
    ("a{" + "9" * 5_000 + "}", ()),
]


@pytest.mark.parametrize(("pattern", "literals"), READ)
def test_the_literals_read_off_a_pattern(pattern: str, literals: tuple[str, ...]) -> None:
    assert required_literals(pattern) == literals


def test_every_pattern_of_the_shipped_table_needs_something() -> None:
    patterns = [pattern for route in shipped_table().routes for pattern in route.patterns]
    assert [pattern for pattern in patterns if not required_literals(pattern)] == []


pieces = st.sampled_from(
    [
        "a",
        "b",
        "c",
        "ab",
        "経",
        "費",
        ".",
        "[ab]",
        "[^a]",
        "[]a]",
        r"\b",
        r"\.",
        r"\w",
        "^",
        "$",
        r"\x61",
        r"\pL",
        "K",
        "ß",
    ]
)
patterns = st.recursive(
    pieces,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda branches: f"(?:{'|'.join(branches)})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "+?"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}" if len(pair[0]) > 1 else "".join(pair)
        ),
        inner.map(lambda each: f"(?i:{each})"),
        inner.map(lambda each: f"(?P<n>{each})"),
    ),
    max_leaves=12,
)
texts = st.text(alphabet="abck経費. ßK", max_size=12).map(normalise)


@given(patterns, texts)
def test_a_text_that_matches_holds_one_of_the_literals(pattern: str, text: str) -> None:
    try:
        compiled = compile_pattern(pattern)
    except BadPattern:
        return
    literals = required_literals(pattern)
    if literals and compiled.search(text):
        assert any(literal in text for literal in literals)


literal_sets = st.lists(
    st.lists(st.text(alphabet="ab経費- ", min_size=1, max_size=8), max_size=3).map(tuple), max_size=8
)


@given(literal_sets, st.text(alphabet="ab経費- ", max_size=40))
def test_the_index_finds_just_the_sets_with_a_literal_in_the_text(sets: list[tuple[str, ...]], text: str) -> None:
    index = LiteralIndex([tuple(map(Literal, literals)) for literals in sets])
    expected = [
        number for number, literals in enumerate(sets) if not literals or any(each in text for each in literals)
    ]
    assert index.present(text, {}) == expected
