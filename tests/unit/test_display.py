"""Text for people: hidden characters are gone, links and images lead to allowed hosts only, however the text is cut."""

import itertools
import re
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from a2a_hub.text.display import DisplayFilter, displayed

_HOSTS = ("docs.example.com", "*.example.org")
_PARSER = MarkdownIt("commonmark")
_WITH_TAGS = MarkdownIt("commonmark", {"html": True})
# Everything of which Markdown makes links and images, and where others read the end of a host.
_TOKENS = (
    *"[]()!<>a \n\"'\\`*\t:",
    *("](", "](<", ">)", "]( ", "]:", "[a]: ", "[a]", "![a]", "\n\n", "> ", "- ", "1. ", "&colon;"),
    *("https://evil.example/x", "//evil.example/x", "https://evil.example/&sol;.example.org/", "javascript:x"),
    *("https://evil.example\\a.example.org/", "https://docs.example.com/x"),
)


_VANISHING = (
    *("[a]", "(https://evil.example/x)", "[", "](x)", "![](x)", "[](x)", "\x1b", "[0m", "\u200b", "\n", ": "),
    *("<", "scr", "ipt", "<a", "im", "g", " ", "x=y>", "!", "https://evil.example/x"),
)
_ACTIVE = re.compile(r"<(?:script|img|a)[\s/>]")
_DOES_SOMETHING = re.compile(r"<[a-z][a-z0-9-]*[\s/][^>]*(?:onclick|style|hidden)", re.IGNORECASE)


def addresses(markdown: str) -> Iterator[str]:
    """The addresses of the links and images of a text, but for pages of the user interface."""
    for block in _PARSER.parse(markdown):
        for each in block.children or ():
            if each.type in ("image", "link_open"):
                address = str(each.attrs.get("src") or each.attrs.get("href"))
                if re.match("[a-z]+:|//", address):
                    yield address


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[here](https://evil.example/x?q=1)", "here (`https://evil.example/x?q=1`)"),
        ("![pixel](https://evil.example/x?q=secret)", "pixel"),
        ("![](https://evil.example/x)", ""),
        ("[guide](https://docs.example.com/a) ![b](https://a.b.example.org/c)", None),
        ("[guide](https://docs.example.com.evil.example/a)", "guide (`https://docs.example.com.evil.example/a`)"),
        ("[guide](https://docs.example.com@evil.example/a)", "guide (`https://docs.example.com@evil.example/a`)"),
        ("[![alt](https://evil.example/i)](https://evil.example/l)", "alt (`https://evil.example/l`)"),
        ("[![![a](x)](x)](https://evil.example/l)", "a (`https://evil.example/l`)"),
        ("[a]![](x)(https://evil.example)", "a (`https://evil.example`)"),
        ("[a]\u200b(https://evil.example/`b)", "a (`https://evil.example/%60b`)"),
        ("\\<img src=x>", "\\&lt;img src=x>"),
        ('[a](https://evil.example/x "title")', "a (`https://evil.example/x`)"),
        ("[wiki](<https://evil.example/A_(b)>)", "wiki (`https://evil.example/A_(b)`)"),
        ("[x](javascript:alert(1))", "x"),
        ("[x](data:text/html;base64,AAAA) [y](//evil.example) [z](#part)", "x y z"),
        ("[a][1]\n\n[1]: https://evil.example/x\n", "[a][1]\n\n[1]: `https://evil.example/x`\n"),
        ("[1]: https://docs.example.com/x", None),
        (
            "<img src=https://evil.example/x> <A HREF='x'>y</a>",
            "&lt;img src=https://evil.example/x> &lt;A HREF='x'>y&lt;/a>",
        ),
        (
            "a < b, <https://example.com>, x[1], f(x)[0](y) and [note]",
            "a < b, `https://example.com`, x[1], f(x)0 and [note]",
        ),
        (
            "<https://docs.example.com/a> <HTTPS://evil.example/`b>",
            "<https://docs.example.com/a> `HTTPS://evil.example/%60b`",
        ),
        (
            "<javascript:alert(1)> <data:text/html,x> <mailto:a@evil.example>",
            "`javascript:alert(1)` `data:text/html,x` `mailto:a@evil.example`",
        ),
        (
            "`<https://evil.example/x>` <https://evil.example/a\u3000b>",
            "``https://evil.example/x`` `https://evil.example/a\u3000b`",
        ),
        ("<https://evil.example/a b> a<https:", "&lt;https://evil.example/a b> a&lt;https:"),
        ("vector<std::string> <soap:Body></soap:Body>, see https://evil.example/x", None),
        (
            "handlers[name](event), x: list[int]: 1 and a[1:]:\n    b",
            "handlers[name] (event), x: list[int]: 1 and a[1:]:\n    b",
        ),
        ("\x1b[31mred\x1b[0m \x1b]8;;https://evil.example\x07link\x1b]8;;\x07", "red link"),
        ("user\u202egnp.exe a\u200bb\ufeffc\u2066d\u2069 \U000e0041\U000e0042e", "usergnp.exe abcd e"),
        ("👨\u200d👩\u200d👧 ❤️\u200d🔥 が゛ パ\u200dピ", "👨\u200d👩\u200d👧 ❤️\u200d🔥 が゛ パピ"),
        ("a\tb\nc\x00\x07\x9b", "a\tb\nc"),
        ("経費は[規程](https://docs.example.com/規程.pdf)の第3条 [1] にあります。", None),
    ],
)
def test_a_person_sees_the_text_and_nothing_that_leads_elsewhere(text: str, shown: str | None) -> None:
    seen = displayed(text, _HOSTS)
    assert seen == (text if shown is None else shown)
    # An answer that is stored is shown again.
    assert displayed(seen, _HOSTS) == seen


@pytest.mark.parametrize(
    "hostile",
    [
        "![a](<https://evil.example/a b>)",
        "![a](<https://evil.example/a(b>)",
        "![a](\nhttps://evil.example/x\n)",
        "![a](https://evil.example/x 'b\nc')",
        "![a](https://evil.example/((b)))",
        "![a[b]c](https://evil.example/x)",
        "![a\nb](https://evil.example/x)",
        "![a\\]b](https://evil.example/x)",
        f"![a](https://evil.example/{'b' * 2100})",
        f"![{'a' * 600}](https://evil.example/x)",
        "![a]\n\n[a]:\nhttps://evil.example/x",
        "![a]\n\n> [a]: https://evil.example/x",
        "![a]\n\n- [a]: https://evil.example/x",
        "![a b]\n\n[a\nb]: https://evil.example/x",
        f"![a]\n\n[a]:{' ' * 200}https://evil.example/x",
        "![a](https://evil.example\\b.example.org/)",
        "![a](https://evil.example&sol;b.example.org/)",
        "![a](https://docs.example.com:&commat;evil.example/x)",
        "![a](https://docs.example.com:&#64;evil.example/x)",
        "\\[a](https://docs.example.com/![b](https://evil.example/x))",
        "[a\\](https://docs.example.com/![b](https://evil.example/x))",
        "[`](https://docs.example.com/`![b](https://evil.example/x))",
        "\\[a](https://docs.example.com '![b](https://evil.example/x)')",
        "a\n[b]: https://docs.example.com/c[d](https://evil.example/x)",
        "<https://evil.example/x?d=secret>",
        f"<https://evil.example/{'b' * 2100}>",
        "<https://docs.example.com@evil.example/>",
        "<custom://evil.example/>",
        "<custom:x|u|https://evil.example/>",
        "<custom:a.b?d=secret>",
        "<custom:\u2028x|u|https://evil.example/>",
    ],
)
def test_no_spelling_of_markdown_leads_elsewhere(hostile: str) -> None:
    assert [*addresses(hostile)]
    for size in (1, 7, len(hostile)):
        pieces = DisplayFilter(_HOSTS)
        cut = "".join(pieces.feed(hostile[at : at + size]) for at in range(0, len(hostile), size)) + pieces.finish()
        assert not [*addresses(cut)], size


@pytest.mark.parametrize("size", [1, 2, 1000])
def test_characters_that_nobody_sees_carry_no_message(size: int) -> None:
    selectors = "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
    seen = "葛\U000e0100城 ❤\ufe0f 👩\u200d💻 1\ufe0f\u20e3"
    text = f"a{selectors}b\u3164\uffa0\u115f\u1160\u034f\u180bc{seen}{selectors}"
    pieces = DisplayFilter()
    shown = "".join(pieces.feed(text[at : at + size]) for at in range(0, len(text), size)) + pieces.finish()
    assert shown == f"abc{seen}"


@pytest.mark.parametrize(
    "active",
    [
        "<b onclick=alert(1)>",
        "<B\nonClick = 'x'>",
        "<b/onclick=x>",
        "<b x onclick=x>",
        '<td title="a>b" onclick=x>',
        '<td title="a"onclick=x>',
        "<td title=a onclick='x'>",
        "<x-y style='position:fixed'>",
        "<b <i onclick=x>",
        "<p hidden>",
        "<p HIDDEN=until-found>",
        "<b " + "x " * 300 + "onclick=x>",
        "<" + "b" * 150 + " onclick=x>",
        "<b onclick=x",
    ],
)
def test_a_harmless_tag_does_nothing_by_its_attributes(active: str) -> None:
    text = f"a {active} b"
    shown = displayed(text, _HOSTS)
    assert not _DOES_SOMETHING.search(shown)
    assert shown.replace("&lt;", "<") == text
    for cut in range(1, len(text)):
        pieces = DisplayFilter(_HOSTS)
        assert pieces.feed(text[:cut]) + pieces.feed(text[cut:]) + pieces.finish() == shown
        chunk = displayed(text[:cut], _HOSTS)
        after = DisplayFilter(_HOSTS, after=chunk)
        assert not _DOES_SOMETHING.search(chunk + after.feed(text[cut:]) + after.finish()), cut


@pytest.mark.parametrize(
    "active",
    [
        "> <div\n> style=background:url(https://evil.example/x)>",
        "> <p\n>\tstyle=x>",
        "> > a <b title\n> > onclick=x>",
        "> <b\r  > onclick=x>",
    ],
)
def test_a_tag_in_a_quote_does_nothing_by_the_attributes_on_its_next_line(active: str) -> None:
    assert _DOES_SOMETHING.search(_WITH_TAGS.render(active))
    for cut in range(len(active)):
        pieces = DisplayFilter(_HOSTS)
        shown = pieces.feed(active[:cut]) + pieces.feed(active[cut:]) + pieces.finish()
        assert not _DOES_SOMETHING.search(_WITH_TAGS.render(shown)), shown


@pytest.mark.parametrize(
    "harmless",
    [
        "<td align=left colspan='2'>x</td><br/><br />",
        '<span lang="ja" title="one">x</span>',
        "vector<unsigned int> v; for (int i = 0; i<n; i++) x = y;",
        "Map<K extends Comparable, V>",
        "a < b = c, 1<2 and <https://docs.example.com/x?y=1>",
        "<me@example.com> <b>bold</b> <details open>",
        "vector<std::string> v; <xs:element> <w:p/> </w:p>",
    ],
)
def test_a_tag_without_effect_and_code_stay_as_they_are(harmless: str) -> None:
    assert displayed(harmless, _HOSTS) == harmless


def test_a_text_to_decide_on_keeps_its_addresses_and_has_no_links() -> None:
    text = "![a](https://evil.example/x) [b](https://docs.example.com/y) <https://evil.example>\n\n[c]: https://evil.example/z\n"
    shown = displayed(text, _HOSTS, keeps_addresses=True)
    assert shown == (
        "![a] (https://evil.example/x) [b](https://docs.example.com/y) < https://evil.example>\n\n"
        "[c] : https://evil.example/z\n"
    )


@given(st.lists(st.sampled_from(_TOKENS), max_size=12).map("".join), st.integers(1, 9))
def test_what_markdown_reads_in_a_text_leads_to_allowed_hosts(text: str, size: int) -> None:
    assert all(
        a.startswith("https://docs.example.com/") for a in addresses(displayed(text, _HOSTS, keeps_addresses=True))
    )
    pieces = DisplayFilter(_HOSTS)
    cut = "".join(pieces.feed(text[at : at + size]) for at in range(0, len(text), size)) + pieces.finish()
    assert all(address.startswith("https://docs.example.com/") for address in addresses(cut)), cut


@given(st.text(alphabet="[]()!<>:`\n ahtps/.\x1b1;m\u200b", max_size=60), st.integers(1, 7))
def test_how_a_text_is_cut_into_pieces_makes_no_difference(text: str, size: int) -> None:
    pieces = DisplayFilter(_HOSTS)
    cut = "".join(pieces.feed(text[at : at + size]) for at in range(0, len(text), size)) + pieces.finish()
    for forbidden in ("](http", "\x1b", "\u200b"):
        assert forbidden not in cut


@pytest.mark.parametrize(
    "pieces",
    [
        ("<scr", "ipt src=x>"),
        ("<scr[", "](x)ipt src=x>"),
        ("<a[](x", ") href=x>"),
        ("<scr\x1b", "[0mipt src=x>"),
        ("<sc\u200b", "ript src=x>"),
        ("[a][", "](x)(https://evil.example)"),
        ("[a]\x1b", "[0m(https://evil.example)"),
        ("[a]![", "](x): https://evil.example\n\n[a]"),
        ("<", "https://evil.example>"),
        ("<https", "://evil.example>"),
        ("<https:", "//evil.example>"),
        ("<https://evil", ".example>"),
    ],
)
@pytest.mark.parametrize("finishes", [False, True], ids=["on", "anew"])
def test_nothing_active_begins_where_two_pieces_meet(pieces: tuple[str, str], *, finishes: bool) -> None:
    cut = DisplayFilter(_HOSTS)
    shown = [cut.feed(pieces[0]), cut.finish() if finishes else "", cut.feed(pieces[1]), cut.finish()]
    assert not _ACTIVE.search("".join(shown)), shown
    assert not [*addresses("".join(shown))], shown


@given(st.lists(st.sampled_from(_VANISHING), max_size=9).map("".join), st.lists(st.integers(0, 40), max_size=5))
def test_what_vanishes_between_two_pieces_joins_nothing_active(text: str, cuts: list[int]) -> None:
    pieces = DisplayFilter(_HOSTS)
    places = [0, *sorted(cuts), len(text)]
    cut = "".join(pieces.feed(text[a:b]) for a, b in itertools.pairwise(places)) + pieces.finish()
    assert not _ACTIVE.search(cut), cut
    assert not [*addresses(cut)], cut


@pytest.mark.parametrize(
    "text",
    [
        "[a](https://evil.example/x)",
        "![a](https://evil.example/x)",
        "[1]: https://e.example/x\n",
        "<https://e.example/x>",
    ],
)
def test_a_link_that_comes_in_pieces_is_no_link(text: str) -> None:
    for size in range(1, len(text)):
        pieces = DisplayFilter()
        cut = "".join(pieces.feed(text[at : at + size]) for at in range(0, len(text), size)) + pieces.finish()
        assert cut == displayed(text), size


@pytest.mark.parametrize(
    "hostile",
    [
        "[",
        "![",
        "](",
        "[a](",
        "[a](b",
        "\x1b[",
        "<",
        "[[a]",
        "[a]: ",
        "\u202e",
        "(" * 9 + "[",
        "<a:",
        "<https:x",
        "<b ",
        "<b x",
        "<b a=",
        "<b\n/",
        "<b-",
    ],
)
def test_hostile_text_takes_time_in_proportion_to_its_length(hostile: str) -> None:
    def processor_seconds(length: int) -> float:
        text = hostile * (length // len(hostile))
        best = 9.0
        for _ in range(3):
            started = time.process_time()
            displayed(text)
            best = min(best, time.process_time() - started)
        return best

    assert processor_seconds(80_000) <= 3 * processor_seconds(40_000) + 0.05


@pytest.mark.parametrize("hostile", ["](![", "![](<", '![a](b "c'])
def test_a_long_hostile_text_is_read_in_slices(hostile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths, clean = [], DisplayFilter._clean

    def measured(self: DisplayFilter, text: str) -> str:
        lengths.append(len(text))
        return clean(self, text)

    # No other thread runs while an expression is searched for.
    monkeypatch.setattr(DisplayFilter, "_clean", measured)
    displayed(hostile * (1_000_000 // len(hostile)))
    assert max(lengths) < 40_000


def test_a_long_text_is_read_line_by_line() -> None:
    lines = ["handlers[name](event), [a](https://docs.example.com/x) and list[int]: 1\n" * 3, "> [1]: b\n"] * 900
    assert displayed("".join(lines), _HOSTS) == "".join(displayed(each, _HOSTS) for each in lines)


def test_links_in_links_are_none_however_deep() -> None:
    shown = displayed("[" * 9 + "a" + "](https://evil.example/)" * 9)
    assert "](" not in shown
