"""Which edition a document is: in force, superseded or a draft; read from front matter, first lines and names."""

import re
from collections.abc import Sequence
from datetime import date

from msgspec import structs

from functions.docqa.model import Document, Edition, Standing
from functions.docqa.vocabulary.numerals import with_western_years
from functions.docqa.vocabulary.words import normalise

_HEAD_CHARACTERS = 700
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)\r?\n(?:---|\.\.\.)", re.DOTALL)
_FIELD = re.compile(r"^([A-Za-z_ -]+?|[^\s:：]{2,8})[ \t]*[:：][ \t]*(.+?)[ \t]*$", re.MULTILINE)
_STATUS_NAMES = ("status", "状態", "ステータス")
_STATUS = re.compile(rf"^\W*(?:{'|'.join(_STATUS_NAMES)})\W*[::]\W*(.+)$", re.MULTILINE)
_OLD_STATUS = re.compile(
    r"^\W*(?:superseded|obsolete|archived?|deprecated|withdrawn|retired|expired|inactive|rescinded|old"
    r"|廃止|旧版|失効|改定前|改訂前|無効|終了)"
)
_DRAFT_STATUS = re.compile(
    r"^\W*(?:draft|proposed|proposal|under review|in review|案|草案|ドラフト|下書き|検討中|未承認)"
)
_OLD_TEXT = re.compile(
    r"\b(?:superseded|replaced) (?:by|on|as of)\b|\bsuperseded\b(?! versions?\b)"
    r"|\bno longer (?:in force|in effect|valid|current|applies|applicable)\b|\bobsolete\b"
    r"|\barchived (?:version|copy|policy)\b|\bkept (?:only )?for (?:reference|the record|historical)"
    r"|\b(?:old|former|previous|outdated) (?:version|edition) of\b|旧版|改[定訂]前の"
    r"|(?:本|この)(?:書|文書|規程|規則|手順書?|版|ポリシー|マニュアル|ガイド|ルール)は"
    r".{0,25}(?:廃止|失効|効力を失|置き換えられ)"
    r"|により廃止|に置き換えられ|\(廃止\)|【廃止】|\[廃止\]|廃止済|参考として(?:残|保存)"
    r"|旧規[程則定](?:である|です)|まで(?:適用|使用)され(?:て(?:い)?)?た旧"
    r"|現在は(?:使用|適用)(?:しない|されない|されて|していま)"
)
_OLD_NAME = re.compile(
    r"superseded|obsolete|archived|deprecated|outdated|[-_ (]old(?:[-_.)]|$)|廃止"
    r"|旧(?:版|規[程則定]|要[綱領]|基準|マニュアル|ガイド|手順|ルール)(?!から|との|と|への)|[(\[【_ -]旧[)\]】_. -]"
)
# One of these stands in whatever the long pattern finds; most documents have none, and need not be searched for it.
_OLD_HINTS = (
    *(
        "superseded",
        "replaced",
        "no longer",
        "obsolete",
        "archived",
        "kept",
        "old version",
        "old edition",
        "former",
        "previous",
        "outdated",
    ),
    *("旧版", "改定前", "改訂前", "廃止", "失効", "効力を失", "置き換え", "参考として", "現在は", "旧規"),
)
_EFFECTIVE_HINTS = (  # said on a line with the date
    *("effective", "in force", "valid from", "applies from"),
    *("施行", "適用開始", "発効", "有効開始", "改定", "改訂"),
)
_SUPERSEDES = re.compile(r"\b(?:supersedes|replaces)\b|を廃止し|を置き換え|に代わ|旧版との")
_OTHER_EDITION = re.compile(r"supersed|replaced|廃止|置き換|現行版")
_CLAUSE = re.compile(r"[^\n。.]+(?:\.(?=\d)[^\n。.]+)*")
_DATE = re.compile(r"((?:19|20)\d\d)\s*[-/.年]\s*(\d{1,2})(?:\s*[-/.月]\s*(\d{1,2}))?")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"({'|'.join(_MONTHS)})[a-z]*"
_ENGLISH_DATE = re.compile(
    rf"(?:(\d{{1,2}})(?:st|nd|rd|th)? {_MONTH}|{_MONTH}(?: (\d{{1,2}})(?:st|nd|rd|th)?)?),? ((?:19|20)\d\d)"
)
_YEAR = re.compile(r"(?<!\d)((?:19|20)\d\d)(?!\d)")
_VERSION = re.compile(r"(?:\bversion|\bver\.?|\brev(?:ision)?\.?|(?<![a-z])v|第(?=[ \d.]+版))[ _-]?(\d+(?:\.\d+)*)")
_VERSION_HINT = re.compile(r"v[a-z.]*[ _-]?\d|版")
_SERIES_NOISE = re.compile(
    r"(?:19|20)\d\d(?:年度?版?)?|(?<![a-z])v ?\d+(?:\.\d+)*|第\d+版|旧版|改[定訂]版|現行|廃止|草案|版"
    r"|\b(?:version|ver|rev|revision|edition|superseded|archived|obsolete|current|old|draft)\b\.?"
    r"|[\d.]+$|[\W_]+"
)
_Age = tuple[str, tuple[int, ...]]


def edition_of(path: str, title: str, text: str) -> Edition:
    """What `text` itself says about its edition; `in_force` compares it with the other documents."""
    front = _FRONT_MATTER.match(text)
    head = with_western_years(normalise(text[:_HEAD_CHARACTERS]))
    fields = {
        normalise(name): with_western_years(normalise(value))
        for name, value in _FIELD.findall(front.group(1) if front else "")
    }
    status = fields.get("status") or fields.get("状態") or fields.get("ステータス") or _labelled_status(head)
    own = _of_itself(head)
    standing = Standing.CURRENT
    name = with_western_years(normalise(f"{path} {title}"))
    if _DRAFT_STATUS.match(status):
        standing = Standing.DRAFT
    elif (
        _OLD_STATUS.match(status)
        or fields.keys() & {"superseded by", "superseded_by", "superseded-by", "replaced_by", "replaced-by"}
        or (_may_be_old(own) and _OLD_TEXT.search(own))
        or _OLD_NAME.search(name)
    ):
        standing = Standing.SUPERSEDED
    labels = set(_YEAR.findall(name)) | {f"v{number}" for number in _VERSION.findall(name)}
    if version := fields.get("version") or fields.get("版"):
        labels |= {f"v{number}" for number in re.findall(r"\d+(?:\.\d+)*", version)[:1]} | set(_YEAR.findall(version))
    named = own[:400]
    if _OTHER_EDITION.search(named):
        named = "\n".join(clause for clause in named.split("\n") if not _OTHER_EDITION.search(clause))
    if _VERSION_HINT.search(named):
        labels |= {f"v{number}" for number in _VERSION.findall(named)}
    effective = _effective(fields, head)
    if effective:
        labels.add(effective[:4])
    return Edition(standing=standing, labels=tuple(sorted(labels)), effective=effective, series=_series(title))


def _of_itself(head: str) -> str:
    """What `head` says that may be about the document's own edition, not about one that it replaces."""
    if not _may_be_old(head) and not _VERSION_HINT.search(head):
        return ""
    return "\n".join(clause for clause in _CLAUSE.findall(head) if not _SUPERSEDES.search(clause))


def _may_be_old(text: str) -> bool:
    return any(hint in text for hint in _OLD_HINTS)


def in_force(documents: Sequence[Document], today: date) -> list[Document]:
    """`documents`, where of several editions with one title only the newest that is already in force is current."""
    day = today.isoformat()
    newest: dict[tuple[str, str], _Age] = {}
    for document in documents:
        edition, age = document.edition, _age(document.edition)
        if age and edition.series and edition.standing is Standing.CURRENT and edition.effective <= day:
            key = (document.language, edition.series)
            newest[key] = max(newest.get(key, age), age)
    out: list[Document] = []
    for document in documents:
        edition, age = document.edition, _age(document.edition)
        standing = edition.standing
        if standing is Standing.CURRENT and edition.effective > day:
            standing = Standing.DRAFT
        elif standing is Standing.CURRENT and age and age < newest.get((document.language, edition.series), age):
            standing = Standing.SUPERSEDED
        out.append(structs.replace(document, edition=structs.replace(edition, standing=standing)))
    return out


def _labelled_status(head: str) -> str:
    if not any(name in head for name in _STATUS_NAMES):
        return ""
    match = _STATUS.search(head)
    return match.group(1) if match else ""


def _effective(fields: dict[str, str], head: str) -> str:
    for name in (
        "effective",
        "effective_date",
        "effective date",
        "effective-date",
        "effective_from",
        "施行日",
        "適用日",
        "date",
    ):
        if found := _date_in(fields.get(name, "")):
            return found
    if not any(hint in head for hint in _EFFECTIVE_HINTS):
        return ""
    for line in head.split("\n"):
        if any(hint in line for hint in _EFFECTIVE_HINTS) and (found := _date_in(line)):
            return found
    return ""


def _date_in(text: str) -> str:
    if match := _DATE.search(text):
        return f"{match.group(1)}-{int(match.group(2)):02d}-{int(match.group(3) or 1):02d}"
    if match := _ENGLISH_DATE.search(text):
        day, month, other_month, other_day, year = match.groups()
        return f"{year}-{_MONTHS.index((month or other_month)[:3]) + 1:02d}-{int(day or other_day or 1):02d}"
    return ""


def _age(edition: Edition) -> _Age | None:
    years = [label for label in edition.labels if not label.startswith("v")]
    versions = [tuple(map(int, label[1:].split("."))) for label in edition.labels if label.startswith("v")]
    if not (edition.effective or years or versions):
        return None
    return edition.effective or max(years, default=""), max(versions, default=())


def _series(title: str) -> str:
    return _SERIES_NOISE.sub("", normalise(title))
