"""Whatever stands where a date or a delay should, from whomever, is one or none."""

import pytest

from a2a_hub.http.messages import delay_of, seconds_of

NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    "text",
    [
        "Tue, 14 Nov 2023 22:13:20 GMT",
        "Tuesday, 14-Nov-23 22:13:20 GMT",
        "Tue Nov 14 22:13:20 2023",
        "Tue, 14 Nov 2023 22:13:20 -0000",
        "Wed, 15 Nov 2023 07:13:20 +0900",
    ],
)
def test_a_date_is_a_moment(text: str) -> None:
    assert seconds_of(text) == NOW


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "soon",
        "1700000000",
        "Tue, 32 Nov 2023 22:13:20 GMT",
        "Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
        "Mon, 01 Jan 2024 00:00:00 +99999999999999999999",
        "Mon, 01 Jan 2024 99999999999999999999:00:00 GMT",
        "\x00",
    ],
)
def test_what_is_no_date_is_none(text: str | None) -> None:
    assert seconds_of(text) is None


@pytest.mark.parametrize("text", ["Mon, 01 Jan 0001 00:00:00 +2300", "Fri, 31 Dec 9999 23:59:59 -2300"])
def test_the_ends_of_the_calendar_are_moments(text: str) -> None:
    assert seconds_of(text) is not None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0),
        ("120", 120.0),
        ("9" * 5000, 999_999_999.0),
        ("-5", None),
        ("1.5", None),
        ("１２", None),
        ("Tue, 14 Nov 2023 22:13:20 GMT", None),
        ("", None),
        (None, None),
    ],
)
def test_a_delay_is_a_number_of_seconds(text: str | None, seconds: float | None) -> None:
    assert delay_of(text) == seconds
