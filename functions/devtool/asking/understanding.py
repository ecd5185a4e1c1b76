"""What a text asks for: the only door to the rules of both languages."""

from __future__ import annotations

from functions.devtool.actions import AnyAction
from functions.devtool.asking import slash
from functions.devtool.asking.patterns import Help, asked
from functions.devtool.asking.quoted import Sentence, sentence_of, without_place
from functions.devtool.asking.slash import Wrong

# Patterns meet sentences; what is longer, but for what it quotes, is none.
_LONGEST = 500
# More than that is no content of a file that would be written.
_LONGEST_TEXT = 300_000


def understood(text: str) -> AnyAction | Help | Wrong | None:
    """The action that the whole text asks for; None where no rule knows it, and nothing is guessed."""
    text = text.strip()
    if text.startswith(("/", "／")) and not text.startswith(("//", "/?")):
        return slash.found(text)
    if len(text) > _LONGEST_TEXT:
        return None
    sentence = sentence_of(text)
    if not sentence.text or len(sentence.text) > _LONGEST:
        return None
    # "What is in the workspace?" says nothing without it; "run ls in the workspace" means no arguments by it.
    return _asked(without_place(sentence)) or _asked(sentence)


def _asked(sentence: Sentence) -> AnyAction | Help | None:
    # Loaded, and their patterns compiled, for the first sentence.
    from functions.devtool.asking import english, japanese

    in_japanese = asked(sentence, japanese.table(), root=japanese.ROOT) if not sentence.text.isascii() else None
    return in_japanese or asked(sentence, english.table(), root=english.ROOT)
