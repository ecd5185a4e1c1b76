"""Ranges of texts and table rows, and the amounts of questions that fall into them."""

import pytest

from functions.docqa.retrieval.ranges import measures, selects


def _selected(question: str, text: str, header: str = "") -> bool | None:
    found = [selects(asked, text, header) for asked in measures(question)]
    return True if True in found else False if False in found else None


@pytest.mark.parametrize(
    ("question", "text", "header", "wanted"),
    [
        ("勤続4年の休暇は何日ですか", "3年以上5年未満 | 12日", "勤続年数 | 日数", True),
        ("勤続5年の休暇は何日ですか", "3年以上5年未満 | 12日", "勤続年数 | 日数", False),
        ("勤続3年6か月だと何日？", "3年6か月以上4年6か月未満 | 14日", "", True),
        ("入社して1年です", "6か月～1年6か月 | 10日", "", True),
        ("What do 12 people pay?", "10–19 | 400", "Employees | Fee", True),
        ("What do 20 people pay?", "10–19 | 400", "Employees | Fee", False),
        ("25名で予約したい", "20〜29名 | 5%", "", True),
        ("Who approves €3,200?", "up to 5,000 | the team lead", "Amount (EUR) | Approver", True),
        ("Who approves €3,200?", "5,001 - 10,000 EUR | the head", "", False),
        ("Who approves €3,200?", "10–4,999 | 400", "Employees | Fee", None),
        ("Who approves $3,200?", "Up to €5,000 needs no approval.", "", None),
        ("80,000円の備品は誰が承認しますか", "5万円以上10万円未満 | 部長", "金額 | 承認者", True),
        ("10万円の備品は誰が承認しますか", "5万円以上10万円未満 | 部長", "金額 | 承認者", False),
        ("300円です", "500円を超え、3,000円以下", "", False),
        ("15,000円のとき", "1〜2万円は課長が決裁する。", "", True),
        ("Is 500,000 yen too much?", "Over 500,000 yen the board decides.", "", False),
        ("Is 600,000 yen too much?", "Over 500,000 yen the board decides.", "", True),
        ("I am 18 years old", "18 to 64 years | 30 euros", "Age | Fee", True),
        ("70歳です", "65歳以上 | 無料", "", True),
        ("a stay of 3 days", "2–5 days | 40", "", True),
        ("a stay of 36 hours", "from 1 to under 2 days | 40", "", True),
        ("a parcel of 7 kg", "more than 5 kg, up to 10 kg | 9.90", "", True),
        ("a parcel of 5 kg", "more than 5 kg, up to 10 kg | 9.90", "", False),
        ("a parcel of 7 kg", "between 5 and 10 kg | 9.90", "", True),
        ("availability of 98%", "below 99% but at least 97% | 10% credit", "", True),
        ("availability of 96%", "99%未満97%以上 | 10%", "稼働率 | 返金率", False),
        ("14:30に着きます", "9:00–17:00 | reception", "", True),
        ("18:30に着きます", "9:00–17:00 | reception", "", False),
        ("the allowance of pay band 3", "3 | 300 euros", "Pay band | Allowance", True),
        ("the allowance of pay band 3", "2 | 200 euros", "Pay band | Allowance", False),
        ("the allowance of pay band 3", "2 | 200 euros", "Country | Allowance", None),
        ("what does E-4711 mean", "E-4711 | the door is open", "Code | Meaning", True),
        ("what does E-4711 mean", "E-4712 | the lamp is off", "Code | Meaning", False),
        ("What changed in 2024?", "1,000–4,999 | 400", "Pieces | Fee", None),
        ("12 people", "The hall is open on weekdays.", "", None),
        ("12 people", "The hall holds 40 people.", "", None),
    ],
)
def test_a_value_selects_the_range_that_holds_it(question: str, text: str, header: str, wanted: bool | None) -> None:
    assert _selected(question, text, header) is wanted
