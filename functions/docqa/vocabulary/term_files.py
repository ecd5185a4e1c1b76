"""The word lists of terms/: plain lines of words between commas, in sections, `#` before a remark."""

from pathlib import Path

from msgspec import Struct, field

from functions.docqa.vocabulary.words import normalise


class Sections(Struct):
    """What the files hold, section by section: lists of groups, pairs of kinds and their class, or words.

    All of it is normalised. `asked` are the words for each kind of answer, `text` all lines without the remarks.
    """

    parties: list[list[str]] = field(default_factory=list)
    synonyms: list[list[str]] = field(default_factory=list)
    broader: list[tuple[list[str], list[str]]] = field(default_factory=list)
    anybody: list[str] = field(default_factory=list)
    light: list[str] = field(default_factory=list)
    special: list[str] = field(default_factory=list)
    stop: list[str] = field(default_factory=list)
    asked: dict[str, list[str]] = field(default_factory=dict)
    text: str = ""


def read(folder: Path) -> Sections:
    """The sections of all files of `folder`. Raises ValueError, with file and line, for a line that fits in none."""
    sections = Sections()
    lines: list[str] = []
    for path in sorted(folder.glob("*.txt")):
        name = ""
        for number, line in enumerate(normalise(path.read_text(encoding="utf-8")).split("\n"), 1):
            if not line or line[0] == "#":
                continue
            if line[0] == "[":
                name = line.strip("[] ")
                continue
            try:
                _add(sections, name, line)
            except ValueError as error:
                raise ValueError(f"{path.name}, line {number}: {error}") from error
            lines.append(line)
    sections.text = "\n".join(lines)
    return sections


def _add(sections: Sections, name: str, line: str) -> None:
    match name:
        case "synonyms":
            sections.synonyms.append(_words(line))
        case "parties":
            sections.parties.append(_words(line))
        case "broader":
            kinds, mark, classes = line.partition("<")
            if not mark:
                raise ValueError("needs the kinds, a < and the words for all of them")
            sections.broader.append((_words(kinds), _words(classes)))
        case "anybody" | "light" | "special" | "stop":
            getattr(sections, name).extend(_words(line))
        case _ if name.startswith("asked "):
            sections.asked.setdefault(name.removeprefix("asked "), []).extend(_words(line))
        case _:
            raise ValueError(f"there is no section [{name}]")


def _words(line: str) -> list[str]:
    words = [word.strip() for word in line.split(",")]
    if not all(words):
        raise ValueError("has nothing between two commas, or at an end")
    return words
