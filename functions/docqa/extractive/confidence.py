"""The confidence that a quote answers its question: a logistic regression over what is known of the two.

`python -m evaluation.documents.fit` fits it to the labelled questions of `evaluation/documents`, and shows how it does on sets
that it was not fitted to.
"""

import math
from typing import NamedTuple


class Features(NamedTuple):
    """The features of a quote, the inputs of the regression. Shares are from 0 to 1."""

    unsaid: float
    """The share of the question's words that neither the quote nor what governs it says at all."""
    margin: float
    """The lead over the next quote that says something else, as a share of the score; more than `WIDE_MARGIN` is no better."""
    said: float
    """The share of the question's weight that the quote, and what governs it, say."""
    selects: float
    """1 if a range of the quote holds the number of the question."""
    leads: float
    """1 if search found no better passage with a quote that fits."""


WIDE_MARGIN = 0.3
MIN_CONFIDENCE = 0.75
"""The confidence from which a quote is asserted; a wrong assertion is worth ten abstentions."""
_MIN_MARGIN = 0.03
_WEIGHTS = Features(unsaid=-2.3, margin=3.9, said=2.0, selects=0.9, leads=1.0)
_BIAS = -2.1


def confidence(features: Features) -> float:
    """Return the share of quotes like this that answer their question; 0 if another says something else just as well."""
    if features.margin < _MIN_MARGIN:
        return 0.0
    return 1 / (1 + math.exp(-_BIAS - sum(weight * value for weight, value in zip(_WEIGHTS, features, strict=True))))
