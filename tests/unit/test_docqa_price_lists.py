"""Price lists, telephone lists and handbooks that replace one another: amounts, numbers and names as people write them."""

from collections.abc import Iterator

import pytest

from functions.docqa.questions.expressions import AnswerKind
from functions.docqa.questions.question import analyse
from tests.fakes.documents import Ask, answering_from

_PRICES = """# Price list of the kite shop

All prices in euros.

| Article | Order number | Retail price |
|---|---|---|
| Reel for KT-20 Pro | 80020 | 14.50 |
| KT-20 Pro | 20021 | 189.00 |
| Spare bag KT-20 | 80044 | 22.00 |

Kites are lent for 35p per hour. A lesson costs 40 €.
"""
_CONTACTS = """# Who to call

| Role | When | How to reach |
|---|---|---|
| Beach warden | a kite is lost at sea | +44 20 7946 0990 |
| Line tester | a line is torn | in the hut |

The loan of more than two kites needs the approval of the field treasurer.
The launch officer is Odile Marchetti.
There are 37 people on the waiting list; the wait is about three years.
Proofs of a torn line are kept. By rule, the claim for a line is sent within three weeks.
A beginner of 12 years flies the KT-20 Pro with a teacher.
The shop pays for two days with a sick child or parent.

## Processors

Changes of the processor are announced 30 days in advance.

## Sub-processors

The list stands in Annex B. The shop tells its customers of any change six weeks in advance.

## Sizes

| | KT-20 | KT-40 |
|---|---|---|
| Weight | 900 g | 1.2 kg |
| Line | L20, 80 g | L40, 95 g |
"""
_OLD = "# Flying handbook 2023\n\nSuperseded by the Flying handbook 2025.\n\nLeave for night flying lasts 2 hours.\n"
_NEW = """# Flying handbook 2025

Leave for night flying: 4 hours, at most twice a week.

A whistle is needed from the third flight on.

| Wind | Longest line | Shortest line |
|---|---|---|
| up to force 3 | 40 days | 20 days |
"""


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    documents = {
        "prices.md": _PRICES,
        "contacts.md": _CONTACTS,
        "flying-2023.md": _OLD,
        "flying-2025.md": _NEW,
    }
    with answering_from(tmp_path_factory.mktemp("kites"), documents) as answer:
        yield answer


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What does a KT-20 Pro cost?", "189.00"),
        ("How much is the loan of a kite per hour?", "35p per hour"),
        ("What does a lesson cost?", "40 €"),
        ("What is the phone number of the beach warden?", "+44 20 7946 0990"),
        ("Who is the launch officer?", "Odile Marchetti"),
        ("How long is leave for night flying?", "4 hours"),
        ("How long was leave for night flying under the old handbook?", "2 hours"),
        ("From which flight on is a whistle needed?", "from the third flight"),
        ("How much does the KT-40 weigh?", "1.2 kg"),
        ("How far in advance must a new sub-processor be announced?", "six weeks"),
        ("How many people are on the waiting list?", "37 people"),
        ("By when must the claim for a line be ready?", "within three weeks"),
    ],
)
def test_what_was_asked_for_is_quoted_first(ask: Ask, question: str, expected: str) -> None:
    answer = ask(question)
    assert answer.grounded
    assert expected in answer.citations[0].quote


@pytest.mark.parametrize(
    "question",
    [
        "What is the price of a spare bag for the KT-20 Pro?",
        "Who is the field treasurer?",
        "What is the phone number of the line tester?",
        "Which of the two kites is quieter?",
        "Does the shop pay for childcare?",
        "What does the spare bag weigh?",
        "How tall is the KT-20 Pro?",
    ],
)
def test_another_model_a_mention_and_a_place_are_no_answer(ask: Ask, question: str) -> None:
    answer = ask(question)
    assert not answer.grounded, answer.text


def test_how_heavy_it_is_is_told_alone(ask: Ask) -> None:
    assert [citation.quote for citation in ask("How heavy is the KT-40?").citations] == ["Weight | 900 g | 1.2 kg"]


def test_a_handbook_is_no_question_of_permission() -> None:
    assert analyse("What was the fare in the handbook?").kind is not AnswerKind.PERMISSION
