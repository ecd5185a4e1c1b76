"""Words of negation, duty, permission and advice in English and Japanese, as one set of concepts."""

import re
from dataclasses import dataclass
from enum import StrEnum

from a2a_hub.text.quantities import blanked


class Cue(StrEnum):
    """The force that a word gives to its statement; `NEUTRAL` means nothing."""

    DUTY = "duty"
    NEED = "need"
    PERMISSION = "permission"
    ADVICE = "advice"
    NO_DUTY = "no_duty"
    NEGATION = "negation"
    NEUTRAL = "neutral"


NEGATIVE = frozenset({Cue.NEGATION, Cue.NO_DUTY})
_NOT = r"(?:\s?not\b|n['’]t\b)"
_MUST = r"(?:なりません|ならない|ならず|なりませぬ|いけません|いけない|だめ|駄目)"
# Beginnings of the Japanese negative of a verb's potential and passive forms, as 入れ, 動かせ, 認められ.
_ABLE = r"[えけげせぜてでねべめれ](?:て(?:い|おり))?"
# At one place the first that fits is meant, so that "need not" is neither "need" nor "not".
_WORDS = (
    (Cue.ADVICE, (r"(?:できる(?:だけ|限り)|なるべく|極力|できれば)(?![早速多少短長])"
     r"[^。]{0,20}(?:ください|下さい|願い|[よ良い]い)")),
    (Cue.NEUTRAL, (r"\bwithout\s(?:\w+\s)?(?:charges?|fees?|costs?|payment|delay|exception|notice)\b|\bno-[a-z]+"
     r"|\bnot\s(?:in\s)?(?:only|just|merely|necessarily|all|every|each|always|yet)\b|\bno\smatter\b|\bno\.\s?(?=\d)"
     r"|\b(?:(?:must|may|can|shall|should|does|do|did|will|is|are|has|have)\s?)?"
     r"(?:no\s(?:[\w-]+\s){0,3}?|(?:not|cannot|never)\s(?:[\w-]+\s){0,2}?)"
     r"(?:(?:more|less|fewer|higher|lower|later|earlier|sooner|longer|shorter|greater|older|younger|larger|smaller)\sthan"
     r"|exceed\w*|(?:above|over|below|under|past|beyond)(?=\s[$€£¥−-]?\d))"
     r"|\bnot\s(?:later|more|less|fewer|earlier|longer)\b|\bwhether\sor\snot\b"
     r"|\b(?:if|as|when|where|wherever|whenever)\s(?:necessary|needed|required|possible|permitted|allowed)\b"
     r"|\bas\s\w+\sas\s(?:possible|(?:you|they|we)\scan)\b|\brequired\s(?=(?:documents?|forms?|items?|information|fields?)\b)"
     r"|\bcan\sbe\s(?:found|reached|contacted|seen)\b|\b(?:a|the)\scan\b")),
    (Cue.NEUTRAL, (r"に(?:満たない|達しない|届かない|届かず|及ばない|満たず|達せず|過ぎない|過ぎません)"
     r"|だけで(?:は)?なく|のみ(?:ならず|でなく)|に限らず"
     r"|(?:手数料|料金|費用|送料|キャンセル料)なし|を?問わず|に?(?:かか|関)わらず|かもしれ(?:ない|ません)"
     r"|やむを(?:得|え)(?:ない|ず)|必ずしも|少なくとも|少な(?:い|く)|まもなく|間もなく|速やか|もれなく|漏れなく"
     r"|(?:この|その)限りで|(?<=[ていがはでし])なくても(?![よ良い構か差問済])"
     r"|なくな(?:る|り|っ)|なく[すさし](?:れ|た|て|$)?|遅滞なく|例外なく|まだ"
     r"|を?(?:超え|上回|越え|超過し?)(?:ない|ません|ず|ては[^。、]{0,6}|ることは?でき(?:ない|ません)"
     r"|たことには?なり?(?:らない|ません))"
     r"|を?下回(?:らない|りません|っては[^。、]{0,6})|未満(?:で|に)あ?っては[^。、]{0,6}"
     r"|必要(?:に応じ|な場合|があれば|があるとき|がある場合|と認め|なとき)|可能な限り|できる(?:だけ|限り|かぎり)|ないし(?=\d)"
     r"|ではない(?:でしょう)?か|(?:義務|必要|許可|推奨|必須)(?=書類|事項|項目|者|証|経費|条件|人数|日数)")),
    (Cue.PERMISSION, (r"\bnot\s(?:\w+\s)?(?:forbidden|prohibited|banned|barred|excluded|ruled\sout|refused|rejected|denied)\b"
     r"|(?:禁止|禁じ|制限|除外|断|拒否|却下|否決)(?:さ|ら)れ(?:て?(?:い|は)?|ることは)?(?:ない|ません|あ?りません)"
     r"|妨げ(?:ない|ません)")),
    (Cue.DUTY, (rf"(?:{_NOT}|\bnever|\bno\slonger)\s(?:exempt(?:ed)?|waived|excused|optional|voluntary)\b"
     r"|(?:免除|任意|不要|省略)(?:さ|ら)?(?:で|と|れ(?:て(?:い|は|おり)?)?)?(?:は|では|とは)?(?:ない|ません|ありません|ならない|なりません)")),
    (Cue.NO_DUTY, (rf"\bneed(?:{_NOT}|s?\s(?:no|none)\b)|\b(?:do|does|did|is|are|was|were|will"
     rf"|be)(?:{_NOT})\s(?:\w+\s)?(?:be\s)?"
     r"(?:need(?:ed)?|have\sto|required?|necessary|mandatory|compulsory|obligatory|obliged|expected)\b"
     r"|\b(?:not|never)\s(?:be\s)?(?:required|necessary|mandatory|compulsory|obligatory|obliged|needed)\b"
     r"|\bno\s(?:[\w-]+\s){0,5}?(?:(?:is|are|be)\s)?(?:required|necessary|needed|need|obligation|duty)\b|\bunnecessary\b"
     r"|\bexempt(?:ed|ion)?\b|\bwaived\b|\boptional(?:ly)?\b|\bvoluntar(?:y|ily)\b|\bdiscretion\b"
     r"|\bwithout\s(?:having|needing)\sto\b|\bno\slonger\s(?:required|necessary|needed)\b")),
    (Cue.NO_DUTY, (r"必要(?:性)?(?:は|が|も|では|とは|まで(?:は)?)?(?:ない|なし|無い|無し|ありません|ございません|なく"
     r"|とし(?:ない|ません)|とされ(?:ない|ません))|不要|免除|任意|自由に"
     r"|なくて(?:も)?(?:よい|良い|いい|よく|構|かま|差し支え|問題な|済)|ないで(?:も)?(?:よい|いい)"
     r"|を?要(?:し(?:ない|ません)|さ(?:ない|ず))|要りません|要らない|いりません"
     r"|省略(?:でき|可|して(?:も)?よ|することができ)|(?:義務|必須)(?:で|と|では|とは|は)(?:ない|ありません|なりません|なく)"
     r"|求め(?:られ)?(?:て(?:い|おり))?(?:ない|ません)|に(?:は)?(?:及ば|およば)(?:ない|ず)|には?及びません"
     r"|ずとも(?:よい|良い)|しなくても")),
    (Cue.NEGATION, (rf"\b(?:should|ought|must|shall|may|can|could)(?:{_NOT}|\snever\b)|\bcan(?:not|['’]t)\b"
     r"|\brefrain\b|\bavoid\w*\b|\bdiscouraged\b"
     rf"|\b(?:is|are|be|was|were)?{_NOT}\s(?:\w+\s)?(?:allowed|permitted|possible|entitled|eligible|authori[sz]ed"
     rf"|able|accept\w*"
     r"|granted|recommended|advis\w+|encouraged)\b"
     r"|\bprohibit\w*\b|\bforbid\w*\b|\bforbidden\b|\bbanned\b|\bbarred\b|\bineligible\b|\bunable\b|\bdisallowed\b"
     r"|\b(?:non-?|un|in(?!valu)|im)[a-z]{3,}[ai]ble\b"
     r"|\b(?:no\sone|nobody|none|nothing|neither|no\s(?:[\w-]+\s){1,5}?)[^.;,]{0,40}?\s?"
     r"(?:may|can|shall|must|(?:is|are)\s(?:allowed|permitted|accepted|possible|available))\b")),
    (Cue.NEGATION, (rf"(?:て|で)は{_MUST}|(?:て|で)はな(?:らぬ)"
     r"|認め(?:られ)?(?:て(?:い|おり))?(?:ない|ません|ず)|禁[止じず]|厳禁|不可|べからず|べきでは?(?:ない"
     rf"|ありません|なく)|望ましく(?:ない|ありません)"
     r"|(?<!何人たりとも)(?:でき|出来)(?:て(?:い|おり))?(?:ない|ません|ず|かね|なかった)|お断り(?!する?(?:場合"
     r"|こと)が)|控え|ご?遠慮|許可し(?:ない|ません)"
     rf"|推奨し(?:て(?:い|おり))?(?:ない|ません)|{_ABLE}(?:ない(?!と(?!き)|限り)|ません|ず)|(?:し|いたし|致し)かね")),
    (Cue.NEED, r"\b(?:must|shall|(?:has|have|need|needs)\sto)\sbe\s(?=(?:at\sleast|over|under|aged|older|younger|\d))"),
    (Cue.DUTY, (rf"(?:なければ|なくては|ねば){_MUST}|ないと{_MUST}|必須|(?<!努力)義務|必ず|不可欠|(?:を|が|よう"
     rf"|ことが|と)求め(?:る(?!こと)|られ|ます)"
     r"|(?:(?<!努め)(?:る|う|く|す|つ|ぶ|む|ぐ|い))(?:もの|こと)と(?:する|します|し、|なっている|なっています)"
     r"|(?:る|う|く|す|つ|ぶ|む|ぐ)こと(?=[。」）)]|$)")),
    (Cue.DUTY, (r"\bmust\b|\bshall\b|\b(?:has|have|had|having)\sto\b|\brequired\sto\b|\brequirements?\b"
     r"|\bneed(?:s|ed)?\sto\b|\bnecessary\sto\b|\bmandatory\b|\boblig(?:ed?|es)\b|\bcompel(?:s|led)?\b|\bbound\sto\b|\bno\s(?:choice|option)\sbut\b"
     r"|\bobligat(?:ed|ory|ion)\b|\bcompulsory\b|\bessential\b|\b(?:always|invariably|automatically)\b")),
    (Cue.NEED, r"\bneed(?:s|ed)?\b|\bnecessary\b|\brequir(?:ed?|es|ing)\b|(?<!未)必要(?!経費)|要する|要します|を要"),
    (Cue.ADVICE, (r"\bshould\b|\bought\sto\b|\brecommend\w*\b|\badvis(?:e|ed|able)\b|\bencouraged?\b"
     r"|\bpreferabl[ey]\b|\bideally\b|\bsuggest(?:s|ed)?\b"
     r"|べき|推奨|望ましい|望まれ|勧め|おすすめ|奨励|(?:ほう|方)が(?:よい|良い|いい)|努め|努力義務")),
    (Cue.PERMISSION, (r"\bmay\b|\bcan\b|\bcould\b|\bmight\b|\ballow(?:s|ed)?\b|\bpermit(?:s|ted)\b|\beligible\b|\bpermissible\b"
     r"|\bentitled\b|\bable\sto\b|\bpossible\b|\bwelcome\sto\b|\bfree\sto\b|(?:こと|場合)があ(?:る|り)|可能|おそれがあ"
     r"|(?:でき|出来)(?:る|ます|た|ました|、)|(?:て|で)も(?:よい|良い|いい|よく|大丈夫|(?:かま|構)(?:わな|いませ)"
     r"|差し支え(?:な|あり)|問題(?:は?な|は?あり))(?:い|ん|く|ません)?|てよい|ば(?:よ|良|い)い|ば(?:足り|十分)|差し支え(?:ない|ありません)|認め(?:る"
     r"|ます|られる|られます|られて|られた)"
     r"|許可(?:する|される|します|されます|され|されて)|(?<!不)(?<!許)(?<!認)可(?=[。、）)\s|]|$|とする|です"
     r"|と(?:なる|なります))"
     r"|いただけ(?:る|ます)|(?![納求決定集始進含改締収])[一-龥](?:[えけげせてねべめれ])ます(?=が?[。、])|自由に[^。、]{0,8}[えけげせてねべめれ]ます")),
    (Cue.NEUTRAL, (r"\bwithout\b|\bunless\b|\buntil\b|(?:なし|無し|無)(?:に|で)(?:は|の)?|得(?:ず|ない)(?:に|で)"
     r"|なければ|なくては|ずに|ないで(?!くだ|下)"
     r"|(?<=[\u4e00-\u9fff])なく(?!な)|(?:が|を)ない(?:場合|とき)|(?:ない|なき)限り|まで(?:は|(?=[^。]{0,24}(?:ては|では)(?:なら|いけ)))|ないと(?!き|する|し[、た]|され)|しか")),
    (Cue.NEGATION, (r"\bnot\b|n['’]t\b|\bno\b|\bnone\b|\bnobody\b|\bnothing\b|\bneither\b|\bnor\b|\bnever\b"
     r"|(?<!まか)ない(?!ま[すしせ])|なく(?!な)|なかっ|ません|ざる|なし(?!と)|無し|対象外|適用外|適用除外|[らわかさなばま]ず(?=[、。にの]|$)")),
)  # fmt: skip
_WORD = re.compile("|".join(f"(?P<c{n}>{pattern})" for n, (_, pattern) in enumerate(_WORDS)), re.IGNORECASE)
# Whom or which case a Japanese statement is about, as 会員でない方; an English one has such a word before: who are not members.
_ATTRIBUTE = re.compile(r"(?:方|者|人|場合|とき|時)")
_EXCEPTION = re.compile(
    r"\b(?:except(?!ional)(?:ing|ed)?|unless|other\sthan|excluding|apart\sfrom|aside\sfrom|save\sfor"
    r"|with\sthe\sexception)\b"
    r"|ただし|但し|を除[きくい]|(?<!営業日)以外(?:は|の|に|で|を|が)|ない限り",
    re.IGNORECASE,
)

# Words that deny without a negation; their opposite may be stated with or without one.
_LEXICAL_NO = re.compile(
    r"\b(?:exclu\w+|except\w*|exempt\w*|lapse\w*|only|separate\w*|off[- ]limits|stay|kept|closed?|reject\w*|refus\w+"
    r"|turn(?:ed|s)?\s(?:down|away)|instead|others?|otherwise|(?<!to\s)free(?!\sto)|until|without|themselves|left\sout"
    r"|(?:un(?!d|i|til)|non-?)[a-z]{4,}|in(?:complete|eligib|valid)\w*)\b"
    r"|除(?![草雪菌湿染毛])|以外|のみ|だけ|限[らりるっ]|別途|制限|対象外|休[止館業]|閉|断[らりるわっ]|(?!未満)[不未無非免否][\u4e00-\u9fff]|抜|しか|なし",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Found:
    """A cue with its place in the text."""

    cue: Cue
    start: int
    end: int


def cues_of(text: str) -> list[Found]:
    """Return the cues of a text in their order."""
    found = (
        Found(_WORDS[int((match.lastgroup or "c0")[1:])][0], match.start(), match.end())
        for match in _WORD.finditer(blanked(text, "date"))
        if not _ATTRIBUTE.match(text, match.end())
    )
    return [each for each in found if each.cue is not Cue.NEUTRAL]


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
