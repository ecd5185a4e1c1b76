"""Literals that every match of a pattern holds. It does without RE2, which the machine that makes a bundle may not have."""

import re

# Characters that stand for themselves; of a run, not the last one where a quantifier follows it.
_PLAIN = r"[^\\.\[\](){}|*+?^$]+"
_PLAIN_RUN = re.compile(_PLAIN + r"(?![*+?{])")
_PLAIN_ALTERNATIVES = re.compile(rf"{_PLAIN}(?:\|{_PLAIN})*(?=\))")
_QUANTIFIED_BY = "*+?{"
_ZERO_WIDTH = "bBAz"


def required_literals(pattern: str) -> tuple[str, ...]:
    """Return literals in folded case, of which every matching text has one; none if they cannot be determined.

    Unknown syntax adds no literals, so that no match is lost. For patterns that RE2 rejects the result means nothing.
    """
    reader = _Reader(pattern)
    try:
        return reader.alternatives()
    except (_NotUnderstoodError, ValueError, IndexError, RecursionError):
        return ()


class _NotUnderstoodError(Exception):
    """Syntax whose end this reader cannot find."""


class _Reader:
    """A reader of one pattern. Every method moves `at` behind the syntax that it has read."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0

    def alternatives(self) -> tuple[str, ...]:
        branches = [self._sequence()]
        while self._take("|"):
            branches.append(self._sequence())
        return tuple(literal for branch in branches for literal in branch) if all(branches) else ()

    def _sequence(self) -> tuple[str, ...]:
        required: list[tuple[str, ...]] = []
        run = ""
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            if plain := self._plain_run():
                run += plain
                continue
            literal, group = self._atom()
            least = self._least_repeats()
            if literal is not None and least == 1:
                run += literal
                continue
            if literal is not None and least is not None:
                run += literal
            if run:
                required.append((run,))
            run = ""
            if group and least is not None:
                required.append(group)
        if run:
            required.append((run,))
        # Those that fewest texts have, at two bits of information in a character.
        return min(required, key=lambda literals: sum(4.0 ** -len(each) for each in literals), default=())

    def _plain_run(self) -> str:
        plain = _PLAIN_RUN.match(self.pattern, self.at)
        if plain is None or len(folded := plain[0].casefold()) != len(plain[0]):
            return ""
        self.at = plain.end()
        return folded

    def _atom(self) -> tuple[str | None, tuple[str, ...]]:
        """Return a literal ("" for zero width) or None, and the literals that a group requires."""
        character = self.pattern[self.at]
        self.at += 1
        match character:
            case "(":
                return None, self._group()
            case "[":
                self._skip_class()
                return None, ()
            case ".":
                return None, ()
            case "^" | "$":
                return "", ()
            case "\\":
                return self._escape(), ()
        folded = character.casefold()
        return (folded if len(folded) == 1 else None), ()

    def _group(self) -> tuple[str, ...]:
        if self._take("?"):
            if self.pattern.startswith(("P<", "<"), self.at):
                self.at = self._find(">") + 1
            else:
                while self.pattern[self.at] not in ":)":
                    self.at += 1
                if self.pattern[self.at] == ":":
                    self.at += 1
        plain = _PLAIN_ALTERNATIVES.match(self.pattern, self.at)
        if plain is not None and len(folded := plain[0].casefold()) == len(plain[0]):
            self.at = plain.end()
            required = tuple(folded.split("|"))
        else:
            required = self.alternatives()
        self._take(")")
        return required

    def _skip_class(self) -> None:
        self._take("^")
        self._take("]")
        while not self._take("]"):
            if self.pattern.startswith("[:", self.at):
                self.at = self._find(":]") + 2
            else:
                self.at += 2 if self.pattern[self.at] == "\\" else 1

    def _escape(self) -> str | None:
        escaped = self.pattern[self.at]
        self.at += 1
        if escaped in _ZERO_WIDTH:
            return ""
        if escaped in "pPx" and self._take("{"):
            self.at = self._find("}") + 1
        elif escaped in "pP":
            self.at += 1
        elif escaped == "x":
            self.at += 2
        elif escaped == "Q" or escaped.isdigit():
            raise _NotUnderstoodError
        return escaped if not escaped.isalnum() else None

    def _least_repeats(self) -> int | None:
        """Return 1 for a plain atom, 2 for one that may repeat, None for one that may be missing."""
        least: int | None = 1
        while self.at < len(self.pattern) and self.pattern[self.at] in _QUANTIFIED_BY:
            quantifier = self.pattern[self.at]
            if quantifier == "{":
                end = self.pattern.find("}", self.at)
                lowest = self.pattern[self.at + 1 : end].partition(",")[0]
                if end < 0 or not (lowest.isascii() and lowest.isdigit()):
                    raise _NotUnderstoodError
                self.at = end
                least = None if int(lowest) == 0 else least and 2
            else:
                least = None if quantifier in "*?" else least and 2
            self.at += 1
        return least

    def _find(self, text: str) -> int:
        found = self.pattern.find(text, self.at)
        if found < 0:
            raise _NotUnderstoodError
        return found

    def _take(self, character: str) -> bool:
        if not self.pattern.startswith(character, self.at):
            return False
        self.at += len(character)
        return True
