"""The kind of thing that a question asks for, and the texts that have one."""

import re
from enum import StrEnum

from a2a_hub.text.normalization import normalise
from a2a_hub.text.quantities import quantities


class Kind(StrEnum):
    """The kind of thing that would be an answer at all."""

    TIME = "time"
    MONEY = "money"
    NUMBER = "number"
    PERSON = "person"
    PLACE = "place"
    CONTACT = "contact"
    REASON = "reason"
    YES_NO = "yes_no"
    OPEN = "open"


# In their order: the first that matches decides.
_ASKED = {
    Kind.REASON: r"\bwhy\b|\bwhat (?:is|was) the reason|なぜ|どうして|理由",
    Kind.CONTACT: r"\b(?:phone|telephone|extension|fax|hotline) ?(?:number)?\b|\be-?mail address|\burl\b|"
        r"\bwhat number\b|電話番号|内線|メールアドレス|連絡先は|何番",
    Kind.MONEY: r"\bhow (?:much (?!time|notice|longer|later)|expensive)|\bhow many (?:yen|euros?|dollars?|"
        r"pounds?)|\b(?:cost|costs|price|fee|fare|allowance|rent|salary)\b"
    r"|いくら|何円|金額|(?:上限|限度|下限|最高|最低|最大|月|日|年)額|(?:料金|費用|価格|値段|"
        r"手数料|手当|日当|運賃|家賃|会費|代)は",
    Kind.TIME: r"\bwhen\b|\bhow (?:long|soon|quickly|late|early|fast|often|frequently)\b|"
        r"\bhow many (?:\w+ )?(?:seconds|minutes|hours|days|nights|weeks|months|years|times)\b"
    r"|\b(?:what|which) (?:time|day|date|month|hours|year)\b|\bdeadline|\btime limit|"
        r"\bdue (?:date)?\b|\bhow (?:much|far) (?:notice|time|in advance|ahead)"
    r"|いつ|期限|締め?切|〆切|期日|何(?:秒|分|時間?|日|営業日|曜日?|週間|[ヶかカ]月|年|回)|"
        r"どの(?:くらい|ぐらい)の?(?:期間|間|時間|日数|頻度)|(?:期間|時間|日数|時刻|日程|頻度)は|納期|"
        r"何時",
    Kind.NUMBER: r"\bhow (?:many|much|large|big|heavy|high|tall|hot|cold|old|far|wide|deep|fast|strong|loud|"
        r"small|low)\b|\bwhat (?:percentage|percent|number|proportion|share)"
    r"|\b(?:maximum|minimum|limit|temperature|capacity|weight|height|quota|rate)\b.*\?|何(?:人|名|"
        r"個|件|台|割|倍|冊|本|枚|歳|度|%|パーセント|文字|桁|点|室|階|メートル|キロ|グラム)"
    r"|(?:割合|率|人数|件数|温度|湿度|定員|容量|重量|数|上限|下限)は",
    Kind.PERSON: r"\bwho(?:m|se)?\b|\b(?:which|what) (?:\w+ )?(?:team|department|person|role|group|committee|"
        r"office|manager|division)\b|誰|だれ|どなた|どの(?:部署|部門|チーム|担当|役職|課|部)"
    r"|どこの(?:部署|部門|課)|何部|担当(?:者|部署|部門)?は|責任者は|承認者は",
    Kind.PLACE: r"\bwhere\b|\b(?:which|what) (?:room|building|floor|location|site|place|system|portal)\b|どこ|"
        r"何階|場所は",
    Kind.YES_NO: r"^(?:and |so |but )?(?:can|may|could|is|are|do|does|must|should|am|will|have|has|was|were|"
        r"did)\b|(?:ます|です|る|ない|ぶ|い|た|よい|可能|必要|大丈夫)(?:ん|の)?(?:でしょう|"
        r"です)?か[?。]?$|(?:でき|られ|え)る\?$|[大丈夫可能必要]\?$",
}  # fmt: skip
_ASKED_PATTERNS = {kind: re.compile(pattern) for kind, pattern in _ASKED.items()}
_JAPANESE_QUESTION_WORD = re.compile(r"何|いつ|どこ|誰|だれ|どなた|いくら|どの|どう|どれ|なぜ|どんな")
_SHOWN = {
    Kind.TIME: r"\b(?:immediately|at once|same day|(?:mon|tues|wednes|thurs|fri|satur|sun)day|daily|weekly|"
        r"monthly|annually|quarterly|yearly|every|noon|midnight|day|month|year|week|january|february|march|april|may|june|july|august|september|october|november|december|(?:business|"
        r"working) days?)\b"
    r"|直ちに|即日|即時|速やか|毎[日月年週]|当日|翌|前日|末日|[月火水木金土日]曜|営業日|日以内|随時|年度|\d月",
    Kind.MONEY: r"\b(?:free|no charge|at no cost)\b|無料|実費|全額|半額|\d ?(?:円|ドル|ユーロ|%|usd|eur|jpy|"
        r"yen|割)|[¥$€£]",
    Kind.PERSON: r"\b(?:manager|head|director|officer|team|department|office|lead|supervisor|committee|board|"
        r"desk|staff|engineer|president|nurse|doctor|owner|coordinator|administrator|group|division|"
        r"chair|secretary|"
    r"commander|mr|ms|mrs|dr)\b|部長|課長|所長|社長|長(?=[がはにのへ、。と])|"
        r"者(?=[がはにのへ、。と])|部(?=[がはにのへ、。と])|課(?=[がはにのへ、。と])|係|室|担当|委員|"
        r"責任者|さん|氏|局|チーム|デスク|窓口|医師|看護師",
    Kind.PLACE: r"\b(?:room|building|floor|site|office|portal|system|desk|page|hall|entrance|street|website|"
        r"app|intranet|cabinet|shelf|at|in|on)\b|階|室|館|場|所|ポータル|システム|窓口|にて|で(?:申請|"
        r"受|行)|サイト|画面|号",
    Kind.CONTACT: r"\d{3,}|[\w.]+@[\w.]+|https?://|#\w|内線",
    Kind.REASON: r"\b(?:because|since|due to|so that|in order to|reason|as)\b|ため|から|ので|理由|による",
}  # fmt: skip
_SHOWN_PATTERNS = {kind: re.compile(pattern) for kind, pattern in _SHOWN.items()}
_TIMES = frozenset({"s", "min", "h", "d", "month", "time"})
_MONEY = frozenset({"jpy", "usd", "eur", "percent"})


def kind_of(question: str) -> Kind:
    """Return the kind of answer that a question asks for."""
    text = normalise(question).strip()
    for kind, pattern in _ASKED_PATTERNS.items():
        if pattern.search(text) and not (kind is Kind.YES_NO and _JAPANESE_QUESTION_WORD.search(text)):
            return kind
    return Kind.OPEN


def values(text: str, kind: Kind) -> frozenset[str]:
    """Return the quantities of this kind in a text, in their normal form."""
    found = quantities(text)
    match kind:
        case Kind.TIME:
            return frozenset(each.term for each in found if each.kind in ("date", "time") or each.unit in _TIMES)
        case Kind.MONEY:
            return frozenset(each.term for each in found if each.unit in _MONEY)
        case Kind.NUMBER:
            return frozenset(each.term for each in found if each.kind == "number")
        case _:
            return frozenset()


def has(text: str, kind: Kind) -> bool:
    """Return True if a text can be an answer of this kind."""
    if kind in (Kind.OPEN, Kind.YES_NO) or values(text, kind):
        return True
    pattern = _SHOWN_PATTERNS.get(kind)
    return bool(pattern and pattern.search(normalise(text)))
