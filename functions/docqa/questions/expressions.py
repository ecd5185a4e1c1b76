"""What an exact answer looks like in a sentence: times, amounts, contacts, permissions. Patterns for normalised text."""

import re
from enum import StrEnum


class AnswerKind(StrEnum):
    """What a question asks for."""

    TIME = "time"
    FREQUENCY = "frequency"
    MONEY = "money"
    QUANTITY = "quantity"
    CONTACT = "contact"
    PERSON = "person"
    PLACE = "place"
    PERMISSION = "permission"
    PROCEDURE = "procedure"
    CONSEQUENCE = "consequence"
    CONDITION = "condition"
    DEFINITION = "definition"
    REASON = "reason"
    FACT = "fact"


# Something has happened: what is to be done, or what follows.
ACTED_ON = (AnswerKind.CONSEQUENCE, AnswerKind.PROCEDURE)

NUMBER = (
    r"(?:\d+(?:\.\d+)?|\b(?:one(?=[ -]\w)(?! (?:can|could|may|must|should|would|is|has)\b)|two|three|four|five|six|seven"
    r"|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|ninety|a hundred|half an?)\b)"
)
_JAPANESE_NUMBER = r"(?:\d+(?:\.\d+)?|[一二三四五六七八九十百]+|半|数)"
_ENGLISH_UNIT = r"(?:seconds?|minutes?|mins?|hours?|hrs?|days?|nights?|weeks?|months?|years?|quarters?)\b"
_JAPANESE_UNIT = r"(?:秒|分(?!の|類|野|割|散)|時間|時(?!点)|日|営業日|週間|週|[ヶか箇カケ]月|月|年|四半期|泊|世紀)"

PATTERNS: dict[AnswerKind, re.Pattern[str]] = {
    AnswerKind.TIME: re.compile(
        rf"{NUMBER}[ -]*(?:[a-z]+[ -]){{0,2}}?{_ENGLISH_UNIT}"
        rf"|\b{_ENGLISH_UNIT[:-2]} (?:after|before|of)\b"
        r"|\d{1,2}:\d{2}|\b\d{1,2} ?(?:am|pm|a\.m\.|p\.m\.)|\d{4}-\d{1,2}-\d{1,2}|\b\d{1,2}(?:st"
        r"|nd|rd|th)\b(?! (?:floor|edition|version|basement|revision))"
        r"|\b(?:january|february|march|april|june|july|august|september|october|november|december)\b"
        r"|\bmay \d|\b(?:in|of|by|until|since|every|late|early|mid) (?:may|spring|summer|autumn|winter)\b"
        r"|\b(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth) (?:[a-z]+ )?(?:day|week|month|year)\b"
        r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
        r"|\b(?:immediately|at once|without delay|promptly|as soon as"
        r"|same day|next day|noon|midnight|permanently"
        r"|indefinitely|forever|24/7|straight away|right away)\b"
        r"|\b(?:end|beginning|start|last day|first day|close) of\b|\b(?:previous|following|next"
        r"|preceding) (?:business |working )?"
        r"(?:day|week|month|morning)\b|\blast (?:working|business) day\b"
        rf"|{_JAPANESE_NUMBER}{_JAPANESE_UNIT}|毎[日週月年朝]"
        rf"|(?<![書文]面)(?<!文書)をもって|即時|即日|直ちに|ただちに|速やかに|すぐに|当日|翌日|翌営業日|翌月|翌週|前日|月末"
        r"|年度末|月初|正午|永久|無期限|[月火水木金土日]曜|始業|終業|午前|午後|最終出勤日|退職日|年末"
        r"|(?:入社|採用|就任|着任|契約|開始|終了|満了|到着|出発|受領|申請|発行|登録|提出|納品|購入|誕生|利用|使用|支給|基準)日"
    ),
    AnswerKind.FREQUENCY: re.compile(
        r"\b(?:every|each|per|a) (?:other |second |\d+ ?|\w+ ){0,2}?(?:seconds?|min(?:ute)?s?|hours?|hrs?|days?|nights?|shifts?"
        r"|weeks?|weekends?|months?|quarters?|years?|semesters?|terms?|mornings?|evenings?|use|delivery|visit"
        r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|april|july|october)\b"
        # "Once the call is over" is no frequency.
        r"|\b(?:once(?=(?: an?| per| each| every| in| daily| weekly| monthly| yearly)\b| *(?:[.,;:)|]|$))|twice"
        r"|(?:daily|weekly|monthly|quarterly|annually|annual|yearly|hourly|biannual)"
        r"(?! (?:wages?|rates?|pay|salar|fees?|rent|charges?|allowances?|leave|costs?)\b)"
        r"|semi-?annual(?:ly)?|biweekly|nightly|fortnightly"
        r"|times an?|days? an? |continuously|real time)\b"
        rf"|毎[日週月年朝晩時]|(?:[年月週日]|一日|時間|四半期)(?:に|あたり)?{_JAPANESE_NUMBER}[回度]"
        rf"|{_JAPANESE_NUMBER}"
        r"(?:日|週間|[ヶか箇カ]月|年|時間|分)(?:ごと|毎|に)|ごと|隔[日週月年]"
        r"|四半期|半期|年次(?!有給)|月次|週次|日次|随時|常時|定期的"
    ),
    AnswerKind.MONEY: re.compile(
        rf"[¥$€£]\s?\d|\d ?[€£¤]|{NUMBER} ?(?:thousand|million)? ?(?:yen"
        rf"|jpy|usd|dollars?|eur|euros?|pounds?|cents?|pence|chf|円|万円|千円|億円|ドル|ユーロ)"
        r"|\d ?p\b(?! ?\d)|\b(?:jpy|usd|eur|gbp|chf) ?\d|free of charge"
        r"|(?<!tax[ -])(?<!interest-)\bfree\b(?! (?:software|source|and open))"
        r"|\b(?:twice|(?:two|three|four|five|six|ten|\d+) times) (?:\w+ ){1,3}?(?:salary|pay|wage|rent|fee|rate|price|amount)s?\b"
        r"|no (?:charge|fee|cost)|無料|無償|[全半同総]額|相当額"
        r"|実費|見積|応相談|要相談|時価|徴収し(?:ない|ません)|有料|\d ?%|\d ?パーセント|割"
    ),
    AnswerKind.QUANTITY: re.compile(
        rf"{NUMBER}|{_JAPANESE_NUMBER}(?=[回個名人枚台件割倍冊本杯段歳桁文種つ部箱キ度])"
        rf"|\b(?:none|unlimited)\b|無制限|を(?:限度|上限)と"
    ),
    AnswerKind.CONTACT: re.compile(
        r"[\w.+-]+@[\w-]+\.\w+|https?://\S+|www\.\S+|(?<![\w])#[\w-]{3,}|\+?\d{2,4}-\d{2,4}-\d{3,4}"
        r"|\b0\d{9,10}\b|(?<![\w.])(?:\+\d{1,3}|\(?0\d{1,4}\)?|\(\d{3}\))(?:[ -]\d{2,4}){2,4}(?![\w%])"
        r"|\bext(?:ension|\.)? ?\d{2,}|内線[ :]?\d{2,}"
        r"|(?:\b(?:call|dial|phone|telephone|tel|ext\w*|number|contact|hotline)\b|内線|電話|番号|連絡先|窓口|ダイヤル|通報)"
        r"[^.。]{0,80}?(?<!\d)\d{3,5}(?!\d| ?(?:days?|hours?|minutes?|yen|円|日|時間|分|年))"
        r"|(?<!\d)\d{3,5}(?:番|に電話| (?:by phone|by telephone))"
    ),
    AnswerKind.PERSON: re.compile(
        r"\b(?:manager|leader|lead|head|director|officer"
        r"|team|department|desk|committee|owner|administrator|president|ceo|ciso|cto|cfo"
        r"|coordinator|commander|supervisor|nurse|doctor|physician|pharmacist|engineer|chair|board"
        r"|representative|specialist|operator|people"
        r"|secretary|auditor|staff|office|division|council"
        r"|hr|counsel|trainer|instructor|inspector|keeper|guard|librarian|dean|professor"
        r"|member|members|employee|user|driver|holder|foreman|technician|chief|clerk|dpo|planner"
        r"|steward|warden|captain|\w*person|anyone"
        r"|principal|advisor|adviser|registrar|mr|ms|mrs|dr"
        r"|customer|client|provider|supplier|vendor|contractor|tenant|landlord|company|firm|party|parties|buyer|seller"
        r"|insurer|employer|visitor|guest|parent|student|applicant|carrier|colleague|us|we)s?\b"
        r"|者|部(?!分|屋|品|数)|課(?!題|金)|室|長|係|チーム|担当|委員|責任者"
        r"|役員|社長|管理職|上司|上長|マネージャ|リーダー|窓口|本人|医師|看護師|師"
        r"|員|官|オーナー|さん|氏|会社(?!員)|法人|組合|当社|[甲乙]"
    ),
    AnswerKind.PLACE: re.compile(
        r"\b(?:in|at|on|to|from|under|via|through|behind|inside|next to|near)\b|/|https?:|floor|room"
        r"|building|階|室|場|棟|館|所|庫|にあ|で(?:行|実施|受)|へ|に"
    ),
    AnswerKind.PERMISSION: re.compile(
        r"\b(?:may|must|can|cannot|can't|shall|should|not|only|allowed|permitted|prohibited|forbidden"
        r"|required|mandatory|optional|banned"
        r"|never|possible|need|needs|needed|unless|except|exempt|without|is|are|no|eligible|entitled"
        r"|free|at any time|subject to|accepted|covered)\b"
        r"|禁止|不可|でき|可能|認め|許可|必要|不要|必須|義務|こと|ない|ません|ただし"
        r"|限り|限る|除く|対象|とする|する|ます"
    ),
    AnswerKind.DEFINITION: re.compile(
        r"\b(?:is|are|means?|refers? to|stands? for"
        r"|defined as)\b|とは|をいう|を指す|である|です|こと|[:：]"
    ),
    AnswerKind.REASON: re.compile(
        r"\b(?:because|since|so that|in order to|due to"
        r"|reason|to (?:avoid|prevent|protect|keep|ensure))\b|ため|から|理由|目的"
    ),
    AnswerKind.CONSEQUENCE: re.compile(
        r"\b(?:is|are|will|must|may|shall|has to|have to|\w+s) (?:not )?(?:be )?\w+ed\b"
        r"|\b(?:fails?|loses?|expires?|lapses?|owes?|pays?|results? in|leads? to|must|will|due)\b"
        r"|^(?:if|when|in case|whoever|anyone who)\b"
        r"|とする|とき|場合|となる|なければ|する。?$|します|られ|され|できない|しない"
    ),
    AnswerKind.CONDITION: re.compile(
        r"\b(?:if|when|where|unless|except|only|provided"
        r"|in case|case|must|more than|less than|at least"
        r"|exceed\w*|over|under|following|conditions?)\b"
        r"|場合|とき|時|限り|ただし|除|条件|以上|以下|超え|未満|いずれか|であれば"
    ),
}

LIMIT = re.compile(
    r"\b(?:within|by|no later than|not later than|before|until|at least|up to|at most|no more than"
    r"|not exceed\w*|maximum|minimum|max|min|for"
    r"|less than|in advance|limited to|limit)\b"
    r"|以内|まで|前|以上|以下|上限|未満|最大|最低|限り|超え"
)
INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|forget)\b.{0,40}\b(?:instructions?"
    r"|prompts?|rules?|above|polic\w+)\b|\b(?:system prompt|as an ai|you are (?:now )?an?"
    r" (?:ai|assistant|language model))\b|\b(?:always"
    r"|must) (?:answer|reply|respond) (?:with|that)\b"
    r"|(?:指示|命令|プロンプト|ルール).{0,12}(?:無視|忘れ)"
    r"|(?:と|で)(?:回答|返答|答え)(?:しなさい|せよ|してください|すること)"
    r"|(?:ai|アシスタント|言語モデル)(?:は|への|よ)"
)
FORMER = re.compile(
    r"\b(?:previously|formerly|in the past|used to be"
    r"|prior to (?:19|20)\d\d|until (?:\w+ )?(?:\d{1,2},? )?(?:19|20)\d\d"
    r"|before (?:\w+ )?(?:19|20)\d\d"
    r"|old (?:limit|deadline|rule|policy|version)|(?:was|were) (?:changed|shortened|extended"
    r"|raised|lowered|reduced|increased|superseded|abolished)"
    r"|no longer(?! than))\b|以前は|旧規程|旧版|従来は|かつて|改[定訂正]前|改[定訂正]まで(?:は|の)|変更前"
    r"|第[\d.]+版(?:まで|で)は、?[^。]*(?:ていた|であった|だった)"
    r"|(?:19|20)\d\d年\d*月?\d*日?(?:度)?(?:まで|以前)は|廃止され"
)
EXCEPTION = re.compile(
    r"\s*(?:[-*]\s*)?(?:however|except|unless|exceptions?"
    r"|but|this (?:does not|doesn't)|the exception"
    r"|if this|notwithstanding|only|after that|thereafter|afterwards|beyond (?:that|this))\b"
    r"|\s*[(（]?(?:ただし|但し|なお|例外|この限りで|上記にかかわらず|※"
    r"|その後|それ以降|それ以外|以降は|[^。、]{1,24}(?:を除く|は除く|は対象外))",
    re.IGNORECASE,
)
DEPENDENT = re.compile(
    r"\s*(?:however|but|otherwise|in (?:that|this|such) case"
    r"|the same|these|this|it|they|those|such)\b"
    r"|\s*(?:ただし|但し|なお|その場合|この場合|それ|これ|同様|また[、,])",
    re.IGNORECASE,
)
DEFINING = re.compile(
    r"^\W*[\w -]{2,40}[:：] (?:an?|the|any|all|measures?|every) |^\W*[\w -]{2,40} (?:means|refers to|is defined as)\b"
    r"|とは、?.{2,80}(?:をいう|を指す)|^「[^」]+」とは|(?:をいう|を指す|と定義する)[。)）]?$",
    re.IGNORECASE,
)
AGENT = re.compile(
    r"\bby (?:the |a |an |its |his |her |your |our )?(?:[\w'-]+ ){0,3}?(?:manager|leader|lead|head|director|officer|team"
    r"|department|desk|committee|owner|administrator|president|board|council|office|laborator\w+|workshop|service"
    r"|supervisor|engineer|staff|dean|doctor|inspector|chief|chair|counsel|unit|group)s?\b|(?:が|は|より)、?[^。]{0,40}(?:する|行う|承認)"
    r"|承認を(?:得|受)|の許可を"
)
PLACES = re.compile(
    r"\b(?:room|building|floor|office|desk|portal|cent(?:re|er)|counter|website|intranet|system|app|reception|site|hall"
    r"|cabinet|locker|server|folder|page|form|mailbox|ward|station|ramp|area|point)\b|階|室|号館|窓口|課|先は|場所|ポータル|システム|サイト|北側|南側|東側|西側|前"
)
ALLOWANCE = re.compile(r"\b(?:extend(?:ed)?|extension|postpone\w*|shorten\w*)\b|延長|短縮|延期|猶予")
ANNOUNCING = re.compile(
    r"次の(?:額|区分|表)|次の(?:とおり|通り)|以下の(?:とおり|通り)|\bas follows\b|\bthe (?:table|following)\b|\btable below\b"
)
FORMER_SECTION = re.compile(
    r"\b(?:previous|former|old|past|history|historical"
    r"|change ?log|revision|superseded|archived?)\b|旧|改[定訂]履歴|変更履歴|以前の|過去|沿革|廃止"
)
