"""An answer in the sentence behind the one that names the thing: "It is paid …", "This is done by …", an address."""

from collections.abc import Iterator

import pytest

from tests.fakes.documents import Ask, answering_from

_BAKERY = """# Bakery handbook

## Ovens

The stone oven is inspected every month. This is done by the chimney sweep of the district.

The proving cabinet takes 40 trays. Once it is full, the next trays go to the cold room.

## Early work

Early work is agreed with the master baker. It is compensated with a free afternoon for every four mornings.

## Head office

The head office of the bakery is at:

Mill Lane 7, Dunwick

## Ordering

Who may order: the master baker only. Flour is delivered on Mondays and costs money.

- If you forgot your apron, you get one from the shop. No problem.

A suggestion can be left in the green box. The box is emptied by an outside company.
"""


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    with answering_from(tmp_path_factory.mktemp("corpus"), {"bakery.md": _BAKERY}) as answer:
        yield answer


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who inspects the stone oven?", "This is done by the chimney sweep"),
        ("What happens when the proving cabinet is full?", "the next trays go to the cold room"),
        ("How is early work compensated?", "a free afternoon for every four mornings"),
        ("Who empties the green box?", "emptied by an outside company"),
    ],
)
def test_a_sentence_that_leans_on_the_one_before_it_speaks_of_the_same_thing(
    ask: Ask, question: str, expected: str
) -> None:
    assert expected in ask(question).citations[0].quote


def test_the_sentence_that_another_leans_on_is_told_along(ask: Ask) -> None:
    quotes = [citation.quote for citation in ask("Who inspects the stone oven?").citations]
    assert quotes[1:] == ["The stone oven is inspected every month."]


def test_what_a_colon_introduces_is_told_along(ask: Ask) -> None:
    quotes = [citation.quote for citation in ask("Where is the head office of the bakery?").citations]
    assert quotes == ["The head office of the bakery is at:", "Mill Lane 7, Dunwick"]


def test_a_sentence_that_names_nobody_does_not_tell_who(ask: Ask) -> None:
    assert not ask("Who delivers the flour?").grounded


def test_a_word_or_two_that_only_react_are_no_answer(ask: Ask) -> None:
    assert ask("Do I get an apron if I forgot mine?").citations[0].quote != "No problem."
