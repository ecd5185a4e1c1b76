"""The paper's four questions (§5.1) in English and Japanese, each in several wordings, and what a right answer says."""

from dataclasses import dataclass

import pytest


@dataclass(frozen=True, kw_only=True)
class Question:
    """`says` are words that a right answer holds, `keeps_silent` words that would make it wrong."""

    route: str
    language: str
    wordings: tuple[str, ...]
    says: tuple[str, ...]
    keeps_silent: tuple[str, ...] = ()

    def is_answered_by(self, text: str) -> None:
        """Returns when `text` is a right answer to this question."""
        for words in self.says:
            assert words in text, f"{words!r} is missing in {text!r}"
        for words in self.keeps_silent:
            assert words not in text, f"{words!r} should not be in {text!r}"


QUESTIONS = (
    Question(
        route="expense",
        language="en",
        wordings=(
            "What is the expense reimbursement submission deadline?",
            "By when do I have to hand in my travel expenses to get reimbursed?",
            "how long do i have to submit an expense report",
        ),
        says=("5th business day of the month after",),
    ),
    Question(
        route="expense",
        language="ja",
        wordings=(
            "経費精算の申請期限は",
            "経費の申請はいつまでに出せばいいですか",
            "ｹｲﾋ精算の申請期限はいつですか",
        ),
        says=("翌月第5営業日",),
    ),
    Question(
        route="pm",
        language="en",
        wordings=(
            "List three tasks for creating a project WBS.",
            "Give me three tasks to set up a project WBS.",
            "What are 3 tasks to create a work breakdown structure for a project?",
        ),
        says=("\n1. ", "\n2. ", "\n3. ", "work packages"),
        keeps_silent=("\n4. ",),
    ),
    Question(
        route="pm",
        language="ja",
        wordings=(
            "プロジェクトのWBSを作成するためのタスクを3つ挙げて",
            "プロジェクトのWBS作成タスクを三つ教えてください",
            "ＷＢＳを作るためのタスクを３つリストアップして",
        ),
        says=("\n1. ", "\n2. ", "\n3. ", "ワークパッケージ"),
        keeps_silent=("\n4. ",),
    ),
    Question(
        route="general",
        language="en",
        wordings=("What is the height of Mount Fuji?", "how tall is mt. fuji?", "How high is Mount Fuji?"),
        says=("3,776 m",),
    ),
    Question(
        route="general",
        language="ja",
        wordings=("富士山の高さは", "富士山の標高を教えてください", "富士山は何メートルですか？"),
        says=("3,776 m", "富士山"),
    ),
    Question(
        route="docqa",
        language="en",
        wordings=(
            "What is the deadline for notifying the infrastructure team for a P-1 incident?",
            "How quickly must the infrastructure team be told about a P-1 incident?",
            "Within how many minutes do we have to notify the infrastructure team of a P1 incident?",
        ),
        says=("within 15 minutes of incident detection",),
        keeps_silent=("60 minutes", "30 minutes"),
    ),
    Question(
        route="docqa",
        language="ja",
        wordings=(
            "P-1インシデントの際、インフラチームへの連絡期限は",
            "P-1インシデントではインフラチームに何分以内に連絡する必要がありますか",
            "Ｐ－１インシデントのインフラチームへの連絡期限を教えてください",
        ),
        says=("検知から15分以内",),
        keeps_silent=("60分", "30分"),
    ),
)
# For `parametrize`: a question and its first wording.
FIRST_WORDINGS = tuple(
    pytest.param(question, question.wordings[0], id=f"{question.route}-{question.language}") for question in QUESTIONS
)
