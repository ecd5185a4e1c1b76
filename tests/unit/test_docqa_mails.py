"""Questions on documents in the form of a mail, and in a conversation: they are answered as the bare question is."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from a2a_hub.agents.conversation import in_conversation
from a2a_hub.agents.phrasing import Answer
from functions.docqa.app import answers_of
from functions.docqa.engine import DocumentQA
from functions.docqa.selection import selecting
from tests.unit.agent_answers import ask

CORPUS = Path(__file__).parent.parent.parent / "functions" / "docqa" / "corpus"


@pytest.fixture(scope="module")
def answer() -> Iterator[Answer]:
    with closing(DocumentQA.open(CORPUS, None)) as engine:
        yield answers_of(engine, selecting(None))


ENGLISH_MAIL = """Dear colleagues,

we had an outage this morning. It was a P-1. Within how many minutes must the infrastructure team be notified?

Best regards,
Tom Weber
Project Manager, Incident Response Team
"""
JAPANESE_MAIL = """お世話になっております。開発部の鈴木です。
P-1インシデントの際、インフラチームへの連絡期限は何分以内でしょうか。
以上、よろしくお願いいたします。
-----
鈴木 花子 / 経理システム開発部
"""


@pytest.mark.parametrize(("mail", "told"), [(ENGLISH_MAIL, "within 15 minutes"), (JAPANESE_MAIL, "15分以内")])
def test_greetings_and_signatures_do_not_stand_in_the_way_of_an_answer(answer: Answer, mail: str, told: str) -> None:
    text, data = ask(answer, mail)
    assert data["grounded"] is True
    assert told in text


@pytest.mark.parametrize(
    ("questions", "told"),
    [
        (
            (
                "What is the deadline for notifying the infrastructure team for a P-1 incident?",
                "and for P-2?",
                "what about P-3",
            ),
            ("within 15 minutes", "within 60 minutes", "next business day"),
        ),
        (("P-1インシデントの連絡期限は", "P-2は?", "じゃあP-3は?"), ("15分以内", "60分以内", "翌営業日")),
    ],
)
def test_a_follow_up_gets_the_deadline_of_the_other_severity(
    answer: Answer, questions: tuple[str, ...], told: tuple[str, ...]
) -> None:
    say = in_conversation(answer, alone_first=False)
    for question, words in zip(questions, told, strict=True):
        assert words in ask(say, question, context_id="c")[0]
