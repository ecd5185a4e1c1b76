"""The evidence check refuses every citation that does not stand where it says."""

import pytest
from msgspec import structs

from functions.docqa.answers.evidence import EvidenceError, check, checked
from functions.docqa.model import Citation, Position

_TEXT = "# Rules\n\nTell us within 15 minutes.\nTell them within 60 minutes.\n"
_GOOD = Citation(
    uri="corpus:rules.md",
    title="Rules",
    quote="Tell us within 15 minutes.",
    position=Position(start=9, end=35, line=3),
    passage_id="x",
)


class _Texts:
    def canonical_text(self, uri: str) -> str | None:
        return _TEXT if uri == _GOOD.uri else None


def test_a_quote_that_stands_there_passes() -> None:
    check(_GOOD, _TEXT)
    assert checked([_GOOD], _Texts()) == (_GOOD,)


@pytest.mark.parametrize(
    "wrong",
    [
        structs.replace(_GOOD, quote="Tell us within 16 minutes."),
        structs.replace(_GOOD, quote=_GOOD.quote.lower()),
        structs.replace(_GOOD, quote=" "),
        structs.replace(_GOOD, position=Position(start=10, end=36, line=3)),
        structs.replace(_GOOD, position=Position(start=9, end=900, line=3)),
        structs.replace(_GOOD, position=Position(start=-26, end=-1, line=3)),
        structs.replace(_GOOD, position=Position(start=35, end=9, line=3)),
        structs.replace(_GOOD, position=Position(start=9, end=35, line=4)),
        structs.replace(_GOOD, uri="corpus:other.md"),
    ],
)
def test_a_citation_with_one_thing_wrong_is_refused(wrong: Citation) -> None:
    with pytest.raises(EvidenceError):
        checked([_GOOD, wrong], _Texts())
