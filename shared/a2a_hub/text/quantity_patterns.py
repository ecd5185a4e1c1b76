"""The written forms of amounts, dates, times, clauses and codes in English and Japanese, as one pattern."""

import re

from a2a_hub.text.units import SIGNS, UNITS

NUMBER_WORDS = {
    word: value
    for value, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
         "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
    )
}  # fmt: skip
NUMBER_WORDS |= {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80}
NUMBER_WORDS |= {"ninety": 90}
WORD_SCALES = {"dozen": 12, "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}
ADJECTIVE = (
    r"(?:consecutive|full|additional|extra|further|more|whole|entire|calendar|operating|successive|continuous"
    r"|straight|paid|free"
    r"|unused)\s"
)
# Of "7 s", "8h" and "20p", not of "the 1990s" and "form(s)".
_AFTER_FIGURE = {"s": r"(?<=\d\s)", "h": r"(?:(?<=\d)|(?<=\d\s))", "p": r"(?<=\d)"}
UNIT_NAMES = "|".join(
    _AFTER_FIGURE.get(name, "") + re.escape(name) + ("(?![a-z])" if name[-1].isascii() and name[-1].isalpha() else "")
    for name in sorted(UNITS, key=len, reverse=True)
)
DOLLARS = "|".join(re.escape(sign) for sign in SIGNS if len(sign) > 1)
# What the names in capitals stand for; each may name those above it.
_PARTS = {
    "FIVES": r"five|ten|twenty(?:[\s-]five)?",
    "NUM": r"(?:\d{1,3}(?:,\d{3}){1,5}|\d{1,15})(?:\.\d{1,9})?(?:[百千万億兆](?:\d{1,4}(?:,\d{3})?[百千万]?)?){0,4}",
    "KANJI": r"[〇一二三四五六七八九十百千万億兆]{1,16}",
    "FEW": r"[一二三四五六七八九十]{1,3}",
    "UNIT": rf"(?:\s?{ADJECTIVE})?(?:{UNIT_NAMES})",
    "SCALE": "|".join(WORD_SCALES),
    "WORD": "|".join(sorted(NUMBER_WORDS, key=len, reverse=True)),
    # A kanji numeral is one before these only: 十分 is no number, 三十分以内 has one.
    "COUNTER": r"(?:円|時間|日間|週間|(?:か|ヶ|カ|ヵ|ケ|箇)月|年間|パーセント|人|名|回|件|個|枚|台|冊|社|歳|階"
     r"|つ|割|倍|泊|営業日|ページ"
    r"|文字|桁|段階|週|日|年(?!度)|月(?=[にのはま、。]|以)|時(?![間限])|分(?:間|以内|以上|前|後|未満)|ドル|ユーロ|トン)",
    "MON": r"(?:1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])",
    "DAY": r"(?:3[01]|[12]\d|0?[1-9]|[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])",
    "DAYTH": r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?",
    "NAME": r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?",
    "NODAY": r"(?![\d,]*\d|\.\d|\s(?:people|persons|employees|items|days|hours|minutes|weeks|members))",
    "ERA": r"(?P<era>令和|平成|昭和|大正)\s?(?P<eray>\d{1,2}|元|<FEW>)\s?年",
    "YEAR": r"(?:<ERA>|(?P<y>\d{4}|[一二][〇一二三四五六七八九]{3})\s?年)",
    "HOUR": r"(?:[01]?\d|2\d)",
    "MIN": r"[0-5]\d",
    "ANDHALF": r"(?:(?<=[間月年日])(?P<andhalf>半)(?!年|日|月|期|額|数))?",
    "DOLLAR": rf"(?<![a-z])(?:{DOLLARS})",
    "ISO": "jpy|usd|eur|gbp|chf|nok|inr|cny|krw|cad|aud|sgd|hkd|sek|thb",
    "NTH": r"business day|working day|day|week|month|floor|year",
}  # fmt: skip
# Typesetting programs put a space between a figure and a Japanese character.
# Of what could be read in several ways the first wins. Groups of one name are read alike.
_TABLE = (
    ("code", (r"(?<![\w.+-])[\w.+-]{1,64}@[a-z0-9-]{1,64}(?:\.[a-z0-9-]{1,64}){1,4}|\b(?:https?://"
     r"|www\.)[\w./%?=&#~-]{1,200}")),
    ("fiscal", r"\b(?:fy|fiscal\s(?:year\s)?)[\s']?(?P<y>\d{4}|\d{2})\b|(?<!\d)(?P<y>\d{4})\s?年度"),
    ("fiscal", r"(?P<era>令和|平成|昭和)\s?(?P<eray>\d{1,2}|元|<FEW>)\s?年度"),
    ("quarter", r"\b(?:q(?P<n>[1-4])|(?P<n>first|second|third|fourth)\squarter)\b|第(?P<n>[1-4一二三四])四半期"),
    ("date", r"<YEAR>(?:\s?(?P<m><MON>)\s?月(?:\s?(?P<d><DAY>)\s?日)?)?(?!度|間)"),
    ("date", r"(?<![\d.])(?P<y>(?:19|20)\d\d)[-/.](?P<m>1[0-2]|0?[1-9])[-/.](?P<d>3[01]|[12]\d|0?[1-9])(?![\d.-])"),
    ("date", r"(?<![\d.])(?P<d>3[01]|[12]\d|0?[1-9])\.(?P<m>1[0-2]|0?[1-9])\.(?P<y>(?:19|20)\d\d)(?![\d.]\d)"),
    ("date", r"\b(?P<era>[rhs]|reiwa\s|heisei\s|showa\s)(?P<eray>\d{1,2})[./](?P<m><MON>)[./](?P<d><DAY>)(?!\d)"),
    ("date", r"\b(?P<era>reiwa|heisei|showa)\s(?P<eray>\d{1,2})\b"),
    ("slashed", r"(?<![\d/])(?P<a>0?[1-9]|[12]\d|3[01])/(?P<b>0?[1-9]|[12]\d|3[01])/(?P<y>20\d\d|19\d\d)(?![\d/])"),
    ("date", r"(?<![\d/.-])(?P<y>(?:19|20)\d\d)-(?P<m>1[0-2]|0[1-9])(?![\d-])"),
    ("date", r"\b(?P<d><DAYTH>)(?:\sof)?\s(?P<name><NAME>)(?:,?\s(?P<y>\d{4})\b)?"),
    ("date", r"\b(?P<name><NAME>)\s(?:the\s)?(?P<d><DAYTH>)<NODAY>(?:,?\s(?P<y>\d{4})\b)?"),
    ("date", r"\b(?P<name><NAME>)(?:,?\s(?P<y>(?:19|20)\d\d)\b)?(?<!may)"),
    ("date", r"\b(?P<name>may)\s(?P<y>(?:19|20)\d\d)\b|(?:(?<=\bin )|(?<=\bof )|(?<=\bby ))(?P<name>may)\b"),
    ("date", r"(?<!\d)(?P<m><MON>)\s?月\s?(?P<d><DAY>)\s?日(?!間)|(?<![\d第])(?P<m><MON>)\s?月(?!間|曜|次)"),
    ("date", (r"(?<![\d/])(?P<m>1[0-2]|[1-9])/(?P<d>3[01]|[12]\d|[1-9])"
     r"(?=[(（]?[月火水木金土日][)）]|まで|から|以降|に|〜|\s?-\s?\d+/)")),
    ("weekday", r"\b(?P<w>mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|satur|sun)days?\b"),
    ("weekday", r"(?P<w>[月火水木金土日])曜|[(（](?P<w>[月火水木金土日])[)）]"),
    ("weekday", (r"(?<![一-龥])(?P<w>[月火水木金土日])(?=・[月火水木金土日](?![一-龥]))"
     r"|(?<=[月火水木金土日]・)(?P<w>[月火水木金土日])(?![一-龥])")),
    ("time", r"(?<![\d:.])(?P<h><HOUR>):(?P<mi><MIN>)(?![\d:])(?:\s?(?P<half>[ap])\.?m\b\.?)?"),
    ("time", (r"(?P<half>午前|午後|夜|夕方)\s?(?P<h><HOUR>|<FEW>)(?:\s?時|:)(?:(?P<thirty>半)|\s?(?P<mi><MIN>|\d"
     r"|[二三四五]?十五?)\s?分?)?")),
    ("time", (r"(?<![\d.])(?P<h><HOUR>|<FEW>(?=時[にかまのは以、]))\s?時(?![間限])"
     r"(?:(?P<thirty>半)|\s?(?P<mi><MIN>|\d)\s?分)?")),
    ("time", (r"\b(?:(?P<past>half|(?:a\s)?quarter)\s(?P<way>past|to)\s(?P<h><HOUR>|<WORD>)\b(?:\so['’]clock)?"
     r"|(?P<past><FIVES>)(?:\sminutes)?\s(?P<way>past)\s(?P<h><HOUR>|<WORD>)\b"
     r"|(?<!from )(?P<past><FIVES>)(?:\sminutes)?\s(?P<way>to)\s(?P<h><HOUR>|<WORD>)\b"
     r"(?=\s*(?:$|[,.;:!?)]|[ap]\.?m\b|(?:in\sthe|at\snight|on)\b))"
     r"|(?P<h><HOUR>|<WORD>)\so['’]clock)"
     r"(?:\s?(?P<half>[ap])\.?m\b\.?|\s(?:in\sthe|at)\s(?P<half>morning|afternoon|evening|night))?")),
    ("time", r"\b(?P<h><HOUR>|<WORD>)\sin\sthe\s(?P<half>morning|afternoon|evening)\b"),
    ("time", r"(?<![\d:.])(?P<h><HOUR>)(?:\.(?P<mi><MIN>))?\s?(?P<half>[ap])\.?m\b\.?|(?P<word>\b(?:noon|midnight)\b|正午)"),
    ("clause", (r"(?:第\s?(?P<n>\d{1,5}|<KANJI>)\s?|(?<![\d,.])(?P<n>\d{1,4}|<KANJI>))(?P<what>条)"
     r"(?:の(?P<branch>\d{1,3}|<KANJI>)(?!分|割))?|第\s?(?P<n>\d{1,5}|<KANJI>)\s?(?P<what>項|章)")),
    ("clause", r"(?P<what>別表|付表|別紙|様式)\s?第?\s?(?P<n>\d{1,3}|<KANJI>)号?"),
    ("clause", (r"(?P<what>\b(?:articles?|section|clause|paragraph|chapter|annex|appendix|schedule|form)\b"
     r"|\b(?:art|sec|para|s)\.|§)"
     r"\s?(?:no\.?\s?)?(?P<n>\d{1,4}(?:\.\d{1,3}){0,3})(?:\((?P<branch>\d{1,3})\))?(?![a-z\d])")),
    ("code", r"(?<![\d.])\d{1,4}(?:\.\d{1,4}){2,5}(?![\d.]*\d)|(?<![\d-])\d{2,5}-\d{1,4}-\d{3,4}(?![\d-])"),
    ("code", r"(?<![\d.,/])0\d{2,14}(?![\d.,/])"),
    ("number", r"\b(?:(?P<words>half)|a\s(?P<words>quarter)\sof)\sa\s(?P<scale><SCALE>)\b(?:\s(?P<u><UNIT>))?"),
    ("number", (r"(?P<half>half)[\s-](?:an?\s)?(?P<half>hour|minute|day|year|month|dozen|litre|liter|kilo|metre|meter|mile)s?\b"
     r"|(?<![一-龥\d])半(?P<half>年|日|月|時間)")),
    ("number", r"(?P<sign>(?:<DOLLAR>|[¥$€£])\s?|\b(?:<ISO>)\s?)(?P<n><NUM>)(?:\s?(?P<scale><SCALE>|mn|bn|[km])\b)?"),
    ("code", r"(?<![a-z0-9])(?:[a-z]{1,12}[-_/.]?){1,3}\d[a-z0-9]*(?:[-_/.][a-z0-9]*\d[a-z0-9]*){0,4}(?![a-z0-9])"),
    ("fraction", (r"(?P<below>\d{1,4}|<KANJI>)分の(?P<above>\d{1,4}|<KANJI>)"
     r"|(?<![\d/])(?P<above>\d{1,2})/(?P<below>\d{1,3})(?![\d/])")),
    ("fraction", (r"(?<!last )(?<!past )(?<!next )(?<!preceding )(?<!previous )\b(?P<above>one|two|three"
     r"|a(?=\s\w+\sof\s(?:the|all|its|their)))[\s-](?P<below>third|quarter"
     r"|fifth|tenth)s?\b(?!-hour)")),
    ("fraction", r"(?P<word>(?<!first )(?<!second )(?<!other )\bhalf\b(?!\s(?:past|an?|term|of\sthe\syear))|半[分額数])"),
    ("span", (r"\b(?P<n>a|one|three)?[\s-]?quarters?(?:-|\sof\san\s)hours?\b|\ban?\s(?P<half>hour|day|year"
     r"|month)\sand\sa\shalf\b")),
    ("ordinal", r"(?<![\d.])(?P<n>\d{1,3})(?:st|nd|rd|th)\b(?:\s(?P<u><NTH>|of|each|every))?"),
    ("ordinal", r"\b(?P<n>first|second|third|fourth|fifth|sixth)\s(?P<u><NTH>)\b"),
    ("number", r"(?<![\d.])(?P<n><NUM>)(?P<u>円)(?P<sen>\d{1,2})銭"),
    ("number", (r"(?<![\d.])(?P<n><NUM>)(?:\s(?P<andhalf>and a half))?(?:\s?(?P<scale>(?:<SCALE>|k)\b))?"
     r"(?:[\s-]?(?P<u><UNIT>))?<ANDHALF>")),
    ("number", (r"\b(?P<words>(?:<WORD>|an?(?=\s(?:<SCALE>))|(?:(?<=\bper\s)|(?<=\bthe\s))(?:<SCALE>))"
     r"(?:-(?:<WORD>)|\s(?:<SCALE>)\b|(?<=ty)\s(?:<WORD>)|(?:(?<=hundred)|(?<=thousand))\s(?:and\s)?(?:<WORD>))*"
     r"|twice(?!\s(?:the|as|what|that)\b)"
     r"|an?(?=\s(?:hour|day|week|month|year|minute|fortnight|decade"
     r"|century)\b))(?![a-z])(?:\s(?P<andhalf>and a half))?(?:[\s-](?P<u><UNIT>))?")),
    ("number", (r"(?<![数統唯均画単専同随逐択])(?P<n>(?!一つ一つ|一人一人|二枚貝)<KANJI>)(?P<u>(?=<COUNTER>)(?:<UNIT>|月"
     r"|時))<ANDHALF>")),
)  # fmt: skip
# Most words begin no quantity. The others have a figure or @ in them, or are one of these; none begins within a word.
_FIRST_WORDS = (
    r"(?:an?|half|quarters?|twice|noon|midnight|first|second|third|fourth|fifth|sixth|fy|fiscal|reiwa|heisei|showa"
    r"|articles?|section|clause|paragraph|chapter|annex|appendix|schedule|form|art|sec|para|s|https?|www"
    r"|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|satur|sun)days?|<NAME>|<WORD>|<SCALE>|<ISO>|<DOLLAR>)(?![a-z])"
)
_BEGINS = (
    r"(?=[\d¥$€£§〇一二三四五六七八九十百千万億兆令平昭大第別付様月火水木金土日午夜夕正半(（]"
    rf"|(?<![a-z])(?:[a-z][a-z0-9._+/-]{{0,64}}[\d@]|{_FIRST_WORDS}))"
)


# "May 5" is a date, "may 5" is none; a label in capitals belongs to its number: ISO 27001.
_OTHER_WORD = re.compile(
    r"\b(?=(?:may|mar|march|dec)\b)(?<!\bby )(?<!\bon )(?<!\bin )(?:(?<!\d )(?<!\d[a-z]{2} )|(?=\w+ [a-z]))\w+"
)
_LABEL = re.compile(r"(?<![A-Za-z])([A-Z]{2,8})\s(?=\d{3,6}(?!\d))")
_CURRENCY = _PARTS["ISO"].upper().split("|")


def prepared(text: str) -> str:
    """Return a text in half-width characters as `QUANTITY` reads it, each character at its place."""
    text = _LABEL.sub(lambda label: label[0] if label[1] in _CURRENCY else f"{label[1]}_", text)
    return _OTHER_WORD.sub(lambda word: "\0" * len(word[0]), text).lower()


def _whole(index: int, pattern: str) -> str:
    for name, part in reversed(_PARTS.items()):
        pattern = pattern.replace(f"<{name}>", part)
    count = 0

    def own_name(match: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return f"(?P<{match[1]}_{index}_{count}>"

    return re.sub(r"\(\?P<(\w+)>", own_name, pattern)


# For texts that `prepared` has seen.
QUANTITY = re.compile(
    _whole(0, _BEGINS)
    + "(?:"
    + "|".join(f"(?P<k{n}>{_whole(n, pattern)})" for n, (_, pattern) in enumerate(_TABLE))
    + ")",
    re.ASCII,
)
# Of each alternative, what reads it and the groups that it has.
ALTERNATIVES = [
    (
        reader,
        [
            (name.split("_")[0], place)
            for name, place in QUANTITY.groupindex.items()
            if name.split("_")[1:2] == [str(n)]
        ],
    )
    for n, (reader, _) in enumerate(_TABLE)
]
