"""Patterns are refused when a table is read, and compiled when a text needs them."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from a2a_hub.routing.patterns import BadPattern, compile_all, compile_any, compile_pattern

# The pieces that need most memory for each of their characters, but for those that are tried at once.
_LARGE_PIECES = (".", "[^k]", r"\W", "[あ-ん]", "(k|ſ)", "[[:^alpha:]]", "x*", "日")


@pytest.mark.parametrize("pattern", ["(", "a(?=b)", "[", "a{1001}", "*", r"\pX", "(?P<n", "(?P=n)"])
def test_what_re2_does_not_understand_is_refused_before_any_text_comes(pattern: str) -> None:
    with pytest.raises(BadPattern):
        compile_pattern(pattern)


@pytest.mark.parametrize("pattern", [r"\pL{1000}", r"(?:\pL\pN){500}", "." * 300_000], ids=["class", "group", "long"])
def test_what_needs_too_much_memory_is_refused_before_any_text_comes(pattern: str) -> None:
    with pytest.raises(BadPattern, match="too large"):
        compile_pattern(pattern)


@pytest.mark.parametrize("piece", _LARGE_PIECES)
def test_what_is_only_compiled_for_a_text_never_needs_too_much(piece: str) -> None:
    longest = piece * (999 // len(piece))
    assert compile_pattern(longest + "|never").search("NEVER") is not None


@pytest.mark.parametrize("piece", _LARGE_PIECES)
@pytest.mark.parametrize(("repeated", "pieces_length"), [("(?:{}){{3}}", 230), ("(?:(?:{}){{0,2}}){{3,}}", 50)])
def test_what_is_repeated_a_few_times_never_needs_too_much(repeated: str, pieces_length: int, piece: str) -> None:
    pieces = piece * (pieces_length // len(piece))
    assert compile_pattern(repeated.format(pieces) + "|never").search("NEVER") is not None


def test_case_is_ignored_and_the_leftmost_match_found_also_by_many_threads_at_once() -> None:
    pattern = compile_pattern("wbs|経費")
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(pattern.search, ["the WBS, 経費"] * 64))
    assert {match.group() for match in found if match} == {"WBS"}
    assert pattern.search("nothing of it") is None


def test_a_number_beyond_all_bounds_in_braces_is_text() -> None:
    digits = "9" * 5_000
    assert compile_pattern(f"a{{{digits}}}").search(f"A{{{digits}}}") is not None


@pytest.mark.parametrize(("text", "found"), [("a PLAN", True), ("late", True), ("plans", False), ("b|c", False)])
def test_any_of_several_patterns_is_found_in_one_search(text: str, found: bool) -> None:
    (pattern,) = compile_any(("plan$", "^late|^early", "(?-i)B", "(?P<n>x)", "(?P<n>y)"))
    assert (pattern.search(text) is not None) is found


@pytest.mark.parametrize(
    ("patterns", "text"),
    [((r"\Qa(b", "c"), "A(B"), ((*(rf"{first}\pL{{250}}" for first in "abcdef"), "日"), "日")],
    ids=["open quote", "large"],
)
def test_several_patterns_that_make_no_one_pattern_are_searched_one_by_one(
    patterns: tuple[str, ...], text: str
) -> None:
    compiled = compile_any(patterns)
    assert len(compiled) == len(patterns)
    assert any(pattern.search(text) for pattern in compiled)


def test_what_is_compiled_in_the_background_finds_the_same() -> None:
    pattern = compile_pattern("back(ground)? of (all|some)")
    compile_all()
    found = pattern.search("in the Background of all")
    assert found is not None
    assert found.group() == "Background of all"
