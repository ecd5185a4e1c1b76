"""The case that is asked about, how long it lasts, and whose it is: a sentence on another does not answer."""

from collections.abc import Iterator

import pytest

from tests.fakes.documents import Ask, answering_from

_BOILER = """# Boiler guide

## Tank

The dead letter queue of the boiler holds at most 40 messages. Once it is full, new messages are sent back.

## Valves

If the spare valve is available, change it yourself. If the spare valve is missing or not available, close the mains.

## Inspection

We burn all papers shared with us for the inspection immediately after we finish the inspection.

The following visit may take anywhere from 40-50 minutes as we go through the inspection.
"""
_OTTO = """# Otto terms

Otto boilers are sold in Kiel. The guarantee of an Otto boiler is described in the booklet of Otto.

Otto answers letters.
""" + "".join(f"\n## Shop {number}\n\nOtto mends boilers in shop {number}.\n" for number in range(20))
_ALMA = """# Alma terms

We give a guarantee of 24 months on every boiler, and 12 months on its pump.
"""


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    documents = {"boiler.md": _BOILER, "otto.md": _OTTO, "alma.md": _ALMA}
    with answering_from(tmp_path_factory.mktemp("corpus"), documents) as answer:
        yield answer


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What happens when the dead letter queue is full?", "new messages are sent back"),
        ("What should I do when the spare valve is not available?", "close the mains"),
        ("How long does the inspection take?", "40-50 minutes"),
    ],
)
def test_what_is_said_of_the_case_comes_first(ask: Ask, question: str, expected: str) -> None:
    assert expected in ask(question).citations[0].quote


def test_what_is_said_of_another_is_no_answer_on_who_is_named(ask: Ask) -> None:
    assert not ask("How many months of guarantee does Otto give?").grounded
