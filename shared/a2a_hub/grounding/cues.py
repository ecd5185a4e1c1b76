"""Words of negation, duty, permission and advice in English and Japanese, as one set of concepts."""

import re
from dataclasses import dataclass
from enum import StrEnum

from a2a_hub.text.quantities import blanked


class Cue(StrEnum):
    """The force that a word gives to its statement. `UNLESS` turns a negation into a need, `NEUTRAL` means nothing."""

    DUTY = "duty"
    NEED = "need"
    PERMISSION = "permission"
    ADVICE = "advice"
    NO_DUTY = "no_duty"
    NEGATION = "negation"
    UNLESS = "unless"
    NEUTRAL = "neutral"


NEGATIVE = frozenset({Cue.NEGATION, Cue.NO_DUTY})
_NOT = r"(?:\s?not\b|n['’]t\b)"
_MUST = r"(?:なりません|ならない|ならず|いけません|いけない)"
# Beginnings of the Japanese negative of a verb's potential and passive forms, as 入れ, 動かせ, 認められ.
_ABLE = r"[えけげせぜてでねべめれ](?:て(?:い|おり))?"
# At one place the first that fits is meant, so that "need not" is neither "need" nor "not".
_WORDS = (
    (Cue.ADVICE, r"(?:できるだけ|なるべく|できれば)(?![早速多少短長])[^。]{0,20}(?:ください|願い|[よ良い]い)"),
    (Cue.NEUTRAL, (r"\bnot\s(?:only|just|necessarily|all|every|always|yet)\b|\bno\.\s?(?=\d)"
     r"|\b(?:(?:must|may|can|shall|should|does|do|will|is|are)\s?)?"
     r"(?:no\s(?:[\w-]+\s){0,3}?|(?:not|cannot|never)\s(?:[\w-]+\s){0,2}?)"
     r"(?:(?:more|less|fewer|later|earlier|longer|\w+er)\sthan|exceed\w*|(?:above|over|below|under)(?=\s[$€£¥−-]?\d))"
     r"|\bif\s(?:necessary|needed|required|possible)\b")),
    (Cue.NEUTRAL, (r"に(?:満たない|達しない|過ぎない|過ぎません)|だけで(?:は)?なく|を?問わず"
     r"|に?かかわらず|かもしれ(?:ない|ません)"
     r"|やむを得(?:ない|ず)|必ずしも|少な(?:い|く)|(?:手数料|料金|費用)なし|必要(?:に応じ|な場合|があれば)"
     r"|を?(?:超え|上回|下回)(?:らない|ない|ません|ず|っ?ては[^。、]{0,6}|ることは?でき(?:ない|ません)|たことには?なり?ません)")),
    (Cue.PERMISSION, (r"\bnot\s(?:\w+\s)?(?:forbidden|prohibited|excluded|ruled\sout|refused)\b|妨げ(?:ない|ません)"
     r"|(?:禁止|禁じ|制限|拒否)(?:さ|ら)れて?(?:い|は)?(?:ない|ません)")),
    (Cue.DUTY, (rf"(?:{_NOT}|\bnever|\bno\slonger)\s(?:exempt|waived|excused|optional|voluntary)\b"
     r"|(?:免除|任意|不要|省略)(?:さ)?(?:で|れ(?:て(?:い)?)?)?(?:は)?(?:ない|ません|ありません)")),
    (Cue.NO_DUTY, (rf"\bneed(?:{_NOT}|s?\s(?:no|none)\b)|\b(?:do|does|did|is|are|will|be){_NOT}\s(?:\w+\s)?(?:be\s)?"
     r"(?:need(?:ed)?|have\sto|required?|necessary|mandatory|compulsory|obliged)\b"
     r"|\b(?:not|never)\s(?:be\s)?(?:required|necessary|mandatory|compulsory|obliged|needed)\b"
     r"|\bno\s(?:[\w-]+\s){0,5}?(?:(?:is|are|be)\s)?(?:required|necessary|needed|need|obligation)\b|\bunnecessary\b"
     r"|\bexempt(?:ed|ion)?\b|\bwaived\b|\boptional(?:ly)?\b|\bvoluntar(?:y|ily)\b|\bdiscretion\b")),
    (Cue.NO_DUTY, (r"必要(?:は|が|も)?(?:ない|なし|ありません|なく)|不要|免除|任意|自由に"
     r"|(?:なく|ずと|ないで)て?も(?:よい|良い|いい|構|かま)"
     r"|を?要(?:し(?:ない|ません)|さない)|要りません|いりません|(?:義務|必須)(?:で|と)?は(?:ない|ありません|なく)"
     r"|求め(?:られ)?(?:て(?:い|おり))?(?:ない|ません)")),
    (Cue.NEGATION, (rf"\b(?:should|must|shall|may|could){_NOT}|\bcan(?:not|['’]t)\b|\brefrain\b|\bavoid\w*\b"
     rf"|\b(?:is|are|be|was|were)?{_NOT}\s(?:\w+\s)?"
     r"(?:allowed|permitted|possible|entitled|eligible|able|accept\w*|recommended|advis\w+)\b"
     r"|\bprohibit\w*\b|\bforbid\w*\b|\bbanned\b|\bbarred\b|\bineligible\b|\bunable\b"
     r"|\b(?:non-?|un|in(?!valu)|im)[a-z]{3,}[ai]ble\b"
     r"|\b(?:no\sone|nobody|none|nothing|neither|no\s(?:[\w-]+\s){1,5}?)[^.;,]{0,40}?\s?(?:may|can|shall|must)\b")),
    (Cue.NEGATION, (rf"(?:て|で)は{_MUST}|認め(?:られ)?(?:て(?:い|おり))?(?:ない|ません|ず)|禁[止じず]"
     r"|厳禁|不可|望ましく(?:ない|ありません)"
     r"|(?:でき|出来)(?:て(?:い|おり))?(?:ない|ません|ず)|お断り|控え|ご?遠慮"
     rf"|{_ABLE}(?:ない(?!と(?!き)|限り)|ません|ず)|(?:し|いたし)かね")),
    (Cue.NEED, r"\b(?:must|shall|(?:has|have|need|needs)\sto)\sbe\s(?=(?:at\sleast|over|under|aged|older|younger|\d))"),
    (Cue.DUTY, (rf"(?:なければ|なくては|ねば){_MUST}|ないと{_MUST}|必須|(?<!努力)義務|必ず|が求められ"
     r"|(?:る|う|く|す|つ|ぶ|む|ぐ|い)(?:もの|こと)と(?:する|します)|(?:る|う|く|す|つ|ぶ|む|ぐ)こと(?=[。」）)]|$)")),
    (Cue.DUTY, (r"\bmust\b|\bshall\b|\b(?:has|have|had|having)\sto\b|\brequired\sto\b|\brequirements?\b|\bneed(?:s|ed)?\sto\b"
     r"|\bmandatory\b|\bobliged?\b|\bbound\sto\b|\bobligat(?:ory|ion)\b|\bcompulsory\b|\b(?:always|automatically)\b")),
    (Cue.NEED, r"\bneed(?:s|ed)?\b|\bnecessary\b|\brequir(?:ed?|es|ing)\b|(?<!未)必要(?!経費)|要する|要します|を要"),
    (Cue.ADVICE, (r"\bshould\b|\bought\sto\b|\brecommend\w*\b|\badvis(?:e|ed|able)\b|\bencouraged?\b|\bpreferabl[ey]\b"
     r"|\bsuggest(?:s|ed)?\b|べき|推奨|望ましい|望まれ|勧め|おすすめ|(?:ほう|方)が(?:よい|良い|いい)|努め|努力義務")),
    (Cue.PERMISSION, (r"\bmay\b|\bcan\b|\bcould\b|\bmight\b|\ballow(?:s|ed)?\b|\bpermit(?:s|ted)\b|\beligible\b|\bentitled\b"
     r"|\bable\sto\b|\bpossible\b|\bwelcome\sto\b|\bfree\sto\b|(?:こと|場合)があ(?:る|り)|可能|(?:でき|出来)(?:る|ます|た|ました|、)"
     r"|(?:て|で)も(?:よい|良い|いい|よく|大丈夫|(?:かま|構)(?:わな|いませ)|差し支え(?:な|あり)|問題は?(?:な|あり))(?:い|ん|く|ません)?"
     r"|てよい|ば(?:よ|良|い)い|認め(?:る|ます|られる|られます|られて)|許可(?:する|される|します|されます)|いただけ(?:る|ます)"
     r"|(?![納求決定集始進含改締収])[一-龥](?:[えけげせてねべめれ])ます(?=が?[。、])")),
    (Cue.UNLESS, (r"\bwithout\b|\bunless\b|\buntil\b|(?:なし|無し)(?:に|で)|なければ|なくては|ずに|ないで(?!くだ|下)"
     r"|(?<=[\u4e00-\u9fff])なく(?!な)|(?:ない|なき)限り|まで(?:は|(?=[^。]{0,24}(?:ては|では)(?:なら|いけ)))|ないと(?!き)")),
    (Cue.NEGATION, (r"\bnot\b|n['’]t\b|\bno\b|\bnone\b|\bnobody\b|\bnothing\b|\bneither\b|\bnor\b|\bnever\b"
     r"|(?<!まか)ない(?!ま[すしせ])"
     r"|なく(?!な)|なかっ|ません|なし(?!と)|対象外|適用外|[らわかさなばま]ず(?=[、。にの]|$)")),
)  # fmt: skip
_WORD = re.compile("|".join(f"(?P<c{n}>{pattern})" for n, (_, pattern) in enumerate(_WORDS)), re.IGNORECASE)
# Whom or which case a Japanese statement is about, as 会員でない方; an English one has such a word before: who are not members.
_ATTRIBUTE = re.compile(r"(?:方|者|人|場合|とき|時)")
_EXCEPTION = re.compile(
    r"\b(?:except(?!ional)(?:ing|ed)?|unless|other\sthan|apart\sfrom)\b|ただし|但し|を除[きくい]|以外(?:は|の|に|で|を|が)|ない限り",
    re.IGNORECASE,
)

# Words that deny without a negation; their opposite may be stated with or without one.
_LEXICAL_NO = re.compile(
    r"\b(?:exclu\w+|lapse\w*|only|off[- ]limits|stay|kept|closed?|reject\w*|refus\w+|instead|others?|(?<!to\s)free(?!\sto)"
    r"|until|without|themselves|left\sout|turned\s(?:down|away)|separate\w*|(?:un(?!d|i|til)|non-?)[a-z]{4,}|in(?:complete|eligib|valid)\w*)\b"
    r"|除(?![草雪菌湿染毛])|だけ|しか|限[らりるっ]|制限|断[らりるわっ]|(?!未満)[不未無非免否][\u4e00-\u9fff]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Found:
    """A cue with its place in the text."""

    cue: Cue
    start: int
    end: int


def cues_of(text: str) -> list[Found]:
    """Return the cues of a text in their order. "Cannot without" is a need, said with two negations."""
    found = [
        Found(_WORDS[int((match.lastgroup or "c0")[1:])][0], match.start(), match.end())
        for match in _WORD.finditer(blanked(text, "date"))
        if not _ATTRIBUTE.match(text, match.end())
    ]
    negations = [each for each in found if each.cue is Cue.NEGATION]
    conditions = [each for each in found if each.cue is Cue.UNLESS]
    if negations and conditions:
        pair = (negations[-1], conditions[0])
        last = max(pair, key=lambda each: each.start)
        found = [
            Found(Cue.NEED, each.start, each.end) if each is last else each
            for each in found
            if each is last or each not in pair
        ]
    return [each for each in found if each.cue not in (Cue.NEUTRAL, Cue.UNLESS)]


def lexical_denials(text: str) -> set[str]:
    """Return the words that deny without a negation, cut to their beginning."""
    return {word[:4].lower() for word in _LEXICAL_NO.findall(text)}


def split_exception(text: str) -> tuple[str, str]:
    """Return a clause's rule and its exception, which stands behind its word in English and before it in Japanese."""
    match = _EXCEPTION.search(text)
    if not match:
        return text, ""
    before, after = text[: match.start()], text[match.end() :]
    return (after, before) if match[0][0] in "を以な" else (before, after)
