"""Texts in the log have no mail addresses and no long numbers."""

import pytest

from a2a_hub.telemetry.redaction import redacted


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Write to ada.lovelace+x@mail.example.co.jp now", "Write to [mail] now"),
        ("宛先：ada@example.com、お願いします", "宛先：[mail]、お願いします"),
        ("Call +81 (3) 1234-5678 or 090-1234-5678", "Call +[number] or [number]"),
        ("card 4111 1111 1111 1111", "card [number]"),
        ("account 12345678, 口座１２３４５６７", "account [number], 口座[number]"),
        ("０９０－１２３４－５６７８", "[number]"),
        ("電話は090ー1234ー5678か０３（１２３４）５６７８です", "電話は[number]か[number]です"),
        ("03‐1234‐5678, 090−1234−5678, 4111–1111–1111–1111, 090　1234　5678", "[number], [number], [number], [number]"),
        ("ｔａｒｏ．ｙ＠ｅｘａｍｐｌｅ．ｃｏ．ｊｐに送る", "[mail]に送る"),
        ("On 2026-11-27 it cost 1,000,000 yen for 3776 m", "On 2026-11-27 it cost 1,000,000 yen for 3776 m"),
    ],
)
def test_mail_addresses_and_long_numbers_are_left_out(text: str, expected: str) -> None:
    assert redacted(text) == expected
