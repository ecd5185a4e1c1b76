"""An answer in words: the quotes as a reader wants to see them, and what is said when there is no evidence."""

import re
from collections.abc import Sequence

from functions.docqa.answers.extraction import Found
from functions.docqa.answers.leading_cells import leading_cell
from functions.docqa.documents.columns import cells_of
from functions.docqa.model import Standing, UnitKind
from functions.docqa.questions.entities import entities_in
from functions.docqa.questions.question import Question
from functions.docqa.vocabulary.words import plain

_ABSTAINED = {
    "en": "I found no passage in the documents that answers this question, so I do not answer it.",
    "ja": "この質問に答える記述が文書の中に見つからなかったため、回答を控えます。",
}
_NEAREST = {
    "en": "Nearest to it, though perhaps about something else:",
    "ja": "近い記述は次のとおりです（別の事柄についてのものかもしれません）:",
}
_OTHER_LANGUAGE = {
    ("en", "ja"): "The documents say this in Japanese: ",
    ("ja", "en"): "英語の文書に次の記述があります: ",
}
_FORMER_SIDE = {"en": " (no longer in force)", "ja": "（現在は効力のない版）"}
_COUNTED = re.compile(r"は(?:何\S{1,3}|いくら)$")
_FORMER = {"en": "From a version that is no longer in force: ", "ja": "現在は効力のない版の記述です: "}
_MARK_BELOW = re.compile(r"\n[ \t]*(?:([-*+•・])|2([.)．）]))[ \t　]*")
_LIST_MARK = re.compile(r"^[ \t]*(?:>[ \t]?)*", re.MULTILINE)


def abstained(language: str, nearest: Sequence[Found] = ()) -> str:
    """The text of an answer without evidence; what is `nearest` to the question is shown, and said to be no answer."""
    if not nearest:
        return _ABSTAINED[language]
    shown = (f"- {_quoted(found, language)}" for found in nearest)
    return "\n".join([_ABSTAINED[language], "", _NEAREST[language], *shown])


def _quoted(found: Found, language: str) -> str:
    quote = " ".join(plain(found.unit.text).split())
    where = ("、" if language == "ja" else ", ").join(dict.fromkeys((found.passage.title, *found.passage.section[-1:])))
    return f"「{quote}」（{where}）" if language == "ja" else f"“{quote}” ({where})"


def worded(question: Question, evidence: Sequence[Found], *, labels: Sequence[str] = ()) -> str:
    """The quotes in their order, each with its mark: the first leads. Markdown emphasis is left out, nothing else.

    `labels`, one for each quote, say which side of a comparison it stands for.
    """
    parts: list[str] = []
    several = len({found.entities for found in evidence}) > 1
    for number, found in enumerate(evidence, start=1):
        about = _about(found) if several else ""
        if labels:
            starts = number == 1 or labels[number - 2] != labels[number - 1]
            about = f"{_side(question, labels[number - 1], found)}: " if starts else ""
        parts.append(f"{about}{_shown(question, found)} [{number}]")
    first = evidence[0].passage
    former = first.edition.standing is Standing.SUPERSEDED and not labels
    introduction = _FORMER[question.language] if former else ""
    introduction += _OTHER_LANGUAGE.get((question.language, first.language), "")
    return introduction + " ".join(parts)


def _side(question: Question, label: str, found: Found) -> str:
    """A side of a comparison, by its name; one of them may be what an edition says that is no longer in force."""
    former = found.passage.edition.standing is Standing.SUPERSEDED
    return _COUNTED.sub("", label) + (_FORMER_SIDE[question.language] if former else "")


def _about(found: Found) -> str:
    """Which of several entities a quote is about, when only its heading says so."""
    headings = reversed(found.passage.section)
    heading = next((heading for heading in headings if entities_in(heading) >= found.entities), "")
    return f"{heading}: " if heading and not entities_in(found.unit.text) & found.entities else ""


def _shown(question: Question, found: Found) -> str:
    unit = found.unit
    match unit.kind:
        case UnitKind.ROW:
            lead = _cell(question, unit.text, unit.header)
            row = " | ".join(_cells(unit.text))
            return f"{lead} ({row})" if lead else row
        case UnitKind.LIST:
            lines = [plain(line) for line in _LIST_MARK.sub("", unit.text).splitlines() if line.strip()]
            return _mark_of_the_first(found) + "\n".join(lines)
        case _:
            return plain(unit.text)


def _mark_of_the_first(found: Found) -> str:
    """The mark that a list without an introduction begins behind: that of its second item, or the number before it."""
    is_item = any(other.kind is UnitKind.ITEM and other.start == found.unit.start for other in found.passage.units)
    below = _MARK_BELOW.search(found.unit.text) if is_item else None
    if below is None:
        return ""
    return f"{below.group(1)} " if below.group(1) else f"1{below.group(2)} "


def _cells(row: str) -> list[str]:
    return [plain(cell) for cell in (row.split("|") if "|" in row else cells_of(row))]


def _cell(question: Question, row: str, header: str) -> str:
    """`Column: value` of the cell that answers, when one column is asked for more than any other; else ""."""
    names, cells = [plain(cell) for cell in header.split("|")], _cells(row)
    if len(names) != len(cells) or len(cells) < 2:
        return ""
    best = leading_cell(question, names, cells)
    if best is None:
        return ""
    return f"{names[best]}: {cells[best]}" if names[best] else cells[best]
