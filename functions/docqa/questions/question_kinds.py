"""Which kind of answer a question asks for: an ordered table of patterns over its normalised text."""

import re

from msgspec import Struct

from functions.docqa.questions.expressions import AnswerKind
from functions.docqa.questions.kind_patterns import TABLE
from functions.docqa.questions.phrasing import without_place_left, without_politeness

_COMPILED = tuple((kind, hard, re.compile(pattern)) for kind, hard, pattern in TABLE)
_WHAT_COUNTS = re.compile(
    r"what (?:exactly |precisely )?(?:counts|qualifies|is meant)|とみなされる|に当たる|に該当する"
)
_SHORT_DEFINITION = re.compile(r"^what(?:'s| is| are) (?:a |an |the )?[\w-]+(?: (?:(?:of|or|and) )?[\w-]+)?\?*$")
_LISTING = re.compile(
    r"\blist\b|^what (?:\w+ )?(?:items|things|documents"
    r"|steps|topics|information|materials|equipment|types|kinds)\b|^which (?:\w+ )?\w+s (?:are"
    r"|must|should|do|can)\b"
    r"|\bwhat are\b|what (?:should|must|do|does|is|needs to) (?:[\w-]+ ){0,6}?(?:be )?(?:include"
    r"|show|mention|list|consist|cover|comprise|contain|bring|prepare|required|needed)|一覧"
    r"|何が(?:必要|含)|何を|どんな(?:もの|項目|情報|書類)|必要な(?:もの"
    r"|書類|項目|情報)|列挙|すべて"
)
_RULES = r"(?:規[程定則]|ルール|制度|基準|マニュアル|手順|要[綱領]|約款|料金)"
_OLD_RULES = rf"(?![姓館型市町])[一-龯ァ-ヶー]{{0,8}}?{_RULES}"
_FORMER = re.compile(
    r"\b(?:(?:previous|former|old|older|superseded)(?: [\w-]+)?|previously|formerly"
    r"|past|used to|earlier|last) (?:version"
    r"|edition|policy|rule|deadline|limit|guideline|procedure|standard|manual|handbook|guide|agreement|contract|terms|rate"
    r"|price list|\w+ version)"
    r"|\b(?:previously|formerly|used to|superseded)\b"
    rf"|旧(?:版|{_OLD_RULES})|以前|昔の|かつて|従来|改[定訂]前|廃止|変更前"
)
# 「電話番号は、いつ確認しますか」 asks for no number.
_NAMED_BY_NOUNS = (AnswerKind.CONTACT,)
_ASKED_BEHIND = re.compile(r"は、?[^。?？]*(?:いつ|誰|だれ|どなた|どこ|なぜ|どうし)")
_EDITION = re.compile(
    r"\b(?:previous|former|old|older|superseded|outdated|current|present)"
    r"(?= (?:version|edition|policy|rules?|guidelines?|procedure|manual|handbook|guide|agreement|contract|terms)\b)"
    r"|\b(?:version|edition|revision) v?\d+(?:\.\d+)*"
    r"|(?:廃止された|改[定訂]前の|現行の)(?=[^。、]{0,12}(?:版|規[程定則]|要[領綱]|手順|マニュアル))|旧版|新版|最新版|現行版|(?<![一-龯\d])(?:以前|昔|従来)の|かつての|第\d+版"
    rf"|旧(?={_OLD_RULES})|新(?={_RULES})"
)
_COUNTED = re.compile(
    r"how many (?:more |different |paid |business "
    r"|working |calendar |consecutive |\w+ (?=days|hours|weeks))?(\w+)"
)
_COUNTED_JAPANESE = re.compile(
    r"何([ckm]?m[23](?![a-z0-9])|平方メートル|立方メートル|平米|ドル|ユーロ|db|デシベル|メートル|センチ|ミリ|グラム|キログラム|キロ|kg|リットル|トン|ワット|営業日|時間|週間|[ヶかカ]月|パーセント|文字|種類|箇所|秒|分|時|日|月"
    r"|年|人[日月]|人|名|回|枚|個|件|台|割|倍|冊|本|杯|段|歳|度|%|円|階|泊|点|桁|社|世帯|か所|部屋|単位|科目|[室着匹軒通校箱食行語問列組両便機缶袋束頭坪基席戸棟羽匹錠滴]|[kmgt]b(?![a-z])|k?w(?![a-z])|[va](?![a-z])|[km]?hz|ボルト|アンペア|(?![故卒処者方事物])[\u4e00-\u9fff](?![\u4e00-\u9fff]))"
)


_MEASURED_BY = {
    "heavy": "weight",
    "loud": "loudness",
    "hot": "heat",
    "cold": "heat",
    "warm": "heat",
    **dict.fromkeys(("tall", "wide", "thick"), "cm"),
    "weigh": "weight",
}
_HOW_ADJECTIVE = re.compile(rf"\bhow ({'|'.join(_MEASURED_BY)})\b|\b(?:what|how much) (?:does|do|did) .*\b(weigh)\b")
_LENGTH = re.compile(
    r"\bhow long (?:must|should|does|do|can|may|is|has) .*\bbe\??$"
    r"|\b(?:minimum|maximum|required|min|max) length\b|\blength of\b|長さは"
)


# "An employee who is ill" asks for nobody.
_OF_WHOM = re.compile(r"(?:^|\band )(?:(?:to|by|from) )?whom?\b|誰|だれ|どなた|どの(?:部署|部門|チーム)")


class Asked(Struct, frozen=True):
    """The kind of answer; `strict` when only a sentence with such an expression can be it; `listing` when several.

    `of_whom` when it also asks for the person: "who must be told, and how fast?".
    """

    kind: AnswerKind
    strict: bool = False
    listing: bool = False
    of_whom: bool = False


def asked(normal: str) -> Asked:
    """What the normalised question asks for, without the politeness around it."""
    stripped = without_politeness(normal).strip()
    listing = _LISTING.search(stripped) is not None
    if _SHORT_DEFINITION.match(stripped) and not any(
        pattern.search(stripped) for _, hard, pattern in _COMPILED if hard
    ):
        return Asked(AnswerKind.DEFINITION, listing=listing)
    for kind, strict, pattern in _COMPILED:
        found = pattern.search(stripped)
        if found and not (kind in _NAMED_BY_NOUNS and _ASKED_BEHIND.search(stripped, found.end())):
            of_whom = strict and _OF_WHOM.search(stripped) is not None
            return Asked(kind, strict, listing or kind is AnswerKind.PROCEDURE, of_whom)
    return Asked(AnswerKind.FACT, listing=listing)


def asks_what_counts(normal: str) -> bool:
    """Whether a question asks what counts as something, rather than for its figure: "what is the notice period"."""
    return _WHAT_COUNTS.search(normal) is not None


def wants_former(normal: str) -> bool:
    """Whether the question asks for a rule that is no longer in force."""
    return _FORMER.search(normal) is not None


def counted_unit(normal: str) -> str:
    """What "how many …" or 「何…」 counts, `""` when nothing is counted."""
    if _LENGTH.search(normal):
        return "length"
    if match := _HOW_ADJECTIVE.search(normal):
        return _MEASURED_BY[match.group(1) or match.group(2)]
    if "how many times" in normal:
        return "回"
    match = _COUNTED.search(normal) or _COUNTED_JAPANESE.search(normal)
    return match.group(1) if match else ""


def counted_per(normal: str) -> str:
    """The period before a Japanese count: 「月に何時間」 → `月`; `""` without one."""
    match = _PER_JAPANESE.search(normal)
    return match.group(1) if match else ""


_PER_JAPANESE = re.compile(r"([月週日年泊])に?(?=何)")
_INTERROGATIVE = re.compile(
    _COUNTED_JAPANESE.pattern
    + r"|何(?=[^\u3400-\u9fff]|$)|何(?:曜日?|月|番|号|か|歳|名様)|誰|どこ|いつ|どの|どんな|教えて|ください|下さい|お願い"
    r"|(?:英語|日本語)で|\bin (?:english|japanese)\b|\bin a row\b|\bat (?:most|least|all)\b"
)


def without_edition(normal: str) -> str:
    """The question without what only says which edition is asked; offsets stay."""
    return _EDITION.sub(lambda match: " " * len(match.group()), normal)


def without_interrogatives(normal: str) -> str:
    """The question with its question words and its politeness blanked out; offsets stay."""
    return _INTERROGATIVE.sub(lambda match: " " * len(match.group()), without_politeness(without_place_left(normal)))


_TOPIC = re.compile(
    r"\btell (?:me|us) (?:more |something |everything )?about\b"
    r"|\bwhat (?:does|do) .{2,60}? (?:say|state)s? (?:about|on|regarding)\b"
    r"|\bwhat (?:is|are) (?:the |our |your )?(?:[\w-]+ ){0,3}?(?:policy|policies|rules?|regulations?|guidelines?|approach)"
    r" (?:on|for|about|regarding|concerning|around|of|to)\b"
    r"|\bwhat (?:is|are) (?:the |our |your )?(?:[\w-]+ ){1,4}?(?:policy|policies|rules?|guidelines?)\?*$"
    r"|\bwhat (?:do|should) (?:i|we) (?:need to )?know about\b|\b(?:explain|describe|outline)\b"
    r"|\b(?:summary|overview|outline) (?:of|on)\b|\bsummari[sz]e\b|\b(?:information|details|info|anything) (?:on|about)\b"
    r"|\bhow (?:does|do) .{2,40} work\?*$|^(?:and )?what about\b"
    r"|(?:について|に関して|に関する(?:規[程定則]|ルール|決まり|情報|こと))(?:は|を|の)?(?:、)?(?:詳しく|簡単に)?"
    r"(?:教え|知り|説明|まとめ|何と|どう|どの|どんな|概要|$|\?)"
    r"|(?:規[程定則]|ルール|決まり|概要|内容|制度|ポリシー|方針|要点|基準)(?:を|について|は)(?:教え|知り|説明|まとめ|どうなって|どのよう|何|\?|$)"
    r"|の(?:概要|要点)|要約"
)


def asks_for_a_topic(normal: str) -> bool:
    """Whether the normalised question wants to be told about something, rather than one fact of it."""
    return _TOPIC.search(normal) is not None
