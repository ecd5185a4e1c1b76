"""Mails: earlier mails behind the new one, quotations that no longer hold, attachments as sections."""

from email.message import EmailMessage

import pytest

from functions.docqa.ingestion.blocks import Unreadable
from functions.docqa.ingestion.reader import read
from functions.docqa.model import Standing
from tests.unit.reader_files import units


def test_mail_is_read_with_earlier_mails_behind_it_and_attachments_as_sections() -> None:
    message = EmailMessage()
    message["From"], message["Subject"] = "a@example.com", "夏季休業"
    wrote = "2026年7月1日(水) 10:00 田中 <t@example.com>:"
    message.set_content(
        f"休業は8月12日からです。\n\n{wrote}\n> 昨年は11日でした。\n\n-- \n佐藤\n", charset="iso-2022-jp"
    )
    message.add_attachment(b"Area,Fee\nEast,900\n", maintype="text", subtype="csv", filename="fees.csv")
    message.add_attachment(b"\0", maintype="image", subtype="png", filename="x.png")
    document = read("a.eml", "corpus:a", message.as_bytes())
    assert document.title == "夏季休業"
    assert [unit.text for unit in units(document)] == [
        "休業は8月12日からです。",
        wrote,
        "昨年は11日でした。",
        "East | 900",
    ]
    assert document.passages[1].section == ("Earlier messages / 過去のメール",)
    assert document.passages[-1].section == ("fees.csv",)


@pytest.mark.parametrize(
    ("kind", "content", "standing"),
    [
        (
            "html",
            "<p>It is 45 EUR now.<div>On Monday Bob wrote:</div><blockquote>It was 40 EUR.</blockquote>",
            Standing.SUPERSEDED,
        ),
        ("html", "<p>For your files.<p>From: Bob<p>It is 40 EUR.", Standing.CURRENT),
        ("plain", "It is 45 EUR now.\n\n> It is 40 EUR.\n", Standing.SUPERSEDED),
        ("plain", "I agree, see you on 3 May.\n\n> It is 40 EUR.\n", Standing.CURRENT),
    ],
)
def test_what_a_reply_quotes_no_longer_holds_if_it_has_such_figures_itself(
    kind: str, content: str, standing: Standing
) -> None:
    message = EmailMessage()
    message["From"], message["Subject"] = "a@example.com", "Fees"
    message.set_content(content, subtype=kind)
    message.add_attachment(b"\0", maintype="application", subtype="zip", filename="x.zip")
    document = read("a.eml", "corpus:a", message.as_bytes())
    own, earlier = document.passages
    assert earlier.section == ("Earlier messages / 過去のメール",)
    assert (own.edition.standing, earlier.edition.standing) == (Standing.CURRENT, standing)
    assert document.left_out == "x.zip: this kind of file (.zip) is not read"


@pytest.mark.parametrize(
    "body",
    [
        "<p>It costs €5.</p><blockquote type='cite'>It costs €4.<blockquote type='cite'>It was €3.</blockquote></blockquote>",
        "<div>On 30/03/2026 10:00, Bob wrote:</div><blockquote type='CITE'>It costs €4.</blockquote><p>It costs €5.</p>",
        "<p>It costs €5.</p><div>2026年3月30日(月) 10:00 田中 &lt;t@example.com&gt;:</div><div>It costs €4.</div>",
    ],
)
def test_what_an_html_mail_quotes_no_longer_holds(body: str) -> None:
    message = EmailMessage()
    message["From"], message["Subject"] = "a@example.com", "Re: Lockers"
    message.set_content(body, subtype="html")
    found = read("a.eml", "corpus:a", message.as_bytes()).passages
    standing = {passage.edition.standing: [unit.text for unit in passage.units] for passage in found}
    assert standing[Standing.CURRENT] == ["It costs €5."]
    assert "It costs €4." in standing[Standing.SUPERSEDED]


def test_all_parts_of_a_mail_are_read_or_named() -> None:
    message, inner, other = EmailMessage(), EmailMessage(), EmailMessage()
    message["From"], message["Subject"] = "a@example.com", "Fees"
    message.set_content("The list is below.")
    message.make_alternative()
    inner.set_content("<p>The list is below.</p>", subtype="html")
    inner.add_attachment("Area,Fee\nEast,900\n", subtype="csv", filename="fees.csv")
    inner.add_attachment("<p>Ask Ada.</p>", subtype="html", disposition="inline")
    message.attach(inner)
    message.make_mixed()
    other["From"], other["Subject"] = "b@example.com", "Gate"
    other.set_content("The gate closes at nine.")
    message.add_attachment(other, filename="Gate")
    message.add_attachment("See you on Monday.", disposition="inline")
    message.add_attachment(b"BEGIN", maintype="application", subtype="zip", filename="a.zip")
    document = read("a.eml", "corpus:a", message.as_bytes())
    expected = ["The list is below.", "See you on Monday.", "East | 900", "The gate closes at nine."]
    assert [unit.text for unit in units(document)] == expected
    assert document.left_out == "a.zip: this kind of file (.zip) is not read"
    only = b"From: a@example.com\nContent-Type: application/pdf; name=a.pdf\n\n%PDF"
    with pytest.raises(Unreadable, match=r"no text in it; a\.pdf: damaged PDF"):
        read("a.eml", "corpus:a", only)


@pytest.mark.parametrize(
    ("subtype", "body"),
    [
        (
            "plain",
            """We asked for ten candles.

---------- Forwarded message ---------
From: Fire Station
Subject: Permit 26-118

At most 6 candles are permitted.

> Ten candles, please.
""",
        ),
        (
            "html",
            """<p>We asked for ten candles.</p><div>-------- Forwarded message --------</div><div>From: Fire Station</div>
<div>Subject: Permit 26-118</div><p>At most 6 candles are permitted.</p>
<blockquote type='cite'>Ten candles, please.</blockquote>""",
        ),
    ],
)
def test_a_message_that_is_forwarded_holds_and_what_it_quotes_does_not(subtype: str, body: str) -> None:
    message = EmailMessage()
    message["From"], message["Subject"] = "a@example.com", "Fwd: Permit"
    message.set_content(body, subtype=subtype)
    found = read("a.eml", "corpus:a", message.as_bytes()).passages
    standing = {
        (passage.section[-1:], passage.edition.standing): [unit.text for unit in passage.units] for passage in found
    }
    assert standing == {
        ((), Standing.CURRENT): ["We asked for ten candles."],
        (("Permit 26-118",), Standing.CURRENT): ["At most 6 candles are permitted."],
        (("Earlier messages / 過去のメール",), Standing.SUPERSEDED): ["Ten candles, please."],
    }


def test_a_mail_with_characters_of_windows_in_iso_2022_jp_is_read() -> None:
    mail = b"From: a@example.com\nSubject: =?ISO-2022-JP?B?GyRCLSEycTVEGyhC?=\nContent-Type: text/plain; charset=iso-2022-jp\n\n"
    document = read("a.eml", "corpus:a", mail + b"\x1b$B-j9bED$O\x1b(B \x1b(I1\x1b(B5\x1b$BL>!#\x1b(B\n")
    assert (document.title, [unit.text for unit in units(document)]) == ("①会議", ["㈱高田は ｱ5名。"])


def test_the_page_of_a_mail_is_read_where_its_plain_text_says_nothing() -> None:
    message = EmailMessage()
    message["From"], message["Subject"] = "a@example.com", "Lift"
    message.set_content("\n")
    message.add_alternative("<p>The lift is repaired on 3 May.</p>", subtype="html")
    document = read("a.eml", "corpus:a", b"\xef\xbb\xbf" + message.as_bytes())
    assert [unit.text for unit in units(document)] == ["The lift is repaired on 3 May."]


@pytest.mark.parametrize(
    "body",
    [
        "It costs €5.\n\nOn Tue, Mar 31, 2026 at 9:00 AM Bob\n<bob@example.com> wrote:\n\nIt costs €4.\n",
        "On Tue, Mar 31, 2026 at 9:00 AM Bob\n<bob@example.com> wrote:\n\n> It costs €4.\n\nIt costs €5.\n",
        "It costs €5.\n\n2026年3月30日(月) 10:00 田中\n<t@example.com>:\n\nIt costs €4.\n",
    ],
)
def test_a_line_above_a_quotation_may_be_wrapped_and_the_answer_may_stand_below(body: str) -> None:
    message = EmailMessage()
    message["From"], message["Subject"] = "a@example.com", "Re: Lockers"
    message.set_content(body)
    found = read("a.eml", "corpus:a", message.as_bytes()).passages
    standing = {passage.edition.standing: [unit.text for unit in passage.units] for passage in found}
    assert standing[Standing.CURRENT] == ["It costs €5."]
    assert "It costs €4." in standing[Standing.SUPERSEDED]
