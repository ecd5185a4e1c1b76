"""A question without its manners: contractions written out, politeness and what is not meant left out."""

import re

from functions.docqa.vocabulary.numerals import with_halves

_CONTRACTED = re.compile(r"\b(what|who|where|when|how|why|that|there|it|he|she|i|we|you|they)'(s|re|m|ve|ll|d)\b")
# Written without the apostrophe: whats, dont, im.
_BARE = {
    **{f"{word}s": f"{word} is" for word in ("what", "who", "where", "how", "when", "that")},
    **{
        f"{verb}nt": f"{verb} not"
        for verb in ("do", "does", "did", "is", "are", "was", "have", "has", "could", "should")
    },
    **{"cant": "can not", "wont": "will not", "im": "i am", "ive": "i have", "youre": "you are"},
}
_BARE_CONTRACTION = re.compile(rf"\b({'|'.join(_BARE)})\b")
_ONE_UNIT = re.compile(
    r"\b(more than|less than|at least|for|after|within|over|up to|under|about) an? (minute|hour|day|week|month|year)\b(?! of)"
)
_LET_KNOW = re.compile(r"\blet (?!me\b|us\b)([\w'-]+(?: [\w'-]+){0,4}?) know\b")
_CONTRAST = re.compile(
    r"[^、。，はがをにで \s]{1,15}(?<!だけ)(?<!のみ)(?<!ばかり)(?:じゃ|では)なく(?:って|て)?、?(?=[^、。?？]{2})"
    r"|\bnot (?:the |for )?[\w-]+(?: [\w-]+)?,? but (?:rather )?"
)
# Where a thing was forgotten changes nothing.
_LEFT_BEHIND = re.compile(
    r"(\b(?:forgot|forget|forgotten|left) (?:[\w-]+ ){1,4}?)((?:at home|in the house|on the train)\b)"
    r"|()((?:家|自宅|うち|電車)に(?=忘れ|置い|置き))"
)
_NEGATED = re.compile(r"\b(have|has|had|do|does|did|is|are|was|were|ca|could|wo|would|should|must)n't\b")
_NEGATED_STEMS = {"ca": "can", "wo": "will"}
_WRITTEN_OUT = {"s": "is", "re": "are", "m": "am", "ve": "have", "ll": "will", "d": "would"}
_POLITE = re.compile(
    r"^\W*(?:(?:hi|hello|dear \w+|excuse me|sorry)\b[^?]{0,20}?[,.!])?\W*(?:please |kindly )?"
    r"(?:(?:(?:can|could|would|will) you (?:please |kindly )?(?:tell|explain to|remind|inform|help) (?:me|us) ?"
    r"|(?:please )?(?:tell|remind|inform) (?:me|us) "
    r"|(?:do you know|does anyone know|i(?:'d| would) like to (?:know|ask)"
    r"|i (?:want|need) to know|i(?:'m| am) (?:wondering|not sure)"
    r"|i was wondering|i wonder|any idea|(?:just )?wondering) ?)(?:about |whether |if )?)+"
    r"|[、。,]?(?:を|について|に関して|か)?(?:ご|お)?(?:教示|教え|確認|案内|知らせ|伺い|聞き)(?:て|し)?"
    r"(?:いただけ|頂け|ください|下さい|願い|もらえ|いただき|頂き|くださ|したい|たい)[^?。、]{0,16}"
    r"|(?:を|が|か)?知りたい[^?。]{0,10}|お(?:願い|尋ね)(?:いた)?します|(?:お世話になっております|すみません|恐れ入りますが|恐縮ですが)[、。,]?"
)


def uncontracted(normal: str) -> str:
    """The question with "what's", "haven't" and "for half an hour" written out."""
    normal = normal.replace("ノートpc", "ノートパソコン")
    normal = _NEGATED.sub(lambda match: f"{_NEGATED_STEMS.get(match.group(1), match.group(1))} not", normal)
    normal = _BARE_CONTRACTION.sub(lambda match: _BARE[match.group()], normal)
    normal = with_halves(normal)
    normal = _LET_KNOW.sub(r"notify \1", normal).replace("a quarter of an hour", "15 minutes")
    normal = _ONE_UNIT.sub(r"\1 1 \2", normal.replace("half an hour", "30 minutes").replace("半年", "6か月"))
    return _CONTRACTED.sub(lambda match: f"{match.group(1)} {_WRITTEN_OUT[match.group(2)]}", normal)


def without_contrast(text: str) -> str:
    """The question without what it says it does not mean: 「管理職ではなく一般社員」, "not P-1 but P-2"."""
    return _CONTRAST.sub(lambda match: " " * len(match.group()), text)


def without_politeness(normal: str) -> str:
    """The question with what only makes it polite blanked out; offsets stay."""
    return _POLITE.sub(lambda match: " " * len(match.group()), normal)


def without_place_left(normal: str) -> str:
    """The question without the place where something was forgotten: "I left my badge at home"; offsets stay."""
    return _LEFT_BEHIND.sub(lambda match: (match.group(1) or "") + " " * len(match.group(2) or match.group(4)), normal)
