"""Names that must not be mistaken for their neighbours: P-1 and P-2, Severity 2, レベル3, v2; and what they govern."""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct

from functions.docqa.vocabulary.numerals import ENGLISH_NUMBERS
from functions.docqa.vocabulary.words import KANJI, KATAKANA, normalise, plain

_ALIASES = {
    "severity": "sev",
    "重大度": "sev",
    "深刻度": "sev",
    "priority": "p",
    "優先度": "p",
    "プライオリティ": "p",
    "prio": "p",
    "レベル": "level",
    "ランク": "rank",
    "クラス": "class",
    "グレード": "grade",
    "等級": "grade",
    "カテゴリ": "category",
    "カテゴリー": "category",
    "区分": "category",
    "フェーズ": "phase",
    "ステージ": "stage",
    "ゾーン": "zone",
    "タイプ": "type",
    "ティア": "tier",
    "ステップ": "step",
    "version": "v",
    "ver": "v",
    "バージョン": "v",
    "ピー": "p",
    "号": "no",
    "第": "article",
}
_DIGITS = {numeral: str(at) for at, numeral in enumerate("一二三四五六", start=1)}
_DIGITS |= {name: str(at) for at, name in enumerate(("ワン", "ツー", "スリー", "フォー"), start=1)}
# Parts of a text rather than things that rules tell apart: 第3条, section 4.
NUMBERED_PARTS = frozenset({"条", "article", "section", "chapter", "step", "ステップ", "appendix", "rule"})
_CODE = re.compile(r"(?<![a-z0-9何])([a-z]{1,6})-?(\d{1,4})(?:[a-z](?![a-z0-9])|(?![a-z0-9]))")
_WORD_NUMBER = re.compile(
    r"(?<![a-z])(severity|sev|priority|prio|level|tier|grade|class|category|phase|stage|step|type|rank|zone|group|version|ver"
    r"|article|section|chapter|floor|room|building|line|dock|ward|gate|bay|plan|rule|appendix|form)"
    r"(?:s?[ .:_-]{0,2}(?=\d)|[ .:_-]{1,2})(\d{1,4}(?:\.\d+)?|[a-z])(?![a-z0-9']|-\d)"
)
# 「優先度二」, 「ピーワン」; 「ランク一覧」 names none.
_NUMBER_IN_JAPANESE = re.compile(
    r"(重大度|深刻度|優先度|プライオリティ|レベル|ランク|グレード|カテゴリー?|フェーズ|ステージ|ティア)"
    rf"([一二三四五六])(?![{KANJI}0-9])"
    rf"|(?<![{KATAKANA}])(ピー)(ワン|ツー|スリー|フォー)(?![{KATAKANA}])"
)
_LETTER = re.compile(
    rf"(?:(?<=[{KANJI}{KATAKANA}])(?<!何)|(?<![A-Za-z0-9'’&./何-]))([B-HJ-Z])(?![A-Za-z0-9'’&./-]|\. [A-Z])"
    rf"|(?<=[{KANJI}{KATAKANA}])(?<!何)([AI])(?![A-Za-z0-9'’&./-])"
    rf"|(?<![A-Za-z0-9'’&./何-])([AI])(?= ?[|:：{KANJI}{KATAKANA}]|(?:-| )?(?:rat|grad|class|rank|level))"
)
# "category A", where "category a" may be an article.
_FIRST_OF_LETTERS = re.compile(
    r"\b(?:[Ss]everity|[Pp]riority|[Ll]evel|[Tt]ier|[Cc]ategory|[Pp]hase|[Ss]tage|[Pp]lan|[Ll]ine|[Ww]ard|[Gg]ate|[Ff]orm"
    r"|[Bb]uilding|[Rr]oom|[Aa]ppendix|[Ss]ection) (A)(?![A-Za-z0-9_'’-]| [a-z]+ (?:is|was)\b)"
)
# "Priority one"; "which level one of them has" is none.
_NUMBER_WORD = re.compile(
    r"(?<![a-z])(severity|sev|priority|prio|level|tier|class|category|phase|stage|step)[ -]"
    rf"({'|'.join(ENGLISH_NUMBERS)})(?![a-z0-9'-]| (?:of|or|person|day|week|month|year|hour|minute)s?\b)"
)
_JAPANESE_NUMBER = re.compile(
    r"(重大度|深刻度|優先度|プライオリティ|レベル|ランク|クラス|グレード|等級|カテゴリー?|区分|フェーズ|ステージ|ゾーン|タイプ|ティア|ステップ|バージョン)"
    r"[\s::・]?(\d{1,4}|[a-z](?![a-z0-9]|-\d))"
)
_WORD_BEFORE_CODE = re.compile(
    r"(?:severity|priority|level|class|category|rank|重大度|深刻度|優先度|レベル|区分|ランク)(?: of |が|は)?(?= ?[a-z]{1,4}-?\d)"
)
# 「5段階」 counts them.
_SUFFIXED = re.compile(r"第?(\d{1,4})(条|号館|号室|号|級|種|類|病棟|番|階|(?<=第\d)段階|(?<=第\d\d)段階)")
_RANGE = re.compile(r"(?<![a-z0-9])([a-z]{1,4})-?(\d)\s*(?:~|〜|to|through|から|–)\s*(?:\1-?)?(\d)(?![0-9])")
_NOT_CODES = {
    "utf",
    "iso",
    "covid",
    "top",
    "sha",
    "aes",
    "md",
    "http",
    "ip",
    "mp",
    "jan",
    "feb",
    "mar",
    "apr",
    "jun",
    "jul",
}
# 2,000 and EUR 2000 are amounts.
_YEAR = re.compile(
    r"(?<![\d,.])(?<!-)(?<![$€£¥])(?<!eur )(?<!usd )(?<!jpy )(?<!gbp )(?<!chf )((?:19|20)\d\d)(?!\d|,\d)"
    r"(?! ?(?:yen|euros?|eur|dollars?|usd|jpy|pounds?|円|ドル|ユーロ|kg|km|cm|mm|m|g|kw|人|名|個|件|台|枚|冊|回|歳|%|people"
    r"|pieces|hours|words|characters|字)(?![a-z]))"
)


class Entity(Struct, frozen=True):
    """One member of a family: ("p", "1") is P-1."""

    family: str
    value: str


@lru_cache(maxsize=16384)
def entities_in(text: str) -> frozenset[Entity]:
    """Every entity that `text` names; a range such as P-1 to P-3 names all its members.

    A letter that stands alone ("rated C", "class B", 「影響度B」) is one too, of the family "letter".
    """
    bare = plain(text)
    named = _entities(normalise(bare))
    if " A" in bare and (first := _FIRST_OF_LETTERS.search(bare)):
        named |= {Entity("letter", first.group(1).casefold())}
    letters = {letter.casefold() for groups in _LETTER.findall(_wide(bare)) for letter in groups if letter}
    return named | {Entity("letter", letter) for letter in letters} if letters else named


def _wide(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


@lru_cache(maxsize=16384)
def _entities(normal: str) -> frozenset[Entity]:
    found = set()
    for family, value in _CODE.findall(normal):
        if family not in _NOT_CODES:
            found.add(Entity(_ALIASES.get(family, family), value))
    for family, value in _WORD_NUMBER.findall(normal) + _JAPANESE_NUMBER.findall(normal):
        if value not in ("a", "i") or family in ("class", "type", "rank", "grade", "zone", "group"):
            found.add(Entity("letter" if value.isalpha() else _ALIASES.get(family, family), value))
    for family, word in _NUMBER_WORD.findall(normal):
        found.add(Entity(_ALIASES.get(family, family), ENGLISH_NUMBERS[word]))
    for match in _NUMBER_IN_JAPANESE.finditer(normal):
        family, value = filter(None, match.groups())
        found.add(Entity(_ALIASES.get(family, family), _DIGITS[value]))
    for value, family in _SUFFIXED.findall(normal):
        found.add(Entity(family, value))
    for family, first, last in _RANGE.findall(normal):
        for value in range(int(first), int(last) + 1):
            found.add(Entity(_ALIASES.get(family, family), str(value)))
    return frozenset(found)


def entity_spans(normal: str) -> list[tuple[int, int]]:
    """Where a normalised text names an entity by a word: "severity 2", 「レベル3」, the word before "P-1"."""
    patterns = (_WORD_NUMBER, _NUMBER_WORD, _JAPANESE_NUMBER, _NUMBER_IN_JAPANESE, _WORD_BEFORE_CODE)
    return [match.span() for pattern in patterns for match in pattern.finditer(normal)]


def years_in(text: str) -> frozenset[str]:
    """The years that `text` names: `2023`."""
    return frozenset(_YEAR.findall(unicodedata.normalize("NFKC", text).casefold()))


def distinguishing(scopes: Iterable[frozenset[Entity]]) -> frozenset[Entity]:
    """The entities of the nearest of `scopes` that names any."""
    return next((scope for scope in scopes if scope), frozenset())


def governed(entity: Entity, scopes: Iterable[frozenset[Entity]]) -> bool | None:
    """Whether the nearest of `scopes` (nearest first) that names a member of the family names this one.

    None when no scope names the family at all.
    """
    for scope in scopes:
        members = {other.value for other in scope if other.family == entity.family}
        if members:
            return entity.value in members
    return None
