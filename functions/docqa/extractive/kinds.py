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
    OPEN = "open"


# In their order: the first that matches decides.
_ASKED = {
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
}  # fmt: skip
_ASKED_PATTERNS = {kind: re.compile(pattern) for kind, pattern in _ASKED.items()}
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
        r"者(?=[がはにのへ、。と])|(?<![一全大内外])部(?=[がはにのへ、。と])|課(?=[がはにのへ、。と])|係|室|担当|委員|"
        r"責任者|さん|氏|局|チーム|デスク|窓口|医師|看護師",
    Kind.PLACE: r"\b(?:room|building|floor|site|office|portal|system|desk|page|hall|entrance|street|website|"
        r"app|intranet|cabinet|shelf|at|in|on)\b|階|室|館|場|所|ポータル|システム|窓口|にて|で(?:申請|"
        r"受|行)|サイト|画面|号",
}  # fmt: skip
_SHOWN_PATTERNS = {kind: re.compile(pattern) for kind, pattern in _SHOWN.items()}
# Kinds and units of the quantities that are an answer.
_QUANTITIES = {
    Kind.TIME: {"date", "time", "s", "min", "h", "d", "month"},
    Kind.MONEY: {"jpy", "usd", "eur", "percent"},
    Kind.NUMBER: {"number"},
}


def kind_of(question: str) -> Kind:
    """Return the kind of answer that a question asks for."""
    text = normalise(question).strip()
    return next((kind for kind, pattern in _ASKED_PATTERNS.items() if pattern.search(text)), Kind.OPEN)


def has(text: str, kind: Kind) -> bool:
    """Return True if a text can be an answer of this kind."""
    if kind is Kind.OPEN or any({each.kind, each.unit} & _QUANTITIES.get(kind, set()) for each in quantities(text)):
        return True
    return kind in _SHOWN_PATTERNS and _SHOWN_PATTERNS[kind].search(normalise(text)) is not None
