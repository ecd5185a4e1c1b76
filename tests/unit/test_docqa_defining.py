"""What a thing is, how long and how often: the sentence that says it comes before those that only name it or point to it."""

from collections.abc import Iterator

import pytest

from functions.docqa.answers.judged import normal_of
from functions.docqa.answers.kinds_of_answer import kind_fit
from functions.docqa.answers.pointers import only_points
from functions.docqa.model import Unit, UnitKind
from functions.docqa.questions.expressions import PATTERNS, AnswerKind
from functions.docqa.questions.question import analyse
from tests.fakes.documents import Ask, answering_from

_BOATHOUSE = """# Boathouse handbook

- **Tender** - the small boat that carries people ashore
- **Bow line** - the rope at the front; a bow line is coiled after use

The most common sort of dry launch is one without any wind.

The pumps are checked every 30mins. Once the pumps are checked, the log of pumps is signed by the keeper.

If a pay day falls on a holiday, wages are paid on the Friday before. Paid twice monthly, wages are sent on the 10th.

A briefing of the crew is a summary of the previous day.
A briefing of the crew is held outdoors, lasting no longer than 15 minutes.

"Sailing hours" means all hours less free hours. "Free hours" means when the water is too low to sail.

Canoe covers cost twice the fee of a rowing lesson.


The members of the slipway board serve for three years. The slipway itself is old.

## Words

### Dry launch / DL

Putting a boat down by crane and without getting the crew wet.

A dry launch needs two people.

### Coaches' meeting

These meetings of the coaches generally last 15-20 minutes. The meeting of the coaches is announced within 3 days.
"""


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    with answering_from(tmp_path_factory.mktemp("boathouse"), {"boathouse.md": _BOATHOUSE}) as asking:
        yield asking


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is a tender?", "**Tender** - the small boat"),
        ("What is a bow line?", "the rope at the front"),
        ("What are free hours?", '"Free hours" means'),
        ("How much do canoe covers cost?", "twice the fee"),
        ("What is a dry launch?", "Putting a boat down by crane"),
        ("How long do coaches' meetings last?", "15-20 minutes"),
        ("How often are the pumps checked?", "every 30mins"),
        ("When are wages paid?", "on the 10th"),
        ("How long may a briefing of the crew last?", "no longer than 15 minutes"),
    ],
)
def test_what_says_it_comes_before_what_names_it(ask: Ask, question: str, expected: str) -> None:
    assert expected in ask(question).citations[0].quote


def test_what_a_word_means_does_not_tell_who_somebody_is() -> None:
    text = "Harbour hours means the hours between two tides."
    assert kind_fit(analyse("Who is the harbour keeper?"), Unit(UnitKind.SENTENCE, 0, 9, text), text.lower()) is None


def test_a_share_is_no_price() -> None:
    unit = Unit(UnitKind.SENTENCE, 0, 9, "Below 99% of the tides, a mooring gets a credit.")
    asked = analyse("How much does a mooring cost?")
    assert kind_fit(asked, unit, normal_of("Below 99.9% we credit the mooring.")) is None
    assert kind_fit(asked, unit, normal_of("A mooring costs 5% of the fee.")) is not None


def test_a_term_of_years_is_no_time_of_day(ask: Ask) -> None:
    assert ask("How long do the members of the slipway board serve?").grounded
    assert not ask("At what time do the members of the slipway board serve?").grounded


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("[Launching a boat](launch.md)", True),
        ("More on boats: see the [guide](guide.md).", True),
        ("For questions on boats, follow our [guide](guide.md) in spring.", True),
        ("See the [guide](guide.md). A launch needs two people.", False),
        ("Boats are [launched](launch.md) by two people.", False),
    ],
)
def test_a_sentence_that_only_points_elsewhere_is_no_answer_but_to_where(text: str, *, points: bool) -> None:
    unit = Unit(UnitKind.SENTENCE, 0, len(text), text)
    assert only_points(analyse("Who launches a boat?"), unit) is points
    assert not only_points(analyse("Where is the guide on launching?"), unit)


@pytest.mark.parametrize(
    ("kind", "text", "is_one"),
    [
        (AnswerKind.FREQUENCY, "once the call is over", False),
        (AnswerKind.FREQUENCY, "it is checked once.", True),
        (AnswerKind.FREQUENCY, "at least once a year", True),
        (AnswerKind.QUANTITY, "if you lack any, make a new one.", False),
        (AnswerKind.QUANTITY, "one can ask the keeper", False),
        (AnswerKind.QUANTITY, "one key is lent", True),
    ],
)
def test_one_and_once_are_told_from_figures(kind: AnswerKind, text: str, *, is_one: bool) -> None:
    assert (PATTERNS[kind].search(text) is not None) is is_one
