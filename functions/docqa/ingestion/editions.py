"""The edition that a document is: in force, superseded or a draft; read from front matter, first lines and names."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

from msgspec import structs

from a2a_hub.text.quantities import quantities
from functions.docqa.ingestion.language import folded
from functions.docqa.model import Document, Edition, Standing

_HEAD_CHARACTERS = 700
_STATUS_NAMES = ("status", "状態", "ステータス")
_STATUS = re.compile(rf"^\W*(?:{'|'.join(_STATUS_NAMES)})\W*[::]\W*(.+)$", re.MULTILINE)
_OLD_STATUS = re.compile(
    r"^\W*(?:superseded|obsolete|archived?|deprecated|withdrawn|retired|expired|inactive|rescinded|old"
    r"|廃止|旧版|失効|改定前|改訂前|無効|終了)"
)
_JA_DRAFT = r"(?:素案|草案|原案|改[定正訂]案|案|たたき台|ドラフト|下書き)(?:第?\d+[次版稿]?)?"
_DRAFT_STATUS = re.compile(
    r"^\W*(?:draft|proposed|proposal|(?:under|in) review|pending|not (?:yet )?(?:adopted|approved|in force)"
    rf"|for (?:consultation|discussion)|{_JA_DRAFT}|検討中|未承認|未施行|未決裁|審議中|承認待ち)"
)
_EN_DRAFT = r"(?:(?:first|second|final|working|consultation|discussion|exposure) )?draft(?: (?:no\. ?)?v?\d[\d.]*)?"
_DRAFT_NAME = re.compile(
    rf"(?:^|[-–—(\[【:_,]) *{_EN_DRAFT} *(?:$|[)\]】_,:–—]|\.[a-z]{{2,5}}\b)|_draft_?v?\d*\b"
    r"|^draft (?:\w+ )?(?:policy|terms|rules|regulations?|procedure|statutes|bylaws|budget|agreement|guidelines?|minutes)"
    r"(?: of\b| for\b|\W*$)"
    rf"|[(\[【_] *(?:第\d+次)?{_JA_DRAFT} *(?:[)\]】](?![にへのとをはがか])|[_.])|(?:素案|草案|改[定正訂]案|たたき台)\W*$"
)
_DRAFT_TEXT = re.compile(
    rf"^\W*{_EN_DRAFT}(?: (?:of|for)\b|\W*$| *[,.:;–—](?!.*\b(?:approved|adopted|confirmed|accepted)\b)| -)"
    r"|\b(?:is|are) (?:still |only )?a (?:\w+ )?draft\b"
    r"|^\W*(?:for (?:\w+ )?(?:consultation|discussion)(?: (?:only|until|at the)\b|\W*$)|not (?:yet )?adopted\b(?! ?:))"
    r"|\bthis \w+ (?:is|has) not (?:yet )?(?:been )?(?:adopted|approved|in force)\b"
    rf"|^\W*{_JA_DRAFT}\W*$|^.{{0,15}}(?:未承認|未決裁|未施行)(?:です|である)?$|は(?:{_JA_DRAFT}|検討中|審議中)(?:です|であ)"
)
_OLD_TEXT = re.compile(
    r"\b(?:superseded|replaced) (?:by|on|as of)\b|\bsuperseded\b(?! versions?\b)|\bobsolete\b|\barchived (?:version|copy)\b"
    r"|\bno longer (?:in force|in effect|valid|current|applies|applicable)\b|\bkept (?:only )?for (?:reference|the record)"
    r"|旧版|改[定訂]前の|[(【\[]廃止[)】\]]|施行\W{0,2}[(（](?![^)）\n]*[旧前は])[^)）\n]{0,40}日(?:で|に|をもって|限りで)廃止|(?:本|この)(?:書|文書|規程|規則|手順書?|版|マニュアル|ガイド)は"
    r".{0,25}(?:廃止|失効|効力を失|置き換えられ)"
)
_OLD_NAME = re.compile(
    r"superseded|obsolete|archived|deprecated|outdated|[-_ (]old(?:[-_.)]|$)|[-_ (]withdrawn(?:[-_.)]|$| (?:on |since )?\d)|廃止"
    r"|[_ (【\[-]旧(?:[)】\]_.]|$)|旧(?:版|規[程則定]|要[綱領]|基準|マニュアル|ガイド|手順|ルール|料金|価格)(?!から|との|と|への)"
)
_EFFECTIVE = re.compile(
    r"effective|in force|valid from|applies from|\b(?:replaces|supersedes)\b[^.\n]{0,80}\bfrom\b"
    r"|施行|適用開始|発効|改[定訂]|最終改正|(?:から|より)(?:実施|適用)|実施日"
)
_SUPERSEDES = re.compile(
    r"\b(?:supersedes|replaces)\b|\b(?:previous|former|prior) (?:edition|version|issue|revision)\b"
    r"|を廃止し|を置き換え|に代わ|旧版との|前版|前回の版|旧版\W*[:|]"
)
_OTHER_EDITION = re.compile(r"supersed|replaced|廃止|置き換|現行版")
_CLAUSE = re.compile(r"[^\n。.]+(?:\.(?= ?\d)[^\n。.]+)*")
_LABEL = re.compile(r"日? ?:")
_YEAR = re.compile(r"(?<!\d)((?:19|20)\d\d)(?!\d)")
_VERSION = re.compile(
    r"(?:(?:\bversion|\bver\.?|\brev(?:ision)?\.?)[ _-]?|(?<![a-z])v\.? ?"
    r"|(?<![a-z])ed(?:ition|n)?[ ._-]{0,2}(?=\d\d?(?![\d/]))|第(?=[ \d.]+版) ?)"
    r"(\d+(?:\.\d+)*)"
)
_SERIES_NOISE = re.compile(
    r"(?:19|20)\d\d(?:年度?(?:\d\d?月(?:\d\d?日)?)?(?:改[定訂])?版?)?|(?<![a-z])(?:v ?|ed(?:ition|n)?[ ._-]{0,2})\d+(?:\.\d+)*"
    r"|第\d+版|旧版|[_ (【\[-]旧(?=[)】\]_.]|$)"
    r"|改[定訂]版|現行|廃止|草案|版|\b(?:version|ver|rev|revision|edition|superseded|archived|obsolete|current|old|draft)\b\.?"
    r"|[\d.]+$|[\W_]+"
)


def edition_of(path: str, title: str, given: Mapping[str, str], text: str) -> Edition:
    """Return what a document says about its own edition; `in_force` compares it with the others. `given` is its metadata."""
    head = folded(text[:_HEAD_CHARACTERS])
    fields = {re.sub("[_-]", " ", folded(name)): folded(value) for name, value in given.items()}
    status = next(filter(None, map(fields.get, _STATUS_NAMES)), None) or _labelled_status(head)
    own = _of_itself(head)
    standing = Standing.CURRENT
    name = folded(f"{path} {title}")
    names = (folded(title), folded(path.rpartition("/")[2]))
    clauses = (clause.strip() for line in _opening(head) for clause in _CLAUSE.findall(line))
    if _DRAFT_STATUS.match(status) or any(map(_DRAFT_NAME.search, names)) or any(map(_DRAFT_TEXT.search, clauses)):
        standing = Standing.DRAFT
    elif (
        _OLD_STATUS.match(status)
        or fields.keys() & {"superseded by", "replaced by"}
        or _OLD_TEXT.search(own)
        or _OLD_NAME.search(name)
    ):
        standing = Standing.SUPERSEDED
    labels = set(_YEAR.findall(name)) | {f"v{number}" for number in _VERSION.findall(name)}
    if version := fields.get("version") or fields.get("版"):
        labels |= {f"v{number}" for number in re.findall(r"\d+(?:\.\d+)*", version)[:1]} | set(_YEAR.findall(version))
    named = own[:400]
    if _OTHER_EDITION.search(named):
        named = "\n".join(clause for clause in named.split("\n") if not _OTHER_EDITION.search(clause))
    labels |= {f"v{number}" for number in _VERSION.findall(named)}
    effective = _effective(fields, head)
    if standing is Standing.DRAFT:  # its year is that of the writing, or of a future that others speak of as well
        labels = {label for label in labels if label.startswith("v")}
    elif effective:
        labels.add(effective[:4])
    return Edition(standing=standing, labels=tuple(sorted(labels)), effective=effective, series=_series(title))


def _of_itself(head: str) -> str:
    """Return what `head` says that may be about the document's own edition, not about one that it replaces."""
    return "\n".join(clause for clause in _CLAUSE.findall(head) if not _SUPERSEDES.search(clause))


def in_force(documents: Sequence[Document], today: date) -> list[Document]:
    """Return `documents`; of several editions with one title or file name only the newest that is already in force is current.

    Where none is in force yet, the first to take effect is upcoming.
    """
    day = today.isoformat()
    ages: defaultdict[tuple[str, str], list[_Age]] = defaultdict(list)
    for document in documents:
        if document.edition.standing is Standing.CURRENT:
            for series in series_of(document):
                ages[document.language, series].append(_Age.of(document.edition))
    out: list[Document] = []
    for document in documents:
        edition = document.edition
        standing, age = edition.standing, _Age.of(edition)
        others = [other for series in series_of(document) for other in ages[document.language, series]]
        if standing is Standing.CURRENT and age.effective > day:
            is_first = all(other.effective >= age.effective for other in others)
            standing = Standing.UPCOMING if is_first else Standing.DRAFT
        elif standing is Standing.CURRENT and any(_is_older(age, other) for other in others if other.effective <= day):
            standing = Standing.SUPERSEDED
        out.append(structs.replace(document, edition=structs.replace(edition, standing=standing)))
    return out


class _Age(NamedTuple):
    """The signs of an edition's age; two editions are compared by the first that both have and in which they differ."""

    effective: str
    version: tuple[int, ...]
    year: str

    @classmethod
    def of(cls, edition: Edition) -> "_Age":
        years = [label for label in edition.labels if not label.startswith("v")]
        versions = [tuple(map(int, label[1:].split("."))) for label in edition.labels if label.startswith("v")]
        return cls(edition.effective, max(versions, default=()), max(years, default=""))


def _is_older(one: _Age, other: _Age) -> bool:
    pairs = [(mine, its) for mine, its in zip(one, other, strict=True) if mine and its and mine != its]
    return bool(pairs) and bool(pairs[0][0] < pairs[0][1])  # type: ignore[operator]


def _labelled_status(head: str) -> str:
    match = _STATUS.search(head) if any(name in head for name in _STATUS_NAMES) else None
    return match[1] if match else ""


def _effective(fields: dict[str, str], head: str) -> str:
    for name in ("effective", "effective date", "effective from", "施行日", "適用日", "date"):
        if found := _date_in(fields.get(name, "")):
            return found
    clauses = [clause for line in _opening(head) for clause in _CLAUSE.findall(line)]
    for clause in sorted(clauses, key=lambda each: bool(_OTHER_EDITION.search(each))):
        if (said := _EFFECTIVE.search(clause)) and (found := _date_in(clause, near=said)):
            return found
    return ""


def _opening(head: str) -> list[str]:
    """Return the lines before the first section: what stands in one is not about the whole document."""
    lines = head.split("\n")
    headings = [at for at, line in enumerate(lines) if line.startswith("#")]
    return lines[: next((at for at in headings[1:] if lines[at].startswith("##")), len(lines))]


def _date_in(text: str, *, near: re.Match[str] | None = None) -> str:
    """Return the first date of a text, or that of a word: right before it (2026年4月1日施行), or behind it.

    An empty text if there is none with a month.
    """
    dates = [each for each in quantities(text) if each.kind == "date" and _YEAR.match(each.value)]
    dates = [each for each in dates if len(each.value) > len("2026")]
    if near:
        is_label = _LABEL.match(text, near.end())
        joined = [
            each
            for each in dates
            if each.end <= near.start() and not is_label and not text[each.end : near.start()].strip()
        ]
        dates = joined or [each for each in dates if each.start >= near.end()] or dates
    return f"{dates[0].value}-01"[:10] if dates else ""


def series_of(document: Document) -> set[str]:
    """Return what the editions of one document have in common: the title, and the name of a file that names its edition."""
    folder, _, name = document.path.rpartition("/")
    stem = folded(name.rpartition(".")[0] or name)
    by_name = _series(stem)
    is_named = _YEAR.search(stem) or _VERSION.search(stem)
    return {document.edition.series, f"{folder}/{by_name}" if by_name and is_named else ""} - {""}


def _series(title: str) -> str:
    return _SERIES_NOISE.sub("", folded(title))
