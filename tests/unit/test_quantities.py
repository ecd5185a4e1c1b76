"""Quantities have one normal form in both languages."""

import pytest

from a2a_hub.text.quantities import quantities


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("45万円", ["450000jpy"]), ("¥450,000", ["450000jpy"]), ("４５０，０００円", ["450000jpy"]),
        ("1.5億円", ["150000000jpy"]), ("3割", ["30percent"]), ("30 %", ["30percent"]), ("三千円", ["3000jpy"]),
        ("2 weeks", ["14d"]), ("14日間", ["14d"]), ("1 year", ["12month"]), ("15分以内", ["15min"]),
        ("令和8年4月1日", ["2026-04-01"]), ("2026/4/1", ["2026-04-01"]), ("1 April 2026", ["2026-04-01"]),
        ("April 1", ["04-01"]), ("15時30分", ["15:30"]), ("3:30 pm", ["15:30"]), ("第十二条", ["12article"]),
        ("twenty\nfive past nine", ["09:25"]), ("a\nquarter past nine", ["09:15"]), ("twenty-five to nine", ["08:35"]),
        ("4月1日", ["04-01"]), ("2026年度", ["2026fy"]), ("FY2026", ["2026fy"]),
        ("until 8.45 a.m.", ["08:45"]), ("19時限", ["19"]), ("620キロリットル", ["620000000ml"]),
        ("62万リットル", ["620000000ml"]),
        ("令和 9 年 3 月末", ["2027-03"]), ("1 月 19 日は 17 時 30 分", ["01-19", "17:30"]), ("2026 年度", ["2026fy"]),
        ("P-1", ["p1"]), ("ERR-4711", ["err4711"]), ("一般に十分な千葉の万一", []),
    ],
)  # fmt: skip
def test_a_quantity_has_one_normal_form(text: str, terms: list[str]) -> None:
    assert [quantity.term for quantity in quantities(text)] == terms
