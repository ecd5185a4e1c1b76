"""Sentences as the verifier judges them."""

from a2a_hub.grounding.evidence import Evidence, Sentence
from a2a_hub.grounding.verifier import verify


def flaws(sentence: str, *quotes: Evidence | str, question: str = "") -> list[str]:
    """Return the flaws of a sentence that cites all quotes."""
    evidence = {
        number: quote if isinstance(quote, Evidence) else Evidence(number, quote)
        for number, quote in enumerate(quotes, 1)
    }
    return list(verify(Sentence(sentence, tuple(evidence)), evidence, question=question))
