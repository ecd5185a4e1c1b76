"""The reader of documents, on the forms of Japanese regulations and public tables."""

from functions.docqa.ingestion.blocks import joined
from functions.docqa.ingestion.reader import read
from functions.docqa.ingestion.tables import table_blocks
from tests.unit.reader_files import units

_RULES = """近距離出張旅費細則

制定　平成27年3月26日細則第30号
最終改正　令和5年9月27日細則第4号

（趣旨）
第１条　この細則は、旅費規程第二十五条の規定に基づき、職員が近くの地域に出張す
るときの旅費について定める。
２　学生の旅費は、次条の額による。
（支給額）
第２条　旅費の額は、別表１のとおりとする。
附　則　（平成28年3月23日細則第30号）
この細則は、平成２８年４月１日から施行する。
別表１（第２条関係）
旅費の額は一日につき六百円とする。
"""


def test_what_stands_in_brackets_above_an_article_heads_it_and_its_first_sentence_is_whole() -> None:
    document = read("旅費.txt", "corpus:a", _RULES.encode())
    assert (document.title, document.edition.effective) == ("近距離出張旅費細則", "2023-09-27")
    assert [(passage.section[-1], passage.units[0].text) for passage in document.passages] == [
        (
            "第１条（趣旨）",
            "第１条 この細則は、旅費規程第二十五条の規定に基づき、職員が近くの地域に出張するときの旅費について定める。",
        ),
        ("第２条（支給額）", "第２条 旅費の額は、別表１のとおりとする。"),
        ("附 則 （平成28年3月23日細則第30号）", "この細則は、平成２８年４月１日から施行する。"),
        ("別表１（第２条関係）", "旅費の額は一日につき六百円とする。"),
    ]


def test_the_mark_of_a_sheet_is_no_title() -> None:
    text = "（別紙）\n\n停留所の移設に関する意見書\n\n停留所は駅の東側に移すべきである。\n"
    assert read("a.txt", "corpus:a", text.encode()).title == "停留所の移設に関する意見書"


def test_a_header_divides_the_names_of_the_first_columns_and_letters_set_apart_are_one_word() -> None:
    header, *rows = table_blocks(
        [
            ["区 分", "区 分", "支 度 料", "支 度 料", "備 考"],
            ["一般職", "教育職", "15日未満", "15日以上", "備 考"],
            ["役員", "役員", "43,120円", "86,240円", "国外"],
            ["主任", "助手", "26,950円", "53,900円", "国内"],
        ],
        table=1,
    )
    assert header.text == "区分 / 一般職 | 区分 / 教育職 | 支度料 / 15日未満 | 支度料 / 15日以上 | 備考"
    assert [row.text.split(" | ")[0] for row in rows] == ["役員", "主任"]


def test_the_days_of_a_week_stay_apart() -> None:
    assert (
        units(read("a.csv", "corpus:a", "店,休業日\n本店,月 水 金\n支店,日 祝\n".encode()))[0].text == "本店 | 月 水 金"
    )


def test_a_figure_and_its_unit_in_japanese_are_one_across_lines() -> None:
    assert joined(["死者は約96.", "2%である。定員は12", "名とする。"]) == "死者は約96.2%である。定員は12名とする。"
    assert joined(["北 12", "34"]) == "北 12 34"


def test_what_a_list_says_of_itself_above_its_header_is_no_header() -> None:
    rows = "集計期間,2026年18週,,,\n区分,年齢別\n保健所,0歳,1歳,2歳,備考\n中央,3,4,5,なし\n港,6,7,8,速報\n"
    found = [(unit.text, unit.header) for unit in units(read("a.csv", "corpus:a", rows.encode()))]
    assert found[:2] == [("集計期間 | 2026年18週", ""), ("区分 | 年齢別", "")]
    assert found[2] == ("中央 | 3 | 4 | 5 | なし", "保健所 | 0歳 | 1歳 | 2歳 | 備考")
