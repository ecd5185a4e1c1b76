"""Markdown as generators of sites and handbooks write it: what readers are shown, where it stands in the file."""

from hypothesis import given
from hypothesis import strategies as st

from functions.docqa.documents.formats.markdown import markdown_text
from functions.docqa.documents.passages import passages
from functions.docqa.documents.sources import document_from
from functions.docqa.model import Unit, UnitKind

_PIECES = st.sampled_from(
    [
        *("---", "title: Bikes", "# Bikes", "text <b>bold</b> {: .note }", "```html", "```", "`<b>`", ""),
        *(
            "- <i>item</i>",
            "{% include 'a' %}",
            "![A bike](a.png)",
            "[a]: /b",
            "!!! note",
            '    !!! tip "Two"',
        ),
        *("<div>", "</div>", "> [!NOTE]", ":::tip One", ":::", "[TOC]", "<h2>Two</h2>", "\r", "a < b <c>"),
    ]
)


def _units(text: str) -> list[Unit]:
    document = document_from("a.md", "corpus:a.md", text.encode())
    return [unit for passage in passages(document) for unit in passage.units]


def _texts(text: str) -> list[str]:
    return [" ".join(unit.text.split()) for unit in _units(text)]


@given(st.lists(_PIECES, max_size=20).map("\n".join))
def test_every_line_begins_where_it_does_in_the_file(text: str) -> None:
    shown = markdown_text(text)
    assert len(shown) == len(text)
    assert [at for at, sign in enumerate(shown) if sign == "\n"] == [at for at, sign in enumerate(text) if sign == "\n"]


def test_tags_and_attributes_are_no_text() -> None:
    text = 'Lock the <span class="k">bike</span> shed<br/>at *10 pm*.{: .late }\n'
    assert _texts(text) == ["Lock the bike shed at *10 pm*."]


def test_items_and_headings_in_html_are_items_and_headings() -> None:
    document = document_from(
        "a.md", "corpus:a.md", b"<h2>Sheds</h2>\n<ul>\n<li>Lock it.</li>\n<li>Light it.</li>\n</ul>\n"
    )
    (passage,) = passages(document)
    assert passage.section == ("Sheds",)
    assert [unit.kind for unit in passage.units] == [UnitKind.ITEM, UnitKind.ITEM, UnitKind.LIST]


def test_code_keeps_its_tags_and_words_between_angles_stay() -> None:
    text = "Write `<b>` for bold.\n\n```html\n<b>bold</b>\n```\n\nAsk <OWNER_NAME> first.\n"
    assert markdown_text(text) == text


def test_a_table_in_html_is_a_table_and_what_follows_stays_in_its_line() -> None:
    text = (
        "# Fees\n\n<table>\n<tr>\n<th>Shed</th>\n<th>Fee</th>\n</tr>\n<tr>\n<td>North</td>\n"
        "<td><ul><li>12 euros</li><li>by month</li></ul></td>\n</tr>\n</table>\n\nPay in May.\n"
    )
    row, last = _units(text)
    assert (row.kind, row.text, row.header) == (UnitKind.ROW, "North | 12 euros by month", "Shed | Fee")
    assert text[last.start : last.end] == last.text == "Pay in May."


def test_directives_images_and_targets_of_links_are_no_text() -> None:
    text = (
        '{% include "steps.html"\nstep: 2 %}\n\n![A shed](shed.png)\n[[_TOC_]]\n\nSee [the map][map] of sheds.\n\n'
        "{{< toc >}}\n\n[map]: https://example.com/map\n[^1]: Closed in May.\n"
    )
    assert _texts(text) == ["See [the map][map] of sheds.", "[^1]: Closed in May."]


def test_a_directive_within_a_sentence_stays() -> None:
    text = 'Post in {% channel "bikes" %} first.\n'
    assert _texts(text) == ['Post in {% channel "bikes" %} first.']


def test_the_title_of_an_admonition_governs_its_text() -> None:
    for marker in ('!!! tip "Wet days"', '??? note "Wet days"', ":::tip Wet days", ":::note[Wet days]"):
        unit = _units(f"Ride.\n\n{marker}\n    Put the bikes into the shed.\n")[-1]
        assert (unit.text, unit.context) == ("Put the bikes into the shed.", ("Wet days",)), marker


def test_an_admonition_without_a_title_is_its_text() -> None:
    for marker in ("!!! warning", "> [!WARNING]\n>", ":::danger"):
        assert _texts(f"Ride.\n\n{marker}\n    Never ride in the shed.\n".replace(">\n    ", "> ")) == [
            "Ride.",
            "Never ride in the shed.",
        ], marker
