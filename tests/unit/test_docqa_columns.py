"""Tables of plain text, with nothing but white space between their columns, are rows with a header."""

from collections.abc import Iterator

import pytest

from functions.docqa.documents.blocks import Block, BlockKind, blocks
from tests.fakes.documents import Ask, answering_from

_WASTE = """WASTE GUIDE

What is collected when:

  Kind of waste        Day                    Place
  Solvents             1st and 3rd Tuesday    Store East
  Heavy metals         4th Wednesday          Store West

Cans are closed before they are put down.
"""
_COMPLAINTS = """苦情対応の手順

区分   内容                 解決の目標     責任者
A      法令違反の疑い       12営業日       監査室長
B      応対の態度           6営業日        担当課長

第4版では、区分Bの解決の目標を9営業日としていた。
"""


def _rows(text: str) -> list[Block]:
    return [block for block in blocks(text) if block.kind is BlockKind.ROW]


def test_a_row_is_its_line_and_knows_its_header() -> None:
    rows = _rows(_WASTE)
    assert [_WASTE[row.start : row.end].split("  ")[0] for row in rows] == ["Solvents", "Heavy metals"]
    assert {row.header for row in rows} == {"Kind of waste | Day | Place"}


@pytest.mark.parametrize(
    "text",
    [
        "One sentence.  Another one.\nA third.  And a fourth, longer one.\nA fifth one here.  The last.\n",
        "  - first thing   here\n  - second    thing\n  - third thing here\n",
        "1.   first step\n2.   second step\n3.   third step\n",
        "Name      Kiku\nPlace     Minato\n",
        "    indented text\n    and more of it\n    and the end\n",
    ],
)
def test_other_text_with_wide_spaces_is_no_table(text: str) -> None:
    assert _rows(text) == []


def test_two_columns_without_figures_have_no_header() -> None:
    rows = _rows("Name      Kiku\nPlace     Minato\nOwner     Ms Ono\n")
    assert [row.header for row in rows] == ["", "", ""]


def test_a_long_table_has_one_header() -> None:
    lines = [f"  Part {number:04}        {number:04} euros" for number in range(500)]
    rows = _rows("\n".join(["  Part             Price", *lines]))
    assert [row.header for row in rows] == ["Part | Price"] * 500


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    documents = {"waste.txt": _WASTE, "苦情対応.txt": _COMPLAINTS}
    with answering_from(tmp_path_factory.mktemp("corpus"), documents) as answer:
        yield answer


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        (
            "On which day are heavy metals collected?",
            "Day: 4th Wednesday (Heavy metals | 4th Wednesday | Store West) [1]",
        ),
        ("区分Aの苦情の責任者は誰ですか", "責任者: 監査室長 (A | 法令違反の疑い | 12営業日 | 監査室長) [1]"),
        (
            "区分Bの苦情は何営業日で解決しますか",
            "解決の目標: 6営業日 (B | 応対の態度 | 6営業日 | 担当課長) [1]",
        ),
    ],
)
def test_a_row_is_told_by_the_cell_that_answers(ask: Ask, question: str, answered: str) -> None:
    answer = ask(question)
    assert answer.text == answered
    assert "  " in answer.citations[0].quote


def test_a_single_space_keeps_the_cells_of_a_japanese_table_apart_below_its_header() -> None:
    text = "# 自習室\n\n別表\n区 分 平日 土曜日\n授業期間 8:30～20:00 9:00～16:00\n休業期間 9:00～17:00 休室\n掲示による。\n"
    rows = _rows(text)
    assert [text[row.start : row.end] for row in rows] == [
        "授業期間 8:30～20:00 9:00～16:00",
        "休業期間 9:00～17:00 休室",
    ]
    assert {row.header for row in rows} == {"区分 | 平日 | 土曜日"}


@pytest.mark.parametrize(
    "text",
    [
        "改正 履歴 一覧\n平成18年 4月 1日\n平成19年 4月 1日\n",
        "担当は 総務 課長\nまたは 経理 課長が行う\n",
        "第１条 この 規程は\n第２条 利用は ３日前\n",
    ],
)
def test_words_that_a_single_space_keeps_apart_are_no_table_by_themselves(text: str) -> None:
    assert not _rows(f"# 規程\n\n{text}")


def test_words_of_a_justified_line_are_no_cells() -> None:
    line = "The  tenant  keeps  the  cellar  dry.\n"
    text = line + line.replace("keeps", "found") + line.replace("cellar", "stairs")
    assert not _rows(text)
