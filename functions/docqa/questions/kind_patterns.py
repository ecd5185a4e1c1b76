"""How questions ask for a kind of answer: an ordered table of patterns over their normalised text."""

from functions.docqa.questions.expressions import AnswerKind

_NOUNS = r"(?:the |a |an |our |my |your |its )?(?:[\w-]+ ){0,3}?"
# (kind, whether a sentence without such an expression cannot be the answer, pattern); the first match decides.
TABLE: tuple[tuple[AnswerKind, bool, str], ...] = (
    (
        AnswerKind.FREQUENCY,
        True,
        (
            r"how (?:often|frequently)|how many times (?:[^?]*\b)?(?:an?|per|each|every) (?:day|week|month|year)\b"
            r"|at what intervals?"
            r"|frequency|頻度|どの(?:くらい|ぐらい|程度)の間隔|何(?:日|[ヶか]月"
            r"|年|週間|時間)(?:ごと|おき|に1度|に1回)|[年月週日](?:に)?何回"
        ),
    ),
    (
        AnswerKind.CONTACT,
        True,
        (
            r"(?:phone|telephone|extension|contact|hotline) numbers?"
            r"|e-?mail address|what number|(?:^|\b)url\b|which (?:slack )?channel|電話番号|内線(?:番号)?は"
            r"|何番|メールアドレス|urlは|アドレス|チャンネルは|どのチャンネル"
        ),
    ),
    (AnswerKind.REASON, False, (r"^why\b|for what reason|what is the reason|なぜ|どうして|理由")),
    (
        AnswerKind.DEFINITION,
        False,
        (
            r"what (?:exactly |precisely )?(?:counts|qualifies|is (?:considered|regarded|treated|understood|meant))"
            r"(?: as| by| to be)\b|(?:とみなされる|に当たる|に該当する)のは(?:何|どんな|どの)|とは(?:具体的に)?(?:何|どんな|どう)"
        ),
    ),
    (
        AnswerKind.QUANTITY,
        True,
        (
            r"\bhow long (?:must|should|does|do|can|may|is|has) .*\bbe\??$"
            r"|\b(?:what|how much) (?:does|do|did) .*\bweigh\b"
        ),
    ),
    (
        AnswerKind.QUANTITY,
        True,
        (
            r"\b(?:what|which) (?:value|amount|sum|age|temperature|weight|height|size|distance|speed|level)s? "
            r"(?:is|are|may|can|do|does|must)\b"
        ),
    ),
    (AnswerKind.QUANTITY, True, (r"^(?:and )?by how much|how much (?:longer|later|more time|earlier)")),
    (
        AnswerKind.MONEY,
        True,
        (
            r"how much (?:money|does|do|is|are|will|can"
            r"|may|am|would|did|should|must|per|for)\b|how expensive|how many (?:yen|euros?|dollars?|pounds?)\b"
            r"|what (?:do|does|did|will|would|must|shall|should) (?:\w+ ){1,4}?(?:have to |need to )?(?:pay|owe|cost)\b"
            r"|what (?:is|are|was|were|does) " + _NOUNS + r"(?:cost|price|fee|fare|charge|allowance|rent)s?\b(?! cover"
            r"| policy)|いくら|何(?:円|ドル|ユーロ)|(?:上限|限度|下限|最高|最低|最大)額|(?:金額|料金|費用|価格|値段|手数料|手当"
            r"|日当|額|運賃|家賃|代)は(?![^。?]*(?:くれ|もらえ|でき|られ|負担し|払っ|含まれ|かかり|出|支給され|付き|つき|返っ|戻|返金され|返され)[^。?]{0,6}ますか)(?!誰|だれ|どこ|どう|いつ|どちら|どなた)"
        ),
    ),
    (
        AnswerKind.TIME,
        True,
        (
            r"deadline|due date|time limit|(?:response|resolution"
            r"|recovery|lead|turnaround|waiting|processing|delivery|reporting|reaction) time|time ?frame"
            r"|\bdue\b|how (?:long|soon|quickly|late|early)\b|how fast (?:must|should|do|does|will)|\band how fast\W*$|(?:by"
            r"|until|since|from) when|\bwhat time|\bat what point\b|how far in advance"
            r"|how far ahead|how many (?:\w+ )?(?:seconds|minutes|hours|days|nights|weeks|months|years)"
            r"|how much (?:\w+ )?(?:notice|time)|(?:what|which) (?:\w+ )?(?:day|date|month|hours)\b"
            r"|(?:retention|notice|warranty|probation|trial) (?:period|time)"
            r"|(?:office|opening|business|visiting|working"
            r"|core|operating) hours|いつまで|いつ|期限(?!を(?:設|定|付)|[がは](?:あ|設|必要))|締切|締め切り"
            r"|〆切|期日|何(?:秒|分|時間|時|日|営業日|曜日?|週間|[ヶかカ]?月|年)|(?:どの"
            r"|どれ)(?:(?:くらい|ぐらい|だけ|程度)の?(?:期間|間|時間|日数)|(?:くらい|ぐらい)で(?!す|しょ))|(?:期間|時間|日数|時刻|日程)(?:は|$|\?)|納期(?![にをが])"
        ),
    ),
    (
        AnswerKind.MONEY,
        False,
        (
            r"\b(?:is|are) .{2,60}\bfree\b(?: of charge)?\?*$|\bis there (?:a|any) (?:fee|charge|cost)\b|\bcost anything\b"
            r"|お金(?:は|が|を)(?:かか|必要|取|払)|(?:料金|費用|手数料)(?:は|が)(?:かか|必要)|有料(?:です|でしょう)|無料(?:です|でしょう)"
        ),
    ),
    (
        AnswerKind.TIME,
        False,
        (r"^when\b|\bwhen (?:do|does|is|are|am|must|should|can|will|did|was|were|may)\b"),
    ),
    (
        AnswerKind.QUANTITY,
        True,
        (
            r"how (?:many|large|big|heavy|high|tall|hot|cold|old|far|wide|deep|fast|strong|loud|small"
            r"|low)\b|how much\b|what (?:percentage|percent|number|proportion|share)|what (?:is|are|was|were) "
            + _NOUNS
            + r"(?:maximum|minimum|limit|max|min|cap|ceiling|threshold|temperature|humidity|capacity|weight"
            r"|height|size|speed|rate|target|voltage|length"
            r"|quota)\b|上限|下限|限度|何(?:db|デシベル|メートル|センチ|ミリ|グラム|リットル|トン|ワット|ボルト|アンペア|k?w|m|cm|mm|km|g|[kmgt]b|[va](?![a-z])|[km]?hz|人|名|回|枚|個|件|台|割|倍|冊"
            r"|本|杯|段|歳|度|%|パーセント|文字|桁|種類|つ|箇所|キロ|メートル|kg"
            r"|点|世代|室|階建|[一-龯]{1,2}(?=以|ま|で|が|を|か|あ|必|の|ず))|(?:最大|最小|最低|最高|割合|率|人数|件数|温度|湿度"
            r"|定員|容量|重量|数|速度|高さ)(?:は|って|\?*$)"
        ),
    ),
    (
        AnswerKind.PERSON,
        False,
        (
            r"\bwho(?:m|se)?\b|(?:which|what) (?:\w+ )?(?:team"
            r"|department|person|role|group|committee|office"
            r"|manager|division)\b|誰|だれ|どなた|どちらが|どの(?:部署|部門|チーム"
            r"|担当|役職|課|部)|どこの(?:部署|部門|課)|何部|担当(?:者|部署|部門)?は|責任者は|承認者は"
        ),
    ),
    (
        AnswerKind.PLACE,
        False,
        (
            r"^where\b|\bwhere (?:do|does|is|are|must|should"
            r"|can|will|may|to)\b|(?:which|what) (?:\w+ )?(?:room"
            r"|building|floor|location|site|place|system|tool|portal)\b|どこ|何階|場所は"
        ),
    ),
    (
        AnswerKind.DEFINITION,
        False,
        (
            r"what does .* (?:mean|stand for)|definition of"
            r"|what is meant by|とは(?:何|なん|どう|$|\?)|の(?:定義|意味)は|(?:どういう|どんな|何の|なんの)意味"
        ),
    ),
    (
        AnswerKind.CONDITION,
        False,
        (
            r"(?:under|in) what (?:conditions?|circumstances?"
            r"|cases?)|what (?:are|is) (?:the )?(?:conditions?"
            r"|exceptions?|requirements?|criteria)|条件|例外は"
            r"|どんな(?:場合|とき|時|ケース)|どのような(?:場合|とき|時|ケース)"
        ),
    ),
    (
        AnswerKind.CONSEQUENCE,
        False,
        (
            r"what (?:should|do|must|can) (?:i|we|you) do (?:first |next |then )?(?:if|when|in case)"
            r"|what (?:happens|will happen|would happen|occurs)"
            r"|what(?:'s| is| are) the (?:consequences?|penalt)"
            r"|what if\b|what now|どうな(?:る|り|っ)|何が起こ|どのような(?:扱い|処分)"
        ),
    ),
    (AnswerKind.PROCEDURE, False, (r"どうすれば|どうしたら|どうやって|どのように|何をすれば")),
    (
        AnswerKind.PERMISSION,
        False,
        (
            r"^(?:can|may|could|is|are|do|does|must|should|am|will|might|shall)\b|\b(?:allowed|permitted"
            r"|forbidden|prohibited|mandatory)\b|(?:でき|可能"
            r"|良い|よい|いい|構い|かまい|必要|許可され|認められ|禁止され|許され|もらえ"
            r"|使え|持て|義務|不要|大丈夫|オッケー|取れ|入れ|受けられ|持ち出せ|いり|べき)(?:ます|です|る"
            r"|ない|なの)?(?:ん)?(?:でしょう|です)?か|(?:でき|られ|え|せ)る\?"
            r"|(?:可能|必要|禁止|(?<![a-z])ok|大丈夫)\?|ますか\??$"
        ),
    ),
    (
        AnswerKind.PROCEDURE,
        False,
        (
            r"how (?:do|can|should|to|must|is|are|does|would"
            r"|may)\b|what (?:are )?(?:the )?(?:steps|procedure"
            r"|process)|procedure for|steps (?:to|for)|どうやって"
            r"|どのように|どうすれば|どうしたら|どうする|手順|方法|手続き?|流れは|何をすれば"
            r"|何をする|すべきこと"
        ),
    ),
)
