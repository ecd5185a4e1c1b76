"""Sentences that lean on the one before them: "This is done by …", "Once it is full, …"."""

import re
from functools import lru_cache

from functions.docqa.questions.expressions import DEPENDENT

_IN_A_CLAUSE = re.compile(
    r"\W*(?:once|when|if|after|until|before|as soon as|while|then|afterwards|since|unless)\b[^,.;]{0,30}?"
    r"\b(?:it|they|them|this|that|these|those)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=16384)
def leans(text: str) -> bool:
    """Whether a sentence says by a pronoun what it is about."""
    return DEPENDENT.match(text) is not None or _IN_A_CLAUSE.match(text) is not None
