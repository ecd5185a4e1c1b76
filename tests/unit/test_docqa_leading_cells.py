"""The cell that leads a quoted row is the one that answers."""

import pytest

from functions.docqa.answers.leading_cells import leading_cell
from functions.docqa.questions.question import analyse

_FEES = (["型式", "1日", "1か月", "延滞料（1日）"], ["AR-30", "2,200円", "21,000円", "3,300円"])
_CONTACTS = (
    ["役割", "氏名", "所属", "内線", "携帯電話"],
    ["広報担当", "長井 渉", "広報課", "2417", "090-0000-1199"],
)
_CODES = (["表示", "原因", "処置"], ["E3", "目詰まり", "ろ過器を水洗いする"])
_TIMES = (["レベル", "初動開始", "顧客への第一報", "恒久対策"], ["P-4", "翌営業日", "不要", "20営業日以内"])
_LIGHTS = (["Light", "Meaning", "What to do"], ["Red, flashing", "Fault in the heater", "Call service"])
_PENALTIES = (["回数", "処分", "決める者"], ["2回目", "乗務停止20日", "運行管理部長"])
_BOOKS = (["Borrower", "Books", "Period"], ["Graduate students", "25", "30 days"])


@pytest.mark.parametrize(
    ("question", "row", "column"),
    [
        ("延滞したら1日いくらかかりますか", _FEES, "延滞料（1日）"),
        ("AR-30の1か月の料金はいくらですか", _FEES, "1か月"),
        ("広報担当の内線番号は?", _CONTACTS, "内線"),
        ("広報担当の携帯電話の番号は?", _CONTACTS, "携帯電話"),
        ("広報担当は誰ですか", _CONTACTS, "氏名"),
        ("E3が表示されたらどうすればいいですか", _CODES, "処置"),
        ("E3の原因は何ですか", _CODES, "原因"),
        ("P-4の顧客への第一報は何分以内ですか", _TIMES, "顧客への第一報"),
        ("What does a flashing red light mean?", _LIGHTS, "Meaning"),
        ("2回目の処分は誰が決めますか", _PENALTIES, "決める者"),
        ("For how many days can a graduate student borrow a book?", _BOOKS, "Period"),
    ],
)
def test_the_column_that_is_asked_for_leads(question: str, row: tuple[list[str], list[str]], column: str) -> None:
    names, cells = row

    assert leading_cell(analyse(question), names, cells) == names.index(column)


def test_no_cell_leads_where_two_answer_alike() -> None:
    assert leading_cell(analyse("いくらですか"), ["区分", "平日", "休日"], ["大人", "500円", "600円"]) is None
