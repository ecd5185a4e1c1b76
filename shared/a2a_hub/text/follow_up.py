"""Texts that live by the conversation before them.

Follow-ups are incomplete without the question before: "and for hotels?", 「じゃあ海外は？」, "as a table, please".
Acknowledgements leave the conversation where it was: "thanks!", 「なるほど」.
"""

import re
from functools import cache

from a2a_hub.text.normalization import compose, normalise

# Longer texts are complete questions; before normalisation, invisible characters and blanks count too.
_MAX_CHARACTERS = 80
_MAX_WRITTEN_CHARACTERS = 800

_PLEASE = r"(?:,? please)?"
_QUESTION_WORD = (
    r"(?:what|whom?|whose|when|where|why|how|which|is|are|was|were|do|does|did|can|could|will|would|should|may)\b"
)
_PRONOUN = r"(?:it|its|they|them|their|that|this|those|these)\b"
# "Is it raining?" refers to no earlier text.
_IMPERSONAL = (
    r"(?:is|was|will) it (?:true|possible|legal|safe|ok|okay|worth|late|going|bad|good)\b"
    r"|(?:is|was|will) it (?:raining|rain|snowing|snow|cold|hot|warm|sunny)\b|how is it going|(?:do|are|can|could|will) you\b"
    r"|(?:who|where|how) (?:is|are|was|were) (?:it|this|that|these|those|they)\??$"
)
_COUPLED = r"(?:(?:ok(?:ay)?|so|then),? )*(?:(?:and )?(?:what|how) about|and|but|or)\b,?"
_ENGLISH = (
    # A few words without a complete question: "and for P-2?", "what about hotels".
    rf"{_COUPLED}(?! {_QUESTION_WORD})(?! (?:i|we|you)\b)(?: (?:(?:then|also) )?[\w'-]+){{1,6}}{_PLEASE}",
    # A complete question about an earlier subject: "and who signs it?", "is that per person?".
    rf"(?:and|but|or|so)\b,?(?= {_QUESTION_WORD})(?=.* {_PRONOUN})(?: [\w'-]+){{2,9}}",
    rf"(?!{_IMPERSONAL}|what|which)(?={_QUESTION_WORD})(?=.* {_PRONOUN})[\w'-]+(?: [\w'-]+){{2,7}}",
    r"so,? .{3,40} then|(?:the )?same (?:question|thing)? ?(?:for|with|in) .{2,30}",
    r"which (?:one|of (?:them|these|those))\b.{0,40}",
    # A circumstance without a verb: "per person?", "in feet?", "for ten people?".
    (
        rf"(?:per|for|in|on|at|from|with|without|after|before|during|within|over|under|above|below)(?! {_QUESTION_WORD})"
        rf"(?:(?! {_QUESTION_WORD}) [\w'-]+){{1,4}}(?=\?)"
    ),
    (
        r"(?:[\w'-]+ ){0,4}the (?:first|second|third|fourth|fifth|last) (?:one|step|point|item|task|risk)"
        rf"(?: (?:about|mean|again|exactly|in (?:more )?detail))?{_PLEASE}"
    ),
    rf"(?:(?:and|please|(?:can|could) you)\b,? )*(?:give|show)(?: me| us)? an? (?:\w+ )?example{_PLEASE}",
    r"(?:[\w'-]+ ){1,4}(?:step|point|item|number|task|risk) [0-9]{1,2}(?: [\w'-]+){0,3}",
    r"(?:since|until|till|from) when|how (?:much|many|long|often|soon)|who|when|where",
    r"(?:(?:and|but) )?(?:and|but|or|what) if\b.+",
    # Only a format for the answer, or a request for more.
    (
        rf"(?:(?:and|now|please|the same|(?:can|could) you|(?:put|show|say|make) (?:it|that))\b,? )*"
        rf"(?:as|in) (?:a|one) (?:table|list|sentence|word){_PLEASE}"
    ),
    (
        rf"(?:(?:and|please|(?:can|could) you|make (?:it|that)|a bit|much|even)\b,? )*"
        rf"(?:shorter|briefer|(?:more )?briefly|in short){_PLEASE}"
    ),
    (
        rf"(?:(?:and|then|(?:can|could) you|please|(?:give|tell|show|list|name)(?: me| us)?|any|some|a few|the)\b )*"
        rf"(?:[0-9]{{1,3}} |[a-z]{{3,6}} )?(?:more|others?|next)"
        rf"(?: (?:tasks?|steps?|items?|examples?|risks?|points?|ones?|details?))?{_PLEASE}"
    ),
    (
        rf"(?:(?:and|now|please|(?:can|could) you|answer|(?:say|tell me|repeat|explain) (?:it|that|this)|again)\b,? )*"
        rf"in (?:english|japanese){_PLEASE}"
    ),
    r"(?:and )?(?:why|since when|for example|such as|in which case|(?:any|what|who) ?(?:thing )?else|when exactly)",
)

_SUBJECT = r"[^のはがをに。、? +*×÷=/]{1,12}?(?:(?:の|した)?(?:場合|とき|時|ほう|方|人))?"
_COUPLED_JA = r"(?:じゃあ?|では|それじゃあ?|それでは|それなら|あとは?|それと|でも|ちなみに)[、 ]?"
# Numbers, and subjects that start a new conversation.
_NUMBER = r"(?:[0-9]{1,3}|[一二三四五六七八九十])"
_NEW = r"(?:何|なん|誰|だれ|いつ|どこ|天気|今日|明日|世界|日本|一番|最も|好き)"
_JAPANESE = (
    rf"{_COUPLED_JA}{_SUBJECT}(?:(?:について)?(?:は|も)|だと|だったら|なら)",
    rf"(?!.*{_NEW}){_SUBJECT}(?:は|だと|だったら|なら)(?=\?)",
    rf"(?!.*{_NEW}){_SUBJECT}(?:だと|だったら|なら|の場合は?)(?:いくら|どう(?:なる|なります|です)?|必要|可能|だめ|ダメ)(?:です)?か?",
    r"[^。?]{1,20}(?:の|た|る|い|な)(?:場合|とき|時)(?:は|だと)(?=\?)",
    r"[^。? ]{1,12}について(?:は|も)|[^。?]{1,14}(?:たら|なければ|ないと)(?=\?)",
    r"(?:いつ|どこ|誰|いくら|何(?:日|回|円|人|時間|分))(?:から|まで|で|に|へ|が|以内)?(?:ですか|(?=\?))|どうやって(?=\?)",
    # Who, when or where, without a subject.
    r"(?!.*(?:住|好き|寝|食べ|生まれ|帰|会い|思))(?:(?:誰|だれ)[にがの]|いつ|どこ[にへで])[^。?はを]{2,12}(?:か|の(?=\?|$)|(?=\?))",
    rf"{_NUMBER}(?:番目?|つ目|個目)(?:は|を|の|について).{{0,14}}|(?:ほか|他)にも?(?:ある|あります)?か?|どれ(?:が|を|から).{{1,12}}",
    (
        r"(?:では|じゃあ)?(?:それ|そ(?:の|ういう)(?:場合|とき|時|後|次))(?:は|を|が|って|なら|だと|で|も|の|に|、)"
        r".{0,20}?(?:か|は|たら|なぜ|いつ|誰|どう|(?=\?))"
    ),
    rf"(?:あと|もう|ほかに|他に){_NUMBER}(?:つ|個|件|点).{{0,10}}|(?:続き|つづき|次)(?:は|を.{{0,8}})?",
    r"もっと(?:挙げて|教えて|ください).{0,5}",
    (
        r"(?:(?:もっと|もう少し|もう一度|詳しく|例を|まとめて|それを|一言で|一文で|簡潔に|短く|手短に|表に|表で|表形式で|箇条書きで|箇条書きに|要約)"
        r"(?:短く|詳しく|挙げて|言って|簡潔に|まとめて|して|お願いします|お願い|教えて|言うと|ください|で|に"
        r"|(?:もらえ|いただけ|くれ)(?:る|ます|ませんか)|か|ほしい(?:です)?)*)"
    ),
    r"(?:それを|もう一度|今度は)?(?:日本語|英語)で(?:も)?(?:の)?(?:(?:教えて|答えて|回答|説明|お願い|言って).{0,8})?",
    r"(?:それは)?(?:なぜ|どうして|例えば|たとえば|具体的には|他には|ほかには|その他は|それ以外は)(?:ですか)?",
)
_ACKNOWLEDGEMENT = (
    r"ok(?:ay)?|(?:oh,? )?i see|got it|understood|all ?right|makes sense|noted|sure|fine|good|great|nice",
    r"cool|perfect|excellent|wonderful",
    r"thx|ty|thank(?:s| you)(?: (?:so|very) much| a lot)?(?: for (?:the|your) (?:help|answer|info(?:rmation)?))?",
    r"(?:very )?helpful|that(?: was helpful| help(?:s|ed))",
    r"(?:どうも|大変|本当に|とても)?(?:ありがとう?(?:ござい(?:ます|ました))?|助かり(?:ます|ました)|助かった)|どうも|サンキュー|感謝します",
    r"(?:了解|承知)(?:です|(?:いた)?しました)?|なるほど|(?:分か|わか|分)り?(?:ました|った)|そう(?:です|なんです)か|(?:オッケー|ok)です",
)
# P-1, SEV2, ISO27001: one of a series, replaceable by another one.
_NUMBERED = re.compile(r"(?<![a-z0-9])([a-z]{1,6})-?[0-9]{1,5}(?![a-z0-9])", re.IGNORECASE)


def is_follow_up(text: str) -> bool:
    """Return True if a text only makes sense as the continuation of another one."""
    if len(text) > _MAX_WRITTEN_CHARACTERS:
        return False
    normal = normalise(text)
    return len(normal) <= _MAX_CHARACTERS and _follow_ups().fullmatch(normal) is not None


def is_acknowledgement(text: str) -> bool:
    """Return True if a text only thanks for an answer, or says that it was understood."""
    if len(text) > _MAX_WRITTEN_CHARACTERS:
        return False
    normal = normalise(text)
    return len(normal) <= _MAX_CHARACTERS and _acknowledgements().fullmatch(normal) is not None


def names_another(earlier: str, follow_up: str) -> bool:
    """Return True if the follow-up names another member of a series than the earlier question: P-2 after P-1."""
    return _members(earlier, follow_up) is not None


def completed(earlier: str, follow_up: str) -> str:
    """Return the complete question: the earlier one about the other member of its series, or both, one below the other."""
    members = _members(earlier, follow_up)
    if members is None:
        return f"{earlier}\n{follow_up}"
    named, meant = members
    return compose(earlier).replace(named, meant)


def _members(earlier: str, follow_up: str) -> tuple[str, str] | None:
    """Return the first member of a series that each text names; None if they name none of the same series."""
    named, meant = _NUMBERED.search(compose(earlier)), _NUMBERED.search(compose(follow_up))
    if named is None or meant is None or named[1].casefold() != meant[1].casefold():
        return None
    return named[0], meant[0]


# Compiled on first use.
@cache
def _follow_ups() -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join((*_ENGLISH, *_JAPANESE))})[?.!。 ]*")


@cache
def _acknowledgements() -> re.Pattern[str]:
    return re.compile(rf"(?:(?:{'|'.join(_ACKNOWLEDGEMENT)})(?:[ねよ,.!。、 ]+|$))+")
