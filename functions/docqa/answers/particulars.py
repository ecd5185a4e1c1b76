"""What a question asks for beyond its kind: a name, a date, a day of the week; without it a sentence is no answer."""

import re
from functools import lru_cache

from functions.docqa.questions.expressions import PATTERNS, AnswerKind
from functions.docqa.vocabulary.words import normalise, view

_NAME_ASKED = re.compile(
    r"\bwhat (?:is|was|are|were) (?:the )?(?:[\w-]+ )?names? of\b|\bname of the (?:company|person|supplier|vendor|firm)\b"
    r"|\bwhich (?:company|firm|vendor|supplier|manufacturer|maker|brand|bank|carrier|insurer|university)\b"
    r"(?! (?:car|card|phone|policy))"
    r"|\bwho is\b.*\b(?:this (?:week|month|year)|today|tonight|right now|at the moment)\b"
    r"|(?:今[週日月年]|本日|現在)の?[^?。]{0,12}(?:は|って)(?:誰|だれ|どなた)"
    r"|\bwhat (?:is|was) [^?]{3,60} (?:called|named)\b"
    r"|(?:名称|名前|氏名|社名|店名|商品名|品名)(?:は|を教え|が知り|って)|(?:会社|業者|銀行|メーカー|病院|代理店|事業者)は(?:どこ|どちら|何という)|何という(?:名前|名称|会社|店|人)"
)
# How many there are is told by no limit: 「1世帯3名まで」 tells no number of members.
_THERE_ARE = re.compile(
    r"\bhow many [^?]{2,40}?(?:are there|are (?:employed|enrolled|registered)|(?:currently )?(?:work|live) (?:in|at|for)\b)"
    r"|何[人名社台](?:の[^?。]{1,12}?)?(?:が|ぐらい|くらい|ほど)?[^?。]{0,12}?(?:いま|働い|在籍|所属|勤め|勤務し)"
)
_LIMITED = re.compile(
    r"まで|以内|以上|以下|未満|上限|定員|募集|1人(?:につき|あたり|当たり)|\b(?:up to|at most|at least|maximum|limit|per|each)\b"
)
# The least and the most there may be are two amounts.
_EXTREMES = (
    (
        re.compile(r"(?:最低|最小|最短|少なくとも)[^。?]{0,12}(?:何|いくら|どのくらい|どれくらい)|\bminimum\b"),
        re.compile(r"最低|最小|最短|下限|少なくとも|\bminimum\b"),
        re.compile(r"最大|最長|最高|上限|\bmaximum\b"),
    ),
    (
        re.compile(r"(?:最大|最長|最高)[^。?]{0,12}(?:何|いくら|どのくらい|どれくらい)|\bmaximum\b"),
        re.compile(r"最大|最長|最高|上限|\bmaximum\b"),
        re.compile(r"最低|最小|最短|下限|少なくとも|\bminimum\b"),
    ),
)
_CAPITALISED = re.compile(r"(?<=[a-z,;('“\"] )[(“\"']?((?:[A-Z][\w&.-]+|\w+[A-Z]\w*)(?:(?: of)? [A-Z][\w&.-]+)*)")
_TITLED = re.compile(r"\b(?:Mr|Ms|Mrs|Dr|Prof)\b\.? ?[A-Z]|[:|] *[A-Z][a-z]+ [A-Z][a-z]+\b")
_NAMED_JAPANESE = re.compile(
    r"[「『“\"][^」』”\"]{1,40}[」』”\"]|株式会社|有限会社|合同会社|㈱|法人|という|[一-龯ァ-ヶー]{2,8}(?:氏|さん|様)"
    r"|は、?[^、。\d０-９]{2,24}(?:とする|である|です)。?$"
)
_OF_A_PERSON = re.compile(
    r"\bnames? of (?:the |our |my )?(?:\w+ ){0,3}?(?:head|manager|director|president|chair\w*|leader|lead|officer|teacher"
    r"|principal|doctor|mayor|owner|secretary|ceo|cto|cfo|ciso)\b|(?:先生|長|者|さん|員|担当|師)の(?:お)?(?:名前|氏名)"
)
_PERSON_NAMED = re.compile(
    r"[一-龯ァ-ヶー]{2,8}(?:氏|さん|様|先生)|[一-龯]{2,5} ?(?:校長|園長|館長|部長|課長|所長|室長|局長|理事長)(?![一-龯])"
    r"|[長者員師]\W{0,2}[一-龯]{1,4}[ 　][一-龯]{1,4}|(?:[長者員師](?:は、?))[一-龯]{2,5}(?:とする|です|である)"
    r"|\b(?!(?:The|A|An|For|In|On|At)\b)[A-Z][a-z]+ (?:[A-Z]\. )?(?!Section|Department|Office|Board|Committee|School|City|Centre"
    r"|Center|Manager|Team|Group|Room|Head|Lead|Education|Service)[A-Z][a-z]+ (?:is|was|has|will|leads|heads)\b"
)
_LATIN = re.compile(r"[A-Za-z][A-Za-z&-]+")
_CALENDAR = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october"
    r"|november|december|i$"
)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_EXPRESSIONS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (re.compile(r"番号(?:を|は|が|って|$)|\bwhat is the (?:[\w-]+ ){1,3}number\b"), re.compile(r"\d")),
    (
        re.compile(r"何月何日|\b(?:on )?(?:what|which) (?:exact )?date\b"),
        re.compile(
            rf"\d{{1,2}}月\d{{1,2}}日|[末初]日|月末|曜|\d{{4}}[-/]\d"
            rf"|\d{{1,2}}/\d{{1,2}}|\b\d{{1,2}}(?:st|nd|rd|th)?\b(?: of)? {_MONTH}"
            rf"|\b{_MONTH} \d{{1,2}}|(?<![泊\d])\d{{1,2}}日(?![間目以])|\d(?:st|nd|rd|th)\b|\bday\b"
        ),
    ),
    (
        re.compile(r"(?:誰|だれ|どなた|どこ)に(?:聞|きけ|尋ね|たずね|問い?合|相談|質問)"),
        re.compile(r"聞|尋ね|問|相談|質問|連絡|窓口|担当|寄せ|内線|電話|@|[a-z]{4}"),
    ),
    (re.compile(r"何[かヶカ]月分"), re.compile(r"[かヶカ]月分")),
    (
        re.compile(r"何曜日?|\b(?:what|which) days? of the week\b|\bwhich weekdays?\b"),
        re.compile(r"曜|[月火水木金土日][・、,]|平日|土日|毎日|day"),
    ),
)


def misses(asked: str, text: str, normal: str) -> bool:
    """Whether the question wants a name, a date or a day of the week, and the sentence has none.

    `asked` is the question as it is written, `text` the sentence, `normal` the same normalised.
    """
    named, expressions, extremes = _wanted(asked)
    if any(other.search(normal) and not said.search(normal) for said, other in extremes):
        return True
    if _THERE_ARE.search(normalise(asked)) and _LIMITED.search(normal):
        return True
    return any(not said.search(normal) for said in expressions) or (named and not _names_something(asked, text))


@lru_cache(maxsize=256)
def _wanted(
    asked: str,
) -> tuple[bool, tuple[re.Pattern[str], ...], tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]]:
    normal = normalise(asked)
    expressions = tuple(said for question, said in _EXPRESSIONS if question.search(normal))
    extremes = tuple((said, other) for question, said, other in _EXTREMES if question.search(normal))
    return _NAME_ASKED.search(normal) is not None, expressions, extremes


def _names_something(asked: str, text: str) -> bool:
    """Whether the sentence has a name that the question does not give itself; a person's, where a person's is asked for."""
    if _OF_A_PERSON.search(normalise(asked)):
        return _TITLED.search(text) is not None or _PERSON_NAMED.search(text) is not None
    if _TITLED.search(text) or (not text.isascii() and _NAMED_JAPANESE.search(text)):
        return True
    given = view(asked).words
    names = (_CAPITALISED if text.isascii() else _LATIN).findall(text)
    return any(
        not all(f" {word} " in given for word in view(name).words.split())
        and not _CALENDAR.match(name.casefold())
        and not PATTERNS[AnswerKind.PERSON].search(name.casefold())
        for name in names
    )
