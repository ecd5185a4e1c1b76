"""Whether an amount of money is the one that is asked for: a share is, only of what is paid, and not of itself."""

import re

from functions.docqa.answers.judged import Judged
from functions.docqa.answers.left_out import is_beside_the_amount
from functions.docqa.questions.expressions import PATTERNS, AnswerKind
from functions.docqa.vocabulary.words import normalise

_MONEY_ITSELF = re.compile(
    r"[¥$€£] ?\d|\d ?[€£¤]|\d ?p\b(?! ?\d)|\d ?(?:yen|jpy|usd|dollars?|eur|euros?|pounds?|cents?|pence|chf|[万千億]?円"
    r"|ドル|ユーロ)|\b(?:jpy|usd|eur|gbp|chf) ?\d"
)
_COST_ASKED = re.compile(r"\bcosts?\b|\bprices?\b|\bhow expensive\b")
_SHARE_OF = re.compile(
    r"([\u30a1-\u30fc\u3400-\u9fff]{1,5}(?:料金|費|額|価格|代金|報酬|料))の(?:\d|全額|半額)|([^\W\d_]{1,6})に対する割合"
)
_PRICE_ASKED = re.compile(r"(?:価格|値段|定価)(?:は|を|って|$|\?)|いくら[^。?]{0,6}無料|何円[^。?]{0,6}無料")
_FREE = re.compile(r"無料|無償")
_PRICED = re.compile(
    r"\b(?:pric|fees?\b|charg|costs?\b|amount|rent\b|deposit|discount|cover|reimburs|refund|credit|paid|pay|salar|wage|free"
    r"|commission|interest|bonus|budget|tax)|[料費額価金賃税]|払|見積|応相談|要相談|無料|無償|給|実費|割引|手当"
)
_CASE = re.compile(r"^\W*(?:if|when|where|should|in case|unless)\b[^,]*,")


def is_no_amount(judged: Judged) -> bool:
    """Whether it is no money that is said: none beside the case, or a share where no price or payment is spoken of."""
    unit, normal = judged.unit, judged.normal
    found = PATTERNS[AnswerKind.MONEY].search(_CASE.sub("", normal))
    if not found:
        return True
    if _MONEY_ITSELF.search(normal):
        return False
    if _PRICE_ASKED.search(judged.asked) and (_FREE.search(judged.asked) or not _FREE.search(normal)):
        return True
    if "%" in found.group() and "% of" not in normal and _COST_ASKED.search(judged.asked):
        return True
    return not _PRICED.search(f"{normal} {normalise(unit.header)} {normalise(' '.join(unit.context))}")


def is_share_of_asked(judged: Judged) -> bool:
    """Whether the only amount is a share of what is asked for: 「月額料金の10%」 is no 月額料金."""
    if _MONEY_ITSELF.search(judged.normal):
        return False
    said = f"{judged.normal} {normalise(judged.unit.header)}"
    return any(base in judged.asked for match in _SHARE_OF.finditer(said) for base in match.groups() if base)


def is_of_another_thing(judged: Judged) -> bool:
    """Whether the amounts of a list in one sentence are those of its other members."""
    return is_beside_the_amount(judged.question, judged.normal)
