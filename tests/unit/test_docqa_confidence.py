"""The confidence in a quote, and how its weights are fitted."""

import math
import random

import pytest

from evaluation.documents.fit import Case, fitted
from functions.docqa.extractive.confidence import MIN_CONFIDENCE, WIDE_MARGIN, Features, confidence

CLEAR = Features(unsaid=0.0, margin=WIDE_MARGIN, said=1.0, selects=0.0, leads=1.0)


def test_a_quote_that_says_all_of_the_question_and_has_no_rival_is_asserted() -> None:
    assert confidence(CLEAR) >= MIN_CONFIDENCE


@pytest.mark.parametrize("doubt", [{"unsaid": 0.7}, {"said": 0.3}, {"margin": 0.0}])
def test_words_that_are_not_said_and_rivals_take_confidence_away(doubt: dict[str, float]) -> None:
    assert confidence(CLEAR._replace(**doubt)) < MIN_CONFIDENCE


def test_nothing_is_asserted_against_a_rival_that_says_something_else_as_well() -> None:
    assert confidence(CLEAR._replace(margin=0.01, selects=1.0)) == 0


def test_the_fit_finds_the_weights_that_made_the_cases() -> None:
    made, chances = (-1.0, 3.0, -2.0), random.Random(7)
    cases = []
    for _ in range(20_000):
        features = (1.0, chances.random(), chances.random())
        chance = 1 / (1 + math.exp(-sum(weight * value for weight, value in zip(made, features, strict=True))))
        cases.append(Case(features, chances.random() < chance, is_answerable=True))
    assert fitted(cases) == pytest.approx(made, abs=0.25)
