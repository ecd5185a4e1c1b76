"""What keeps a text from being TOML, for those who write a file by hand: the line, and what to write instead."""

from a2a_hub.toml.checked_table import Problem

_CURLY_QUOTES = frozenset("“”„‟‘’‚＂＇「」")
_WIDE_SIGNS = frozenset("＝［］｛｝，．＃")
# By a piece of the parser's message, in the order in which they are tried.
_HINTS = (
    (
        "'\\'",
        "between double quotes every \\ has to be doubled; write patterns in single quotes, as in '\\bleave\\b'",
    ),
    ("Invalid value", 'a text stands in quotes, as in id = "expense"'),
    ("Cannot overwrite a value", "{key} stands twice in this table; delete one"),
    ("Cannot declare", "{key} is declared twice; a table of a list has two brackets, as in [[routes]]"),
    ("Unclosed array", "a list of a line above has no ] at its end"),
    ("Unterminated string", "a text has no quote at its end"),
    (
        "Illegal character",
        "a text of one line has no quote at its end, or holds a character that cannot be seen",
    ),
    ("Expected '=' after a key", 'a line is written as key = value, a comment begins with "#"'),
    ("Expected newline or end of document", "what follows the value belongs on a line of its own"),
)


def syntax_problem(text: str, error: ValueError) -> Problem:
    """The mistake at which tomllib stopped reading `text`, by its TOMLDecodeError; those behind it are not known yet."""
    # The message ends in "(at line 3, column 5)", or "(at end of document)".
    message, _, place = str(error).rpartition(" (at ")
    message = message or str(error)
    digits = place.removeprefix("line ").partition(",")[0]
    lines = text.splitlines() or [""]
    line = int(digits) if digits.isdigit() else text.count("\n") + 1
    hint = _hint(message, lines[min(line, len(lines)) - 1])
    return Problem(line, f"this is not TOML: {message}" + (f"; {hint}" if hint else ""))


def _hint(message: str, line: str) -> str:
    outside = line.partition("#")[0].translate(dict.fromkeys(map(ord, " \t")))
    if _WIDE_SIGNS.intersection(outside.partition("=")[0].partition('"')[0]):
        return "signs such as = and [ have to be half-width"
    if _CURLY_QUOTES.intersection(outside.partition("=")[2][:1]):
        return "quotes have to be straight: \" or '"
    hint = next((hint for piece, hint in _HINTS if piece in message), "")
    return hint.format(key=line.partition("=")[0].strip())
