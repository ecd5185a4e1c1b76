"""Documents to passages: every unit verbatim, with the headings, headers and introductions that govern it."""

from hypothesis import given
from hypothesis import strategies as st

from functions.docqa.documents.passages import passages
from functions.docqa.documents.sources import document_from
from functions.docqa.model import Passage, Unit, UnitKind

_PIECES = st.sampled_from(
    [
        *(
            "# A",
            "## 二",
            "text one. Text two!",
            "一文。二文？",
            "- item",
            "  - sub",
            "1. first",
            "| a | b |",
        ),
        *(
            "|---|---|",
            "|  | c |",
            "",
            "**Bold.** tail",
            "---",
            "```",
            "> quoted",
            "<!-- gone -->",
            "第1条（目的）",
        ),
        *("Name: value", "\t", "\f", "「引用。」と", "e.g. this", "===", "x\r"),
    ]
)


def _passages(text: str, path: str = "a.md") -> list[Passage]:
    return list(passages(document_from(path, f"corpus:{path}", text.encode())))


def _units(text: str, path: str = "a.md") -> list[Unit]:
    return [unit for passage in _passages(text, path) for unit in passage.units]


@given(st.lists(_PIECES, max_size=25).map("\n".join).filter(str.strip))
def test_every_unit_stands_verbatim_at_its_position(text: str) -> None:
    document = document_from("a.md", "corpus:a.md", text.encode())
    for passage in passages(document):
        for unit in passage.units:
            assert document.text[unit.start : unit.end] == unit.text
            assert unit.text.strip() == unit.text != ""


def test_a_list_item_knows_its_introduction_and_its_parent() -> None:
    units = _units("# T\n\nPlease bring:\n\n- papers\n  - passport\n- money\n")
    passport = next(unit for unit in units if unit.text == "passport")
    assert passport.context == ("papers", "Please bring:")
    assert units[-1].kind is UnitKind.LIST
    assert units[-1].text == "Please bring:\n\n- papers\n  - passport\n- money"


def test_a_table_row_knows_its_header_and_inherits_an_empty_first_cell() -> None:
    units = _units("| Class | Limit |\n|---|---|\n| A | 1 |\n|  | 2 |\n")
    assert [(unit.text, unit.header, unit.context) for unit in units] == [
        ("A | 1", "Class | Limit", ()),
        ("| 2", "Class | Limit", ("A",)),
    ]


def test_a_row_of_an_html_table_repeats_a_cell_that_spans_rows() -> None:
    rows = "<table><tr><th>C</th><th>L</th></tr><tr><td rowspan=2>A</td><td>1</td></tr><tr><td>2</td></tr></table>"
    assert [unit.text for unit in _units(rows, "a.html")] == ["A | 1", "A | 2"]


def test_scripts_styles_and_navigation_are_no_text() -> None:
    page = "<nav>Home</nav><script>var x;</script><style>p{}</style><p>Real <b>text</b>.</p>"
    assert [unit.text for unit in _units(page, "a.html")] == ["Real text."]


def test_sentences_run_over_line_breaks_and_stop_at_their_ends() -> None:
    text = "Report it within 1.5 hours, e.g. by phone, to the duty\nmanager. Then wait.\n\n"
    text += "検知から15分以内に\n連絡する。「至急。」と書く。"
    assert [unit.text for unit in _units(text)] == [
        "Report it within 1.5 hours, e.g. by phone, to the duty\nmanager.",
        "Then wait.",
        "検知から15分以内に\n連絡する。",
        "「至急。」と書く。",
    ]


def test_the_lines_of_a_narrow_column_are_one_text_and_lines_set_apart_are_not() -> None:
    column = "The cellar is kept dry by the Tenant and\nMr Ito of the house, who airs it every\nMonday and Friday.\n"
    assert [unit.text for unit in _units(column)] == [column.strip()]
    address = "Mill House\nHarbour Lane 7, near the old water mill\nDunwick\n"
    assert len(_units(f"Write to us:\n\n{address}")) > 2


def test_a_lettered_annex_ends_a_sentence() -> None:
    text = "The measures are in Annex B. The list is in appendix C. J. Doe keeps it."
    assert [unit.text for unit in _units(text)] == [
        "The measures are in Annex B.",
        "The list is in appendix C.",
        "J. Doe keeps it.",
    ]


def test_a_full_stop_in_an_abbreviation_an_initial_or_brackets_ends_no_sentence() -> None:
    text = "Ask Dr. Smith or J. Doe in dept. No. 12. U.S. Rules apply (see p. 3.) to all. It ends in 2024. Then stop."
    assert [unit.text for unit in _units(text)] == [
        "Ask Dr. Smith or J. Doe in dept. No. 12.",
        "U.S. Rules apply (see p. 3.) to all.",
        "It ends in 2024.",
        "Then stop.",
    ]


def test_a_bold_run_in_heading_governs_its_paragraph() -> None:
    unit = _units("# T\n\n**Class 3.** Stored in building C.\n")[0]
    assert (unit.text, unit.context) == ("Stored in building C.", ("**Class 3.**",))


def test_headings_of_plain_text_make_sections() -> None:
    found = _passages("規程\n\n第1条（目的）\n目的を定める。\n\n■ 返却\n返却する。\n", "a.txt")
    assert [passage.section[-1] for passage in found] == ["第1条（目的）", "■ 返却"]


def test_a_passage_keeps_its_id_when_another_section_changes() -> None:
    before = _passages("# T\n\n## A\n\nOne.\n\n## B\n\nTwo.\n")
    after = _passages("# T\n\n## A\n\nOne and more. And more.\n\n## B\n\nTwo.\n")
    assert before[-1].id == after[-1].id
    assert before[0].id != before[-1].id


def test_a_long_section_is_cut_into_passages_without_losing_a_sentence() -> None:
    text = "# T\n\n" + " ".join(f"Sentence number {number} is here." for number in range(200))
    found = _passages(text)
    assert len(found) > 3
    assert sum(len(passage.units) for passage in found) == 200
    assert len({passage.id for passage in found}) == len(found)


def test_a_clause_is_no_part_of_the_list_before_it() -> None:
    (passage,) = _passages(
        "規約\n\n第2条(費用) 次のとおり。\n (1) 甲\n (2) 乙\n第3条(返却) 端末は10日以内に返却する。\n",
        "a.txt",
    )
    clause = next(unit for unit in passage.units if "返却する" in unit.text)
    assert clause.kind is UnitKind.SENTENCE
    assert clause.text == "第3条(返却) 端末は10日以内に返却する。"


def test_a_short_clause_is_a_sentence_and_no_heading() -> None:
    units = [unit.text for passage in _passages("# 規程\n\n第2条 申請は30日以内に行う。\n") for unit in passage.units]
    assert "第2条 申請は30日以内に行う。" in units


def test_a_question_or_a_call_in_a_link_ends_with_its_link() -> None:
    text = 'Do not forget to [sign it!]({% page "/sign/" %}) The form is read within a day. Lost it? [Ask.](a.md)'
    assert [unit.text for unit in _units(text)] == [
        'Do not forget to [sign it!]({% page "/sign/" %})',
        "The form is read within a day.",
        "Lost it?",
        "[Ask.](a.md)",
    ]


def test_the_question_mark_of_an_address_ends_no_sentence() -> None:
    text = "[Ask for a card](https://example.com/form/?id=card&kind=new) before you come."
    assert [unit.text for unit in _units(text)] == [text]


def test_a_line_that_ends_amid_its_sentence_or_link_goes_on() -> None:
    for text in (
        "Report it to the\n[Desk](mailto:desk@example.com).",
        "Read the [rules of\nRiding](a.md) first.",
    ):
        assert [unit.text for unit in _units(f"Lost keys.\n\n{text}\n")][1:] == [text]


def test_a_table_in_an_item_is_about_what_the_item_says() -> None:
    text = "# 休暇\n\n- 結婚するとき\n\n    | 日数 | 届出 |\n    |---|---|\n    | 5日 | 30日前 |\n- 転居するとき\n"
    row = next(unit for unit in _units(text) if unit.kind is UnitKind.ROW)
    assert row.context == ("結婚するとき",)


def test_what_a_generator_puts_beside_a_page_is_no_text() -> None:
    html = (
        '<div class="related" role="navigation"><h3>目次</h3><ul><li>次へ</li></ul></div>'
        '<h1>貸出<a class="headerlink" href="#k">¶</a></h1><p>三日間です。</p><div hidden>下書き</div>'
        '<div class="toc"><div>4.1. 返却</div></div><p>返却は<span aria-hidden="true">★</span>窓口へ。</p>'
    )
    (passage,) = _passages(html, "a.html")
    assert passage.section == ("貸出",)
    assert [unit.text for unit in passage.units] == ["三日間です。", "返却は窓口へ。"]


def test_how_a_word_is_read_is_no_part_of_it() -> None:
    html = "<p><ruby>遺失物<rp>（</rp><rt>いしつぶつ</rt><rp>）</rp></ruby>は<ruby>受<rt>うけ<rt>うけ</ruby>付で。</p>"
    assert [unit.text for unit in _units(html, "a.html")] == ["遺失物は受付で。"]


def test_a_term_and_what_a_paragraph_says_of_it_are_one_sentence() -> None:
    html = "<dl><dt>水準3(重大)</dt><dd><p>社外に影響が及ぶもの</p></dd></dl>"
    assert [unit.text for unit in _units(html, "a.html")] == ["水準3(重大): 社外に影響が及ぶもの"]
