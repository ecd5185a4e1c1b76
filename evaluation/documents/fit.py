"""Fit the confidence of document QA's quotes: `python -m evaluation.documents.fit`.

Prints the weights for `functions/docqa/extractive/confidence.py`, fitted to all sets, and how quotes are asserted on sets that
the weights were not fitted to: for each set they are fitted to the others.
"""

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.documents.measure import corpus_of, names, questions_of, record_of
from functions.docqa.engine import DocumentQA
from functions.docqa.extractive.answering import answered
from functions.docqa.extractive.confidence import Features
from functions.docqa.extractive.extract import features_of
from functions.docqa.retrieval.access import Asker
from hubctl.live.corpus_questions import Outcome, outcome

_STEPS = 12
_RIDGE = 1.0
_THRESHOLDS = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85)


@dataclass(frozen=True, slots=True)
class Case:
    """A question whose best quote was asserted: the quote's features, and whether it is right."""

    features: Sequence[float]
    is_right: bool
    is_answerable: bool


def cases_of(name: str) -> list[Case]:
    """Return the cases of a set: its questions that some quote could answer."""
    found = []
    with contextlib.closing(DocumentQA(corpus_of(name), None)) as engine:
        for question in questions_of(name):
            results = engine.find(question.question, asker=Asker())
            answer = answered(results, min_confidence=0.0)
            if answer.grounded and (features := features_of(results)):
                is_right = outcome(question, record_of(answer)) is Outcome.RIGHT
                found.append(Case((1.0, *map(float, features)), is_right, question.answerable))
    return found


def fitted(cases: Sequence[Case]) -> list[float]:
    """Return the bias and the weights of a logistic regression, by Newton's method with a little ridge."""
    size = len(cases[0].features)
    weights = [0.0] * size
    for _ in range(_STEPS):
        gradient = [-_RIDGE * weight for weight in weights]
        hessian = [[_RIDGE * (row == column) for column in range(size)] for row in range(size)]
        for case in cases:
            chance = _chance(weights, case.features)
            for row, value in enumerate(case.features):
                gradient[row] += (case.is_right - chance) * value
                for column, other in enumerate(case.features):
                    hessian[row][column] += chance * (1 - chance) * value * other
        weights = [weight + step for weight, step in zip(weights, _solved(hessian, gradient), strict=True)]
    return weights


def _chance(weights: Sequence[float], features: Sequence[float]) -> float:
    return 1 / (1 + math.exp(-sum(weight * value for weight, value in zip(weights, features, strict=True))))


def _solved(matrix: list[list[float]], vector: Sequence[float]) -> list[float]:
    """Return the solution of a system of linear equations whose matrix is positive definite."""
    rows = [[*row, value] for row, value in zip(matrix, vector, strict=True)]
    for pivot, row in enumerate(rows):
        row[:] = [value / row[pivot] for value in row]
        for other in rows:
            if other is not row:
                other[:] = [value - other[pivot] * own for value, own in zip(other, row, strict=True)]
    return [row[-1] for row in rows]


def main() -> None:
    """Print the table and the weights."""
    cases = {name: cases_of(name) for name in names()}
    chances = []
    for name, own in cases.items():
        weights = fitted([case for other, each in cases.items() if other != name for case in each])
        chances += [(_chance(weights, case.features), case) for case in own]
    questions = [question for name in names() for question in questions_of(name)]
    answerable = sum(question.answerable for question in questions)
    print("confidence  right   wrong   unanswerable asserted")
    for least in _THRESHOLDS:
        asserted = [case for chance, case in chances if chance >= least]
        right, wrong = (
            sum(case.is_answerable and case.is_right is each for case in asserted) for each in (True, False)
        )
        other = sum(not case.is_answerable for case in asserted)
        shares = (right / answerable, wrong / answerable, other / (len(questions) - answerable))
        print(f"{least:<10} ", "  ".join(f"{share:6.1%}" for share in shares))
    bias, *weights = fitted([case for each in cases.values() for case in each])
    print("bias", round(bias, 2), Features(*(round(weight, 2) for weight in weights)))


if __name__ == "__main__":
    main()
