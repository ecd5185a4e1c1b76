"""Whether a unit can be the kind of answer that is asked for, and how well it fits."""

import re
from functools import lru_cache

from functions.docqa.answers.defining import defines
from functions.docqa.answers.expressed import without_what_only_looks_so
from functions.docqa.answers.matching import cached_view
from functions.docqa.answers.occasions import MONTH, has, is_no_clock, is_special, of_another_month
from functions.docqa.answers.particulars import misses
from functions.docqa.answers.row_keys import is_of_another_row
from functions.docqa.model import Unit, UnitKind
from functions.docqa.questions.concept import Role
from functions.docqa.questions.expressions import (
    AGENT,
    ALLOWANCE,
    DEFINING,
    DEPENDENT,
    LIMIT,
    PATTERNS,
    PLACES,
    AnswerKind,
)
from functions.docqa.questions.question import Question
from functions.docqa.questions.units_counted import (
    MEASURES,
    counts,
    counts_only_what_it_narrows,
    is_common,
    lasts_otherwise,
    may_be_counted_so,
)
from functions.docqa.vocabulary.words import normalise, phrase, plain, stem

_WHO_IS = re.compile(
    r"\bwho(?:'s| is| are| was)\b(?!.*\b(?:\w+ed|\w+ing|responsible|in charge|allowed|able)\b)"
    r"|(?:は|って)(?:誰|だれ|どなた)(?:です|でしょう|か|\?|$)"
)
_MAIL_ASKED = re.compile(r"e-?mail address|メールアドレス|メアド")
_PHONE_ASKED = re.compile(r"\b(?:phone|telephone|fax|extension|mobile|hotline)\b|電話番号|内線|何番")
_PHONE = re.compile(r"\d{3}")
_MONEY_ITSELF = re.compile(
    r"[¥$€£] ?\d|\d ?(?:yen|jpy|usd|dollars?|eur|euros?|pounds?|cents?|円|万円|千円|億円|ドル|ユーロ)"
    r"|\b(?:jpy|usd|eur|gbp|chf) ?\d"
)
_SHARE_OF = re.compile(r"(\w{1,4}(?:料金|費|額|価格|代金|報酬|賃料))の(?:\d|全額|半額)")
_PRICED = re.compile(
    r"\b(?:pric|fees?\b|charg|costs?\b|amount|rent\b|deposit|discount|cover|reimburs|refund|credit|paid|pay|salar|wage|free"
    r"|commission|interest|bonus|budget|tax)|[料費額価金賃税]|払|無料|無償|給|実費|割引|手当"
)
_INTRODUCES = (":", "：")
_SENTENCE = re.compile(r"[.。!！:：;|,、@]|\d|\b(?:is|are|must|may|can|will|not|be|has|have)\b|[るすたいん]$")
_HEADING_WORDS, _HEADING_CHARACTERS = 6, 15
_TOLD_OF_A_MONTH = (AnswerKind.QUANTITY, AnswerKind.MONEY)
_OTHER_NUMBERS = re.compile(
    rf"\d{{1,2}} {MONTH}|{MONTH} \d{{1,2}}|\d{{1,2}}:\d{{2}}"
    r"|(?:eur|usd|gbp|jpy|[£$€¥]) ?\d[\d.]*|\d[\d.]* ?(?:yen|euros?|dollars?|円)"
    r"|\d[\d.]* ?(?:seconds?|minutes?|hours?|%)|(?:edition|version|year|in|of|{MONTH}) (?:19|20)\d\d\b|^\d+(?:\.\d+)* "
)
_LASTING_ASKED = re.compile(
    r"\bhow long (?:does|do|did|will|would|is|are|can|may|must|should)\b.*\b(?:take|last)\b"
)
_LASTING = re.compile(
    r"\b(?:tak(?:es?|ing)|last(?:s|ing|ed)?|took)(?! (?:day|week|month|year|working|business|the)\b)"
)
_AHEAD = re.compile(r"\b(?:in advance|ahead|beforehand|before)\b")
_DIGIT = re.compile(r"\d")
_DURATION_ASKED = re.compile(
    r"\bhow many\b|何(?:年|日|週|[ヶかカ]月|時|分|秒)間|何時間|何[ヶかカ]月|何日(?!目|付|ま?では?(?:です|でしょう|$))"
)
_DATES = re.compile(
    rf"\d+(?:日|年|か月|回)目|(?:19|20)\d\d年(?:\d{{1,2}}月)?(?:\d{{1,2}}日)?|\d{{1,2}}月(?!間)(?:\d{{1,2}}日)?|\d{{1,2}}:\d{{2}}"
    rf"|\d{{1,2}} {MONTH}(?: \d{{4}})?|{MONTH} \d{{1,2}}\b"
)
_BY_WHOM = re.compile(r"\b(?:who\w*|by|owner|responsib\w+|contact)\b|担当|部署|責任|実施|承認|主管")
_EVENT = re.compile(
    r"\b(?:when|whenever|if|after|before|once|as soon|until|till|while|during|on|at|upon|always|never|time)\b"
    r"|とき|時|場合|次第|後|前|まで|から|限り|あと|際|常|日"
)
_INTERVAL = re.compile(r"interval|every|frequen|cycle|period|how often|間隔|頻度|周期|ごと|毎|回")
_NARROWED = re.compile(r" (?:per|of|in|for|to|an?|at|each|allowed)\b|[(/]")
_BARE_NUMBER = re.compile(r"^\W*(?:約|最大|up to |max )?\d+(?:\.\d+)?(?: ?[-–~〜] ?\d+)?\W*$")
_EXAMPLE = re.compile(r"^\W*(?:for example|for instance|e\.g\.|examples?:|perhaps|maybe|imagine)\b")
_CASE = re.compile(r"^\W*(?:if|when|where|should|in case|unless)\b[^,]*,")


def is_bare(unit: Unit) -> bool:
    """Whether a unit is rather a heading that its document does not mark as one, which answers nothing."""
    text = unit.text.strip()
    if unit.kind is not UnitKind.SENTENCE or _SENTENCE.search(text):
        return False
    return len(text.split()) <= _HEADING_WORDS if text.isascii() else len(text) <= _HEADING_CHARACTERS


@lru_cache(maxsize=16384)
def normal_of(text: str) -> str:
    """The text without its marks, normalised."""
    return normalise(plain(text))


def kind_fit(question: Question, unit: Unit, normal: str) -> float | None:
    """What the kind of answer adds to a unit's score; None when the unit cannot be such an answer."""
    asked = question.asked
    if misses(question.text, unit.text, f"{normal} {normalise(unit.header)}" if unit.header else normal):
        return None
    if is_of_another_row(question.text, unit):
        return None
    if unit.kind is UnitKind.LIST:
        # A list's introduction is quoted with it, so it serves as one answer to "what are the steps".
        return {AnswerKind.PROCEDURE: 0.2, AnswerKind.FACT: 0.12, AnswerKind.CONDITION: 0.12}.get(asked.kind)
    pattern = PATTERNS.get(asked.kind)
    if pattern is None:
        return 0.0
    if asked.kind not in (AnswerKind.DEFINITION, AnswerKind.FACT) and has(DEFINING, normal):
        return None if asked.strict else -0.1
    if asked.kind is AnswerKind.CONTACT and unit.header:
        normal = f"{normalise(plain(unit.header))} | {normal}"
    if asked.kind is AnswerKind.CONTACT and not _reaches(normal_of(question.text), normal):
        return None
    if not has(pattern, without_what_only_looks_so(question, normal)) and not (
        asked.kind is AnswerKind.FREQUENCY
        and unit.kind is UnitKind.ROW
        and has(PATTERNS[AnswerKind.TIME], normal)
        and has(_INTERVAL, normalise(unit.header))
    ):
        if asked.strict or has(_WHO_IS, normal_of(question.text)):
            return None
        by = asked.kind is AnswerKind.PERSON and has(_BY_WHOM, normalise(unit.header))
        if unit.kind is UnitKind.ROW and asked.kind in (AnswerKind.PERSON, AnswerKind.TIME) and not by:
            return None
        if asked.kind is AnswerKind.TIME and not has(_EVENT, normal):
            return None
        return -0.2 if asked.kind is AnswerKind.PERSON else -0.05
    if asked.kind is AnswerKind.PERSON and not _names(question, normal):
        return None
    if asked.kind in _TOLD_OF_A_MONTH and of_another_month(normal_of(question.text), normal):
        return None
    fit = 0.05
    if asked.kind is AnswerKind.DEFINITION:
        fit += 0.15 if defines(question, normal) else 0.0
    if asked.kind is AnswerKind.MONEY and _is_share_of_asked(normal_of(question.text), normal):
        return None
    if asked.kind is AnswerKind.MONEY and not _is_amount(unit, pattern.search(_CASE.sub("", normal)), normal):
        return None
    if asked.kind is AnswerKind.PERSON and has(AGENT, normal):
        fit += 0.05
    if asked.kind is AnswerKind.PLACE:
        fit += 0.05 if has(PLACES, normal) else -0.2
    if asked.kind in (AnswerKind.TIME, AnswerKind.QUANTITY) and has(ALLOWANCE, normal) != has(
        ALLOWANCE, normal_of(question.text)
    ):
        fit -= 0.1
    if asked.kind in (AnswerKind.TIME, AnswerKind.QUANTITY, AnswerKind.MONEY) and has(LIMIT, normal):
        fit += 0.04
    if asked.kind is AnswerKind.QUANTITY and question.unit and not _may_count(question, unit, normal):
        return None
    if (
        asked.kind is AnswerKind.TIME
        and has(_DURATION_ASKED, normal_of(question.text))
        and not has(
            _DIGIT if unit.kind is UnitKind.ROW else PATTERNS[AnswerKind.TIME], _DATES.sub(" ", normal)
        )
    ):
        return None
    if asked.kind is AnswerKind.TIME and is_no_clock(normal_of(question.text), normal):
        return None
    if (
        asked.kind is AnswerKind.TIME
        and question.unit
        and lasts_otherwise(question.unit, _DATES.sub(" ", normal))
    ):
        return None
    rate = asked.kind is AnswerKind.FREQUENCY or question.per
    if question.unit in MEASURES and not rate and not counts(question.unit, normal):
        return None
    if question.unit:
        fit += 0.06 if counts(question.unit, normal) else -0.12
    if question.per:
        fit += 0.06 if re.search(rf"{question.per}(?:に|間)?\d", normal) else 0.0
    if has(_LASTING_ASKED, normal_of(question.text)):
        fit += 0.12 if has(_LASTING, normal) else 0.0
        fit -= 0.15 if has(_AHEAD, normal) else 0.0
    if DEPENDENT.match(unit.text):
        fit -= 0.04
    if has(_EXAMPLE, normal):
        fit -= 0.06
    if (asked.strict or asked.kind is AnswerKind.TIME) and is_special(normal_of(question.text), normal):
        fit -= 0.08
    if unit.text.rstrip().endswith(_INTRODUCES):
        fit -= 0.1
    return fit


def _is_amount(unit: Unit, found: re.Match[str] | None, normal: str) -> bool:
    """Whether it is money that was found; a share is, only where a price, a fee or a payment is spoken of."""
    if found is None or _MONEY_ITSELF.search(normal):
        return found is not None
    return (
        _PRICED.search(f"{normal} {normalise(unit.header)} {normalise(' '.join(unit.context))}") is not None
    )


def _is_share_of_asked(asked: str, normal: str) -> bool:
    """Whether the only amount is a share of what is asked for: 「月額料金の10%」 is no 月額料金."""
    if _MONEY_ITSELF.search(normal):
        return False
    return any(base in asked for base in _SHARE_OF.findall(normal))


def _reaches(asked: str, normal: str) -> bool:
    """Whether it is the channel that was asked for: no telephone number is an e-mail address."""
    if _MAIL_ASKED.search(asked):
        return "@" in normal
    return not _PHONE_ASKED.search(asked) or _PHONE.search(normal) is not None


def _may_count(question: Question, unit: Unit, normal: str) -> bool:
    """Whether a number of the sentence may be of what the question counts: no date, time of day or price is."""
    if counts(question.unit, normal):
        return True
    if question.unit.isascii() != normal.isascii() and not may_be_counted_so(question.unit, normal):
        return False
    if unit.kind is UnitKind.ROW:
        in_cell = is_common(question.unit) and any(_BARE_NUMBER.search(cell) for cell in normal.split("|"))
        return in_cell or _is_counted_by_column(question.text, unit.header)
    if not question.unit.isascii() and not normal.isascii():
        return False  # 20日 are no 冊
    if question.unit.isascii() and re.search(
        rf"\b(?:an?|each|every|any|per) {re.escape(stem(question.unit))}", normal
    ):
        return False  # "a merchant may send 200 requests" counts no merchants
    if (
        question.unit.isascii()
        and not is_common(question.unit)
        and not _is_counted_otherwise(question, normal)
    ):
        return False
    return PATTERNS[AnswerKind.QUANTITY].search(_OTHER_NUMBERS.sub("", normal)) is not None


def _is_counted_otherwise(question: Question, normal: str) -> bool:
    """Whether a number of the sentence is of the thing in other words, or of the head that "API" of "API requests" narrows."""
    at: int | None = next(
        (at for at, concept in enumerate(question.concepts) if f" {stem(question.unit)} " in concept.own),
        None,
    )
    while at is not None:
        concept = question.concepts[at]
        if any(
            counts(form.strip(), normal) and not counts_only_what_it_narrows(form.strip(), normal)
            for form in (*concept.own, *concept.words)
        ):
            return True
        at = concept.modifies
    return False


def _is_counted_by_column(asked: str, header: str) -> bool:
    """Whether a column has numbers of something the question names: one of "boat hours" counts no boats."""
    parts = (_NARROWED.split(normalise(cell).strip())[0].split() for cell in header.split("|"))
    return any(phrase(words[-1]) in cached_view(asked).words for words in parts if words)


def _names(question: Question, normal: str) -> bool:
    """Whether the sentence says who somebody is; a bare "who is the X?" is not answered by any mention of X."""
    essential = [concept for concept in question.concepts if concept.role in (Role.NOUN, Role.ACTION)]
    if len(essential) != 1 or question.entities or essential[0].role is Role.ACTION:
        return True
    if not has(_WHO_IS, normal_of(question.text)):
        return True
    return any(
        re.search(
            rf"{re.escape(form.strip())}[^.。]{{0,12}}?(?:, (?:ms|mr|mrs|dr)\b|\bis\b|\bare\b|(?::(?!\d)|[|は]))",
            normal,
        )
        for form in (*essential[0].own, *essential[0].words, *essential[0].texts)
    )
