"""Japanese words for people that end another one: 父母 in 祖父母, 常勤 in 非常勤."""

from functools import cache

from functions.docqa.vocabulary.lexicon import lexicon


def stands_in(form: str, text: str) -> bool:
    """Whether a Japanese word is said, and not only the end of another for somebody else: 祖父母 are no 父母."""
    if form in text and (others := _others_with(form)):
        for other in others:
            text = text.replace(other, " ")
    return form in text


@cache
def _others_with(form: str) -> tuple[str, ...]:
    parties, groups = lexicon().parties, lexicon().groups.standing
    if form not in parties:
        return ()
    own = set(groups.get(form, ()))
    longer = (other for other in parties if form in other and own.isdisjoint(groups.get(other, ())))
    return tuple(other for other in longer if len(form) == 1 or other[1:] == form)
