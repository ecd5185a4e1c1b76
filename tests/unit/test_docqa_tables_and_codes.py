"""What a table's head, a code or a joined-up name leaves unsaid in a sentence is known all the same."""

from collections.abc import Iterator

import pytest

from functions.docqa.vocabulary.words import index_text, stem, view
from tests.fakes.documents import Ask, answering_from

_FERRY = """# Ferry operations

## Leave of the crew

| Occasion | Days | Allowance (EUR) |
|---|---|---|
| Own wedding | 2 | 150 |
| Moving house | 1 | 80 |

## Faults

| Level | Meaning | First response | Next report |
|---|---|---|---|
| F1 | The ferry cannot sail | 10 minutes | every 15 minutes |
| F2 | One engine has failed | 45 minutes | every hour |

## Alert: HarbourRadioDown

The crew keeps to its last orders for half an hour.

## Liability

4.1 The liability of the line is limited to 900 euros for each passenger.

4.2 Nothing limits the liability for injury.
"""


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    with answering_from(tmp_path_factory.mktemp("corpus"), {"ferry.md": _FERRY}) as answer:
        yield answer


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many days off do I get for my own wedding?", "Own wedding"),
        ("How much is the allowance for moving house?", "Moving house"),
        ("How quickly do you respond to an F2 ticket?", "F2"),
        ("How long does the crew keep to its last orders without the harbour radio?", "half an hour"),
        ("What is the liability limit?", "900 euros"),
    ],
)
def test_it_is_answered_by_the_row_or_sentence_that_means_it(ask: Ask, question: str, expected: str) -> None:
    assert expected in ask(question).citations[0].quote


def test_a_code_that_no_row_has_is_not_answered(ask: Ask) -> None:
    assert not ask("How quickly does the crew respond to an F3 fault?").grounded


@pytest.mark.parametrize("text", ["HarbourRadioDown fires", "港で HarbourRadioDown fires"])
def test_a_joined_up_name_is_known_by_itself_and_by_its_words(text: str) -> None:
    wanted = "harbourradiodown harbour radio down fir"
    assert wanted in index_text(text)
    assert wanted in view(text).words


def test_clothes_are_no_cloths() -> None:
    assert stem("clothes") == stem("clothing") != stem("cloth") == stem("cloths")
