"""The level of incidents that a question names, in whatever words: "sev 1", "a level two outage", 「障害レベル1」."""

import re
from collections.abc import Iterator

from msgspec import Struct

from functions.docqa.questions.entities import Entity, entities_in
from functions.docqa.vocabulary.lexicon import lexicon
from functions.docqa.vocabulary.numerals import ENGLISH_NUMBERS
from functions.docqa.vocabulary.words import KANJI, KATAKANA

INCIDENTS = ("incident", "outage", "インシデント", "障害")
# How documents call a scale of incidents.
SCALES = ("priority", "severity", "優先度", "重大度", "深刻度")
_INCIDENT = r"(?:incident|outage|disruption|fault|problem|issue|ticket|alert)s?"
_INCIDENT_JAPANESE = r"(?:インシデント|障害|トラブル)"
_VALUE = rf"(?:[1-9]|{'|'.join(ENGLISH_NUMBERS)})s?(?![a-z0-9]|[.-]\d)"
_VALUE_JAPANESE = rf"[1-9一二三四五六](?![0-9a-z{KANJI}]|\.\d)"
_LEVEL = rf"(?:level|tier|class|category)[ -]{_VALUE}"
_LEVEL_JAPANESE = rf"(?:レベル|クラス|区分)(?:が|は)? ?{_VALUE_JAPANESE}"
# Words for a level of incidents, unless what follows is something else: "a priority 1 customer".
_BY_ITS_WORD = re.compile(
    rf"(?<![a-z0-9-])(?P<level>(?:severity|sev|priority|prio|p)[ :_-]{{0,2}}{_VALUE})(?:[ -](?P<of>[a-z]+))?"
)
_BY_ITS_WORD_JAPANESE = re.compile(
    rf"(?P<level>(?:重大度|深刻度|優先度|プライオリティ)[ :]?{_VALUE_JAPANESE}|ピー(?:ワン|ツー|スリー)(?![{KATAKANA}]))"
    rf"(?P<of>の?[{KANJI}{KATAKANA}]+)?"
)
# Words for a level of anything, unless what it is of stands beside it: "level 3 support" is another.
_BY_WHAT_IT_IS_OF = (
    re.compile(rf"(?<![a-z0-9-])(?P<level>{_LEVEL})[ -]{_INCIDENT}\b"),
    re.compile(rf"\b{_INCIDENT}(?: of| at| with|,|:)? (?P<level>{_LEVEL})(?! [a-z]+ing\b)"),
    re.compile(rf"(?P<level>(?:レベル|クラス|区分)[1-9])の?{_INCIDENT_JAPANESE}"),
    re.compile(rf"(?P<level>{_INCIDENT_JAPANESE}の?{_LEVEL_JAPANESE})"),
)
# The highest level of incidents, by no name of its own.
_AS_THE_HIGHEST = (
    re.compile(
        r"\b(?P<level>(?:highest|top|most (?:severe|serious|urgent|important))(?:[ -](?:priority|severity|level))?)"
        rf"[ -]{_INCIDENT}\b"
    ),
    re.compile(
        rf"\b{_INCIDENT} (?:of|at|with) (?:the |our )?(?P<level>(?:highest|top)[ -](?:priority|severity|level))\b"
    ),
    re.compile(
        r"(?P<level>最優先|最重要|最高(?:優先度|重大度|レベル)?|(?:重要度|優先度|重大度|深刻度)が最高"
        rf"|(?:いちばん|一番|最も)(?:重い|(?:重大|深刻|重要)な|優先度[のが]高い))の?{_INCIDENT_JAPANESE}"
    ),
)
HIGHEST = Entity("highest", "1")
_OF_INCIDENTS = re.compile(
    rf"{_INCIDENT}|(?:happen|occur|aris|com|break|start|last|hit|get|need|remain)\w*"
    rf"|(?:first|initial|notif\w+|notice|deadline|response|reporting|escalat\w+|updates?|status|resolution|recovery)"
    rf"|の?(?:{_INCIDENT_JAPANESE}|事象|不具合|(?:一次|初回)?(?:通知|連絡|報告|応答|対応)|第?一報|期限|復旧|場合|時|際|ケース|発生|検知"
    rf"|インフラ).*"
)


class Level(Struct, frozen=True):
    """The level of incidents that is named from `start` to `end` of a normalised question."""

    entity: Entity
    start: int
    end: int


def levels_in(normal: str) -> Iterator[Level]:
    """The levels of incidents that a normalised question names."""
    for pattern in (_BY_ITS_WORD, _BY_ITS_WORD_JAPANESE):
        for match in pattern.finditer(normal):
            of = match["of"] or ""
            if not of or of in lexicon().stop or _OF_INCIDENTS.fullmatch(of):
                yield from _level(match)
    for pattern in _BY_WHAT_IT_IS_OF:
        for match in pattern.finditer(normal):
            yield from _level(match)
    for pattern in _AS_THE_HIGHEST:
        for match in pattern.finditer(normal):
            yield Level(HIGHEST, *match.span("level"))


def _level(match: re.Match[str]) -> Iterator[Level]:
    named = match["level"].replace("p ", "p-").removesuffix("s")
    for entity in entities_in(named):
        yield Level(entity, *match.span("level"))
