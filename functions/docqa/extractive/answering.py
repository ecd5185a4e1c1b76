"""Answers without a model: asserted quotes, or an abstention with the nearest quotes."""

import re
from collections.abc import Iterable, Mapping, Sequence

from a2a_hub.text.language import Language
from functions.docqa.extractive.confidence import MIN_CONFIDENCE
from functions.docqa.extractive.extract import MAX_SHOWN, Extract, extract, in_context
from functions.docqa.model import Citation, DocAnswer, Passage, Standing, Unit, UnitKind
from functions.docqa.search_results import RankedUnit, SearchResults, cited

_SAY = {Language.EN: "The documents say:", Language.JA: "文書には次のように書かれています。"}
_SAY_IN_OTHER = {
    Language.EN: "The documents say, in Japanese:",
    Language.JA: "文書には次のように書かれています（英語）。",
}
_FORMER = {Language.EN: "From an edition that is not in force: ", Language.JA: "効力のない版の記述："}
_UPCOMING = {
    Language.EN: "\n\nNot yet in force: {title} takes effect on {effective}.",
    Language.JA: "\n\n{title}は{effective}から適用されます（まだ効力はありません）。",
}
_ABSTAINED = {
    Language.EN: "I found no passage in the documents that clearly answers this question, so I would rather not answer it.",
    Language.JA: "この質問に確実に答える記述が文書の中に見つからなかったため、回答を控えます。",
}
_NAME_IT = {
    Language.EN: " Please name the subject or the document, in English or Japanese, and I will look again.",
    Language.JA: "何についてのご質問か、またはどの文書のことかを書き添えて、もう一度お尋ねください。",
}
_NEAREST = {
    Language.EN: "The closest passages, which may be about something else:",
    Language.JA: "近い記述は次のとおりです（別の事柄についてのものかもしれません）：",
}
_UNPROVEN = {
    Language.EN: "I found what may answer this question, but could not verify an answer, so I give none.",
    Language.JA: "この質問に関わる記述は見つかりましたが、答えを裏付けられなかったため、回答を控えます。",
}
_READ = {Language.EN: "Please read these passages:", Language.JA: "次の記述をご確認ください："}
_EMPHASIS = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)")
_Texts = tuple[Mapping[Language, str], Mapping[Language, str]]


def answered(results: SearchResults, *, min_confidence: float = MIN_CONFIDENCE) -> DocAnswer:
    """Return the answer in quotes, asserted from `min_confidence` on; each quote is compared with its place in the source."""
    return _answer(results, extract(results, min_confidence=min_confidence))


def unsettled(results: SearchResults, named: Sequence[tuple[Passage, Unit]] = ()) -> DocAnswer:
    """Return an abstention with the nearest quotes, or with those that a model `named` for an unverified answer."""
    nearest = [in_context(RankedUnit(passage, unit, 0.0), results.texts) for passage, unit in named[:MAX_SHOWN]]
    found = Extract(nearest or extract(results).quotes, is_settled=False)
    return _answer(results, found, texts=(_UNPROVEN, _READ) if nearest else (_ABSTAINED, _NEAREST))


def upcoming_notice(passages: Iterable[Passage], language: Language) -> str:
    """Return from when the cited documents apply that are not yet in force."""
    coming = (Standing.UPCOMING, Standing.DRAFT)
    upcoming = {
        (each.title, each.edition.effective): None
        for each in passages
        if each.edition.standing in coming and each.edition.effective
    }
    return "".join(_UPCOMING[language].format(title=title, effective=effective) for title, effective in upcoming)


def answer_of(
    results: SearchResults,
    text: str,
    *,
    citations: tuple[Citation, ...] = (),
    nearest: tuple[Citation, ...] = (),
    grounded: bool,
) -> DocAnswer:
    """Return the answer with the details of its search and the sources that it cites."""
    uris = {citation.uri for citation in citations}
    return DocAnswer(
        text=text,
        citations=citations,
        grounded=grounded,
        sources=tuple(source for source in results.sources if source.uri in uris),
        unverified=tuple(results.unverified),
        hints=tuple(results.hints),
        nearest=nearest,
        failed=bool(results.failed),
    )


def _answer(results: SearchResults, found: Extract, *, texts: _Texts = (_ABSTAINED, _NEAREST)) -> DocAnswer:
    quotes = tuple(filter(None, (cited(each.passage, each.unit, results) for each in found.quotes)))
    notice = upcoming_notice((each.passage for each in found.quotes), results.language) + results.notice
    if found.is_settled and len(quotes) == len(found.quotes):
        text = _asserted(found.quotes, results.language) + notice
        return answer_of(results, text, citations=quotes, grounded=True)
    text = results.failed or _abstained(quotes, results.language, *texts) + notice
    return answer_of(results, text, nearest=quotes, grounded=False)


def _asserted(quotes: Sequence[RankedUnit], language: Language) -> str:
    """Return the answer in quotes, the best first, each with its mark."""
    other = any(quote.passage.language != language for quote in quotes)
    lines = []
    for number, quote in enumerate(quotes, start=1):
        former = "" if quote.passage.edition.standing.is_valid else _FORMER[language]
        lines.append(f"{former}{_shown(quote.unit)} [{number}]")
    return "\n".join([(_SAY_IN_OTHER if other else _SAY)[language], *lines])


def _abstained(
    nearest: Sequence[Citation], language: Language, said: Mapping[Language, str], lead: Mapping[Language, str]
) -> str:
    """Return the text of an abstention, with `nearest` under its `lead`."""
    if not nearest:
        return said[language] + _NAME_IT[language]
    return "\n".join([said[language], "", lead[language], *(f"- {_quoted(each, language)}" for each in nearest)])


def _quoted(citation: Citation, language: Language) -> str:
    lines = (" ".join(line.strip("| ").split()) for line in _plain(citation.quote).splitlines())
    quote = " / ".join(filter(None, lines))
    where = ("、" if language is Language.JA else ", ").join(
        dict.fromkeys((citation.title, *citation.position.section[-1:]))
    )
    return f"「{quote}」（{where}）" if language is Language.JA else f"“{quote}” ({where})"


def _shown(unit: Unit) -> str:
    if unit.kind is not UnitKind.ROW:
        return _plain(unit.text)
    cells, names = _cells(unit.text), _cells(unit.header)
    if len(cells) == len(names):
        return " | ".join(f"{name}: {cell}" if name else cell for name, cell in zip(names, cells, strict=True))
    return " | ".join(cells)


def _plain(text: str) -> str:
    """Return a text without the marks of Markdown's emphasis."""
    return _EMPHASIS.sub("", text)


def _cells(row: str) -> list[str]:
    return [_plain(cell).strip() for cell in row.strip().strip("|").split("|")]
