"""What a message says itself: mails lose what surrounds their question, and no question loses a word."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_hub.text.normalization import question_text, without_quoted_mail, without_signature

MAILS = {
    "Hi,\nI lost my laptop. By when do I report it?\nThanks\nMia\nAccounting (expenses & travel)": (
        "I lost my laptop. By when do I report it?"
    ),
    "Dear colleagues,\n\nwe had a P-1. What now?\n\nBest regards,\nTom Weber\nProject Manager": "we had a P-1. What now?",
    "> When is the kick-off?\nHow do I claim a taxi?\n-- \nTom": "How do I claim a taxi?",
    "How do I claim a taxi?\n\nOn Mon, 3 Nov 2025 at 10:00, Boss wrote:\n> plan the project": "How do I claim a taxi?",
    "How do I claim a taxi?\n-----Original Message-----\nFrom: Boss\nplan the project": "How do I claim a taxi?",
    "How do I claim a taxi?\nThanks\nTom\nPMO\n-----Original Message-----\nFrom: Boss\nHow is the plan?": (
        "How do I claim a taxi?"
    ),
    "How do I claim a taxi?\nBest\nLucy\nProject Management Office": "How do I claim a taxi?",
    "How do I claim a taxi?\nBest wishes and so on\nLucy": "How do I claim a taxi?\nBest wishes and so on\nLucy",
    "お疲れさまです。経理部の佐藤です。\n有給の申請期限はいつですか。\nよろしくお願いいたします。\n佐藤 / 経理部 経費精算担当": (
        "有給の申請期限はいつですか。"
    ),
    "田中様\n領収書をなくしました。\n何卒よろしくお願い申し上げます。\n━━━━━\nプロジェクト推進課": "領収書をなくしました。",
    "開発部の鈴木です。P-1の連絡期限は何分以内でしょうか。よろしくお願いいたします。": "P-1の連絡期限は何分以内でしょうか。",
}

LEFT_ALONE = [
    "How do I claim a taxi?",
    "Thanks",
    "Thanks\nHow do I claim a taxi?",
    "よろしくお願いいたします。",
    "お世話になっております。",
    "経費精算をよろしくお願いいたします。",
    "> nothing but a quote",
    "From: Tom\nHow do I claim a taxi?",
    "What is the capital of France?\nand of Mars?",
    "This is the plan.\n---\nWho approves it?",
    "出張の件です。\n以上\n精算の期限はいつですか。",
    "Hi, how do I claim a taxi?\n" + "pasted line\n" * 3_000,
]


@pytest.mark.parametrize(("mail", "own"), MAILS.items())
def test_a_mail_is_left_with_its_question(mail: str, own: str) -> None:
    assert without_quoted_mail(mail) == own


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_what_may_be_the_question_is_left_as_it_is(text: str) -> None:
    assert without_quoted_mail(text) == text


UNSIGNED = {
    "How do I claim a taxi?\nThanks\nTom, PMO": "How do I claim a taxi?",
    "Please see below.\nThanks\nTom, PMO\n> How do I claim a taxi?": "Please see below.\n> How do I claim a taxi?",
    "Dear Mia,\nplease see below.\nBest regards\nTom, PMO\n-----Original Message-----\nHow do I claim a taxi?\nThanks\nMia": (
        "Dear Mia,\nplease see below.\n-----Original Message-----\nHow do I claim a taxi?\nThanks\nMia"
    ),
    "How high is Mount Fuji?\nThanks\nMia\n-----Original Message-----\nHow do I claim a taxi?": "How high is Mount Fuji?",
    "Dear accountants,\n> How do I claim a taxi?\nhow high is Mount Fuji?": "Dear accountants,\nhow high is Mount Fuji?",
    "Can you answer this?\n> How do I claim a taxi?": "Can you answer this?\n> How do I claim a taxi?",
    "富士山の高さは何mですか。\n＞P-1の連絡期限は": "富士山の高さは何mですか。",
    "下記にお答えいただけますか。\n＞P-1の連絡期限は": "下記にお答えいただけますか。\n＞P-1の連絡期限は",
    "下記の件です。\nよろしくお願いいたします。\n田中 / 経理部\n＞P-1の連絡期限は": "下記の件です。\n＞P-1の連絡期限は",
}


@pytest.mark.parametrize(("mail", "left"), UNSIGNED.items())
def test_without_its_signature_a_mail_keeps_what_it_quotes(mail: str, left: str) -> None:
    assert without_signature(mail) == left


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_what_has_no_signature_loses_nothing(text: str) -> None:
    assert without_signature(text).splitlines() == text.splitlines()


@given(st.text(max_size=300))
def test_something_is_always_left_and_nothing_is_added(text: str) -> None:
    own = without_quoted_mail(text)
    assert set(own) <= set(text) | {"\n"}
    assert bool(own.strip()) >= bool(text.strip())


def test_no_text_takes_long() -> None:
    started = time.process_time()
    for piece in ("> \n", "以上\n", "、", "よろしくお願い", "お手数ですが", "a\n\n", "経理部の", "。", "hi "):
        for text in (piece * (19_990 // len(piece)), piece * (19_990 // len(piece)) + "\nか。"):
            without_quoted_mail(text)
            without_signature(text)
    assert time.process_time() - started < 5


def test_of_pasted_material_an_agent_for_short_questions_reads_the_ends() -> None:
    pasted = "All of this was pasted.\n" * 2000
    assert question_text(f"What is the per diem?\n{pasted}").startswith("What is the per diem?\n")
    assert question_text(f"{pasted}What is the per diem?").endswith("\nWhat is the per diem?")
    assert len(question_text(pasted * 100)) < 21_000
    assert question_text("Hello,\nWhat is the per diem?\nBest regards\nAda") == "What is the per diem?"
