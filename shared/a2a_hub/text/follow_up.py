"""Texts that live by the conversation before them.

Follow-ups are incomplete without the question before: "and for hotels?", 「じゃあ海外は？」, "no, I meant abroad".
Some ask for the same answer once more: "as a table, please", 「英語で」, "are you sure?".
Small talk leaves the conversation where it was: "thanks!", 「なるほど」, "never mind", "that's not what I asked".
"""

import re
from collections.abc import Callable
from functools import cache

from a2a_hub.text.language import Language, answer_language
from a2a_hub.text.normalization import compose, normalise
from a2a_hub.text.units import MONEY

# Longer texts are complete questions; before normalisation, invisible characters and blanks count too.
_MAX_CHARACTERS = 80
_MAX_WRITTEN_CHARACTERS = 800

_PLEASE = r"(?:,? please)?"
_QUESTION_WORD = (
    r"(?:what|whom?|whose|when|where|why|how|which|is|are|was|were|do|does|did|can|could|will|would|should|may)\b"
)
_PRONOUN = r"(?:it|its|they|them|their|that|this|those|these)\b"
# "Is it raining?" refers to no earlier text.
_IMPERSONAL = (
    r"(?:is|was|will) it (?:true|possible|legal|safe|ok|okay|worth|late|going|bad|good)\b"
    r"|(?:is|was|will) it (?:raining|rain|snowing|snow|cold|hot|warm|sunny)\b|how is it going|(?:do|are|can|could|will) you\b"
    r"|(?:who|where|how) (?:is|are|was|were) (?:it|this|that|these|those|they)\??$"
)
_COUPLED = r"(?:(?:ok(?:ay)?|so|then),? )*(?:(?:and )?(?:what|how) about|and|but|or)\b,?"
_ENGLISH = (
    # A few words without a complete question: "and for P-2?", "what about hotels".
    rf"{_COUPLED}(?! {_QUESTION_WORD})(?! (?:i|we|you)\b)(?: (?:(?:then|also) )?[\w'$€£¥%-]+){{1,6}}{_PLEASE}",
    # A question that goes on from the one before: "and who signs it?", "is that per person?".
    rf"(?:and|but|or|so)\b,?(?= {_QUESTION_WORD})(?: [\w'$€£¥%-]+){{2,14}}",
    rf"(?!{_IMPERSONAL}|what|which)(?={_QUESTION_WORD})(?=.* {_PRONOUN})[\w'-]+(?: [\w'-]+){{2,7}}",
    # A longer one may name the subject itself: only what comes first names it elsewhere.
    rf"(?={_QUESTION_WORD})[\w'-]+(?: (?:i|we|you))?(?: [\w'-]+)? (?:they|them|their|those|these)\b(?: [\w'-]+){{2,14}}",
    r"so,? .{3,40} then|(?:the )?same (?:question|thing)? ?(?:for|with|in) .{2,30}",
    r"which (?:one|of (?:them|these|those))\b.{0,40}",
    r"who (?:should|must|can|may|will|has to|have to|needs to) (?!i\b|we\b|you\b)[\w-]+",
    r"(?:(?:and|but|so|ok(?:ay)?|then),? )*(?:whom?|when|how) (?:do|should|must) (?:i|we) [\w-]+",
    # What was said, in the asker's words: "so I need a receipt, right?".
    r"so,? .{3,60}, (?:right|correct)",
    r"which (?:one )?(?:is|are) (?:the )?(?:(?:more|most|less|least) )?(?:\w+er|\w+est|worse|worst|\w+ant)",
    # A circumstance without a verb: "per person?", "in feet?", "for ten people?".
    (
        rf"(?:per|for|in|on|at|from|with|without|after|before|during|within|over|under|above|below)(?! {_QUESTION_WORD})"
        rf"(?:(?! {_QUESTION_WORD}) [\w'-]+){{1,4}}(?=\?)"
    ),
    (
        r"(?:[\w'-]+ ){0,4}the (?:first|second|third|fourth|fifth|last) (?:one|step|point|item|task|risk)"
        rf"(?: (?:about|mean|again|exactly|in (?:more )?detail))?{_PLEASE}"
    ),
    rf"(?:(?:and|please|(?:can|could) you)\b,? )*(?:give|show)(?: me| us)? an? (?:\w+ )?example{_PLEASE}",
    r"(?:[\w'-]+ ){1,4}(?:step|point|item|number|task|risk) [0-9]{1,2}(?: [\w'-]+){0,3}",
    r"how (?!come)[\w-]+|who|when|where",
    r"(?:up to|since|until|till|from|by|for|with|to|at|on|in|about|per) (?:how [\w-]+|whom?|what|when|where|which(?: [\w-]+)?)",
    # What was spoken of: "what are the risks?", "what happens then?", "can managers come too?".
    r"what (?:are|were) the [\w-]+",
    rf"(?={_QUESTION_WORD})[\w'-]+(?: [\w'-]+){{1,7}},? (?:then|instead|as well|either|too)",
    # Something was done with it, and a follow-up asks what comes of that: "I missed it. What now?".
    rf"(?:i|we|he|she|they)\b(?: [\w'-]+){{1,4}} {_PRONOUN}[.,;!]+ (?:and |but |so )?(?:what (?:now|then|next)|now what)",
    r"(?:(?:and|but) )?(?:and|but|or|what) if\b.+",
    # A request for more.
    (
        rf"(?:(?:and|then|(?:can|could) you|please|(?:give|tell|show|list|name|add)(?: me| us)?|any|some|a few|the)\b )*"
        rf"(?:[0-9]{{1,3}} |[a-z]{{3,6}} )?(?:more|others?|next)"
        rf"(?: (?:tasks?|steps?|items?|examples?|risks?|points?|ones?|details?))?{_PLEASE}"
    ),
    (
        rf"(?:(?:and|now|please)\b,? )*(?:give|tell|show|list|name)(?: me| us)?"
        rf" (?:[0-9]{{1,3}}|two|three|four|five|ten) [\w-]+{_PLEASE}"
    ),
    # Something is to be done with what was spoken of: "now delete it", "explain those in detail".
    (
        rf"(?:(?:and|ok|so|now|then|just|please)\b,? )*(?!{_QUESTION_WORD}|{_PRONOUN}"
        r"|(?:i|we|you|he|she|they|let|thank|not)\b)[a-z]+(?: (?:up|out|about))?"
        r" (?:it|them|those|these)\b(?: [\w'.-]+){0,4}(?:,? please)?"
    ),
    # The first answer in other words: "what was the limit again?".
    (
        r"(?:what|who|when|where|how (?:much|many|long|often))(?:['’]s| is| was| are| were)(?: (?:it|that|the|my"
        r"|our))?(?: [\w'-]+)? again"
    ),
    r"(?:and |but )?(?:why(?: not)?|since when|for example|such as|in which case|(?:any|what|who) ?(?:thing )?else|when exactly)",
)

_SUBJECT = r"[^のはがをに。、? +*×÷=/]{1,12}?(?:(?:の|した)?(?:場合|とき|時|ほう|方|人))?"
_COUPLED_JA = r"(?:じゃ(?:あ|(?=[、 ]))|では|それじゃあ?|それでは|それなら|あとは?|それと|でも|ちなみに)[、 ]?"
# Numbers, and subjects that start a new conversation.
_NUMBER = r"(?:[0-9]{1,3}|[一二三四五六七八九十])"
_NEW = r"(?:何|なん|誰|だれ|いつ|どこ|天気|今日|明日|世界|日本|一番|最も|好き)"
_WRONG = r"(?:いや|いえ|いいえ|違う|違います|ちがう|ちがいます)"
# What was meant instead: a subject without a statement of its own.
_MEANT = (
    r"[^のはがをに。、?]{1,12}?(?:の)?(?:場合|とき|時|ほう|方|件|話)?"
    r"(?:について(?:は)?|は|だと|なら|で|を(?:聞い|訊い|知り).{2,10})?(?:です|だ|だよ|でお願いします|お願いします|お願い)?"
)
_JAPANESE = (
    rf"{_COUPLED_JA}[^。?]{{1,60}}(?:か|は|も|の|だと|だったら|なら|(?=\?))",
    r"そ(?:れ|の|こ|ちら|っち|ういう|んな)[^。?]{1,60}(?:か|は|の|たら|なら|(?=\?))",
    rf"(?!.*{_NEW}){_SUBJECT}(?:は|も|だと|だったら|なら)(?=\?)",
    rf"(?!.*{_NEW}){_SUBJECT}(?:だと|だったら|なら|の場合は?)(?:いくら|どう(?:なる|なります|です)?|必要|可能|だめ|ダメ)(?:です)?か?",
    rf"(?!.*{_NEW})[^はがを。、? ]{{2,16}}(?:だったら|なら)(?=\?)",
    r"[^。?]{1,20}(?:の|た|る|い|な)(?:場合|とき|時)(?:は|だと)(?=\?)",
    (
        rf"(?:{_COUPLED_JA})?[^。? ]{{1,20}}(?:の|た|る|い|な)(?:場合|とき|時)(?:は|だと|も)、?"
        r"(?:いかが|どう)(?:なり|なる)?(?:でしょう|です|ます)?か?"
    ),
    r"[^。? ]{1,12}について(?:は|も)",
    r"[^。?]{1,14}(?:たら|なければ|ないと)(?:どう(?:なる|なります|すれば)(?:の|ん)?(?:です|いいです)?か?)?(?=\?)",
    r"(?:いつ|どこ|誰|いくら|何(?:日|回|円|人|時間|分))(?:から|まで|で|に|へ|が|以内)?(?:ですか|(?=\?))|どうやって(?=\?)",
    # No word in kanji, katakana or Latin letters names anything, and no は a subject.
    r"(?!.*(?:は|って))[\u3041-\u309fー、]{4,}(?=\?)",
    # What was said, in the asker's words: 「上長が承認すればよいということですか」.
    r"[^。?]{2,50}(?:という|って)(?:こと|意味)(?:です|でしょう|になります|なの|で(?:いい|よい|よろしい)(?:です|でしょう)?)?か?(?=\?|$)",
    # Who, when or where, without a subject.
    r"(?!.*(?:住|好き|寝|食べ|生まれ|帰|会い|思))(?:(?:誰|だれ)[にがの]|いつ|どこ[にへで])[^。?はを]{2,12}(?:か|の(?=\?|$)|(?=\?))",
    rf"{_NUMBER}(?:番目?|つ目|個目)(?:は|を|の|について).{{0,14}}|(?:ほか|他)にも?(?:ある|あります)?か?|どれ(?:が|を|から).{{1,12}}",
    rf"(?:あと|もう|ほかに|他に){_NUMBER}(?:つ|個|件|点).{{0,10}}|(?:続き|つづき|次)(?:は|を.{{0,8}})?",
    r"もっと(?:挙げて|教えて|ください).{0,5}|もっと[^。?はがを]{1,6}[くに](?:して|教えて|お願い).{0,5}|もっと[^。?はがを]{1,6}[くに]",
    rf"{_NUMBER}(?:つ|個|件|点|項目)(?:に(?:絞|し|まとめ)って?|だけ).{{0,10}}",
    r"(?:それから|そして|で)(?=\?)|(?:どっち|どちら)(?:が|の(?:ほう|方)が|を)[^。?]{1,10}",
    r"(?:それは)?(?:なぜ|どうして|例えば|たとえば|具体的には|他には|ほかには|その他は|それ以外は)(?:ですか)?",
)
# Something else was meant: "no, I meant abroad", "actually, flights", 「そうじゃなくて海外の場合」.
_CORRECTION = (
    (
        rf"(?:(?:no|nope|sorry|wait|oops|oh|ah|but|well|hmm|not [\w'-]+),? )*i (?:mean|meant|asked|was asking)"
        rf"(?: about| for)?[,:]?(?! {_QUESTION_WORD}|,? (?:i|we|you|it|that)\b)(?: [\w'\"-]+){{1,5}}"
    ),
    (
        rf"(?:no|nope|actually|rather|wait)[,.!] ?(?:actually |rather |not [\w'-]+,? but )?(?!{_QUESTION_WORD}|(?:i"
        rf"|we|you|it|that)\b)[\w'-]+(?: [\w'-]+){{0,3}}"
    ),
    (
        rf"(?:{_WRONG}[、。 ]+)*(?:(?:そう|それ|そっち|[^は。、? ]{{1,12}})(?:じゃ|では)な(?:くて|く|いです)(?!も)[、。 ]*)"
        rf"{_MEANT}"
    ),
    rf"{_WRONG}[、。 ]+{_MEANT}",
    rf"{_SUBJECT}(?:のこと)?を(?:聞|訊)い(?:てい?る|てい?ます|た|ています).{{0,8}}",
)
# The same answer once more: in another form or language, with its source, confirmed, or told what to do.
_ONCE_MORE = (
    (
        r"(?:make (?:it|that) (?:a list of )?|(?:only|just) (?:the )?(?:first|top|last)? ?)"
        rf"(?:[0-9]{{1,3}}|two|three|four|five|ten)(?: [\w-]+)?{_PLEASE}"
    ),
    r"(?:so,? )?what (?:now|then|next|(?:do|should) (?:i|we) do(?: now| then)?)",
    r"(?:で、?)?どう(?:すれば|したら)(?:いい|良い|よい)(?:の|ん)?(?:です)?か?",
    (
        rf"(?:(?:and|now|please|the same|(?:can|could) you|(?:put|show|say|make) (?:it|that))\b,? )*"
        rf"(?:as|in|into) (?:a|one) (?:(?:bullet|bulleted|numbered) )?(?:table|list|sentence|word){_PLEASE}"
    ),
    (
        rf"(?:(?:and|please|(?:can|could) you|make (?:it|that)|a bit|much|even)\b,? )*"
        rf"(?:shorter|briefer|(?:more )?briefly|in short){_PLEASE}"
    ),
    (
        rf"(?:(?:and|now|please|(?:can|could) you|answer|(?:say|tell me|repeat|explain) (?:it|that|this)|again)\b,? )*"
        rf"in (?:english|japanese){_PLEASE}"
    ),
    r"(?:can|could|may|would)\b[\w ]{0,30} (?:have|get|see|say|put|repeat) (?:it|that|this) in (?:english|japanese)",
    (
        r"(?:(?:are )?(?:you|u|ya)|r u) (?:really |quite |absolutely |100 ?% )?(?:sure|certain|serious)(?: (?:about"
        r"|of) (?:that|this|it))?"
    ),
    r"really|seriously|(?:and )?is (?:that|this|it) (?:really )?(?:right|true|correct|certain|official)",
    (
        r"says who|according to (?:who|whom|what)|who (?:says|said|told)(?: (?:so|that|this|it|you|me))*"
        r"|where does it say (?:that|so)|how do you know(?: (?:that|this))?"
    ),
    (
        r"(?:(?:and|please|(?:can|could) you|show|give|tell|what(?:['’]s| is| are)|me|us|the"
        rf"|your)\b,? )*(?:sources?|references?|citations?){_PLEASE}"
    ),
    (
        r"(?:(?:日本語|英語)で、?)?(?:(?:もっと|もう少し|もう一度|もう一回|詳しく|例を|まとめて|それを|一言で|一文で|簡潔に|短く|手短に|表に|表で|表形式で|テーブルに|テーブルで|リストに|リストで|箇条書きで|箇条書きに|要約|(?:分|わ)かりやすく)"
        r"(?:短く|詳しく|(?:分|わ)かりやすく|挙げて|言って|簡潔に|まとめて|して|お願いします|お願い|教えて|説明して|言うと|ください|で|に"
        r"|、|(?:もらえ|いただけ|くれ)(?:る|ます|ませんか)|か|ほしい(?:です)?)*)"
    ),
    r"(?:それを|もう一度|今度は|いや、)?(?:日本語|英語)に(?:戻|訳|翻訳|直)[^。?]{0,8}",
    r"(?:それを|もう一度|今度は|いや、)?(?:日本語|英語)で(?:も)?(?:の)?(?:(?:教えて|答えて|回答|説明|お願い|言って).{0,8})?",
    r"(?:(?:それ)?(?:は|って)?、?)?(?:本当|ほんとう?|マジ|まじ|確実)(?:に)?(?:なの|なん)?(?:です|でしょう)?か?|(?:確か|たしか)(?:ですか|なの|なんですか|でしょうか|(?=\?))",
    (
        r"(?:念の(?:ため|為)(?:の)?(?:確認)?(?:です)?(?:が|けど)?、?)?(?:本当に|それで|これで)?"
        r"(?:間違い(?:ない|ありません)|間違って(?:い)?(?:ない|ません)|合って(?:い)?(?:る|ます)|正しい)(?:の)?(?:です|でしょう)?(?:か|よね|(?=\?))"
    ),
    r"(?:その|この|情報の)?(?:出典|ソース|根拠|出所|情報源|典拠)(?:は|って|を(?:見せ|教え|示し)て.{0,6})?(?:何|なん|どこ)?(?:ですか)?|要するに|つまり",
    r"(?:それ(?:は|って)、?)?(?:誰が(?:そう|そんなこと)?言って.{0,8}|どこに(?:そう)?書(?:い|か)[^。?]{1,10})",
)
_SMALL_TALK = (
    r"ok(?:ay)?|(?:oh,? )?i see|got it|understood|all ?right|makes sense|noted|sure|fine|good|great|nice",
    r"cool|perfect|excellent|wonderful|lovely|awesome|much appreciated|no problem|no worries",
    r"thx|ty|thank(?:s| you)(?: (?:so|very) much| a lot| again)?(?: for (?:the|your) (?:help|answer|info(?:rmation)?))?",
    r"(?:very )?helpful|that(?: was helpful| help(?:s|ed))",
    r"(?:hi|hello|hey)(?: there)?|good (?:morning|afternoon|evening|night)|(?:good)?bye|see you(?: (?:later|tomorrow))?",
    r"how are you(?: (?:doing|today))*|have a (?:nice|good|great) (?:day|evening|weekend|one)|lol|wow|oh|ah|hmm*|huh",
    (
        r"yes|yeah|yep|yup|no|nope|nah|maybe|perhaps|please|exactly|right|(?:that(?:['’]s| is) )?correct|sorry"
        r"|pardon|stop|cancel|nothing"
    ),
    (
        r"never ?mind|forget (?:about )?(?:it|that)|that(?:['’]s| is| will be) (?:all|it|enough|fine|ok"
        r"|right)(?: for (?:now|today))?"
    ),
    r"(?:どうも|大変|本当に|とても|ご丁寧に)?(?:ありがとう?(?:ござい(?:ます|ました))?|助かり(?:ます|ました)|助かった)|どうも|サンキュー|感謝します",
    r"(?:了解|承知)(?:です|(?:いた)?しました)?|かしこまりました|なるほど|(?:分か|わか|分)り?(?:ました|った)|そう(?:です|なんです)か|(?:オッケー|ok)です",
    r"はい|いいえ|いえ|いや|うん|うーん|ううん|ええ|え|へえ|ふーん|そう(?:です)?|(?:もう)?(?:大丈夫|結構|いい|十分)(?:です|や)?",
    r"(?:また)?(?:よろしく|宜しく)?お願い(?:(?:いた)?します)?|よろしく|ごめん(?:なさい)?|す[みい]ません(?:でした)?|失礼(?:(?:いた)?し(?:ます|ました))?",
    r"以上(?:です)?|(?:やっぱり|やはり)?(?:キャンセル(?:します|して(?:ください)?)?|やめ(?:て(?:ください)?|ます))|何でも(?:ない|ありません)(?:です)?|なんでもない(?:です)?",
    r"こんにちは|こんばんは|おはよう(?:ございます)?|お疲れ(?:様|さま)(?:です|でした)?|はじめまして|(?:お)?元気(?:です)?か?|さようなら|また(?:ね|明日)|おやすみ(?:なさい)?",
)
_VERY = r"(?: (?:totally|completely|just|so|really|very|pretty|a bit))*"
_BAD = (
    rf"(?:(?:{_VERY} not|n['’]t){_VERY} (?:an answer|right|correct|true|helpful|useful|good)"
    rf"|{_VERY} (?:useless|wrong|incorrect|nonsense|rubbish|stupid|dumb|bad|(?:of )?no (?:help|use)))"
)
_COMPLAINT = (
    (
        rf"(?:but )?(?:that|this|it|you|(?:your|the|this)(?: last)? answer)(?:['’]?s|['’]re| is| was| are)"
        rf"(?:{_BAD}|(?: not|n['’]t) (?:quite )?(?:what )?i (?:asked|meant|wanted|said)(?: for| about)?)"
    ),
    (
        r"you (?:did|have|are|do)(?: not|n['’]?t) (?:answer(?:ed|ing)?|underst(?:an|oo)d(?:ing)?"
        r"|listen(?:ing)?)(?: to)?(?: me| my question| the question| that| it)?"
    ),
    r"i (?:do not|don['’]?t) (?:believe|understand|trust|get) (?:you|it|that|this)|wtf|damn|what the (?:hell|heck)",
    (
        r"(?:それは?|これは?|全然|ぜんぜん|全く|まったく|だから)?、?(?:違う|違います|ちがう|ちがいます|間違い|間違って(?:い)?(?:る|ます)|嘘|うそ"
        r"|(?:分|わ)かり(?:にくい|づらい)|使えない|使えねー?|役に立た(?:ない|ねー?)|意味(?:が)?(?:不明|(?:分|わ)からない))(?:です|だ|じゃん|でしょ|な)?"
    ),
    r"(?:全然)?(?:答え|回答|返事)に(?:全然)?なって(?:い)?(?:ない|ません)|質問(?:と|に)(?:全然)?(?:違う|違います|答えて(?:い)?(?:ない|ません))",
    r"(?:そんな|そういう)(?:こと|話)(?:は|を)?(?:聞|訊)いて(?:い)?(?:ない|ません)|は(?=\?)",
)
# P-1, SEV2, ISO27001: one of a series, replaceable by another one.
_IN_ENGLISH = "\nin English"
_ENGLISH_WORDS = re.compile(r"[A-Za-z]{2,} [A-Za-z]{2,}")
_SENTENCE_END = re.compile(r"(?<=[?？!！。])\s*(?=.)|(?<=\w\w\w\.)\s+", re.DOTALL)
_NUMBERED = r"(?i)(?<![a-z0-9])([a-z]{1,6})-?[0-9]{1,5}(?![a-z0-9])"


def is_follow_up(text: str) -> bool:
    """Return True if a text only makes sense as the continuation of another one; a remark such as "great, " may precede it.

    Of several sentences the first does, and so does each further one that asks something.
    """
    if len(text) > _MAX_WRITTEN_CHARACTERS or is_small_talk(text):
        return False
    first, *more = [each for each in _SENTENCE_END.split(text) if not is_small_talk(each)] or [text]
    sentences = (first, *(each for each in more if each.rstrip().endswith(("?", "？"))))
    is_one = _matches(_follow_ups, text, after_remark=True)
    return is_one or (len(text) <= 2 * _MAX_CHARACTERS and all(_matches(_follow_ups, each) for each in sentences))


def meant_instead(text: str) -> str:
    """Return what a follow-up says was meant: "abroad" of "no, I meant abroad"; "" if it corrects nothing."""
    if not _matches(_corrections, text, after_remark=True) or is_small_talk(text):
        return ""
    return _correcting().sub("", normalise(text))


def asks_once_more(text: str) -> bool:
    """Return True if a follow-up asks for the same answer: in another form or language, with its source, or confirmed."""
    return _matches(_once_more, text, after_remark=True)


def subject_of(questions: str) -> str:
    """Return a conversation's questions, one per line, without those for the same answer once more: they name no subject."""
    first, *more = questions.split("\n")
    return "\n".join((first, *(line for line in more if not asks_once_more(line))))


def is_small_talk(text: str) -> bool:
    """Return True if a text only greets, thanks, agrees, refuses or complains, and asks nothing."""
    return _matches(_small_talk, text)


def is_complaint(text: str) -> bool:
    """Return True if a text only says that an answer was no help."""
    return is_small_talk(text) and _complaints().search(normalise(text)) is not None


def names_another(earlier: str, follow_up: str) -> bool:
    """Return True if the follow-up names another member of a series or another amount than the question: P-2 after P-1."""
    return _replacement(earlier, follow_up) is not None


def completed(earlier: str, follow_up: str) -> str:
    """Return the complete question: the earlier one about the other member or amount, or both, one below the other."""
    earlier = earlier.removesuffix(_IN_ENGLISH)
    replacement = _replacement(earlier, follow_up)
    if replacement is None:
        start = 0 if meant_instead(follow_up) else _remark_end(follow_up)
        whole = f"{earlier}\n{follow_up[start:]}"
    else:
        named, meant = replacement
        whole = compose(earlier).replace(named, meant)
    # English words after a Japanese question are to be answered in English; the other way round, the whole is Japanese.
    in_english = answer_language(follow_up) is Language.EN and _ENGLISH_WORDS.search(follow_up)
    return whole + _IN_ENGLISH if in_english and answer_language(whole) is Language.JA else whole


def of_another(earlier: str, follow_up: str) -> str | None:
    """Return the Japanese question of what the follow-up names: 「立山の定員は？」 for 「富士の定員は？」 and 「立山は？」."""
    if max(len(earlier), len(follow_up)) > _MAX_CHARACTERS or names_another(earlier, follow_up):
        return None
    question = _of_subject().fullmatch(compose(earlier.removesuffix(_IN_ENGLISH)))
    other = _other_subject().fullmatch(compose(follow_up[_remark_end(follow_up) :]))
    return f"{other[1]}の{question[1]}" if other and question else None


def _replacement(earlier: str, follow_up: str) -> tuple[str, str] | None:
    """Return what the earlier question names, and what the follow-up names in its place; None if that is nothing of its kind."""
    earlier, follow_up = compose(earlier), compose(follow_up[_remark_end(follow_up) :])
    named, meant = re.search(_NUMBERED, earlier), re.search(_NUMBERED, follow_up)
    if named and meant and named[1].casefold() == meant[1].casefold():
        return named[0], meant[0]
    return _amounts(earlier, follow_up)


def _amounts(earlier: str, follow_up: str) -> tuple[str, str] | None:
    """Return the one amount or date of each text, if the follow-up says nothing else: "and 6 million?" after "500k yen"."""
    if len(earlier) > _MAX_WRITTEN_CHARACTERS or len(follow_up) > _MAX_CHARACTERS:
        return None
    # The hub itself completes no question, and would take a tenth longer to start.
    from a2a_hub.text.quantities import quantities

    amounts = [[each for each in quantities(text) if each.kind in ("number", "date")] for text in (earlier, follow_up)]
    if any(len(each) != 1 for each in amounts):
        return None
    (named,), (meant,) = amounts
    rest = f"{follow_up[: meant.start]} {follow_up[meant.end :]}"
    is_other = named.kind == meant.kind and (named.unit == meant.unit or (not meant.unit and named.unit in MONEY))
    if not is_other or (named.kind == "number" and not named.unit) or not _around_amount().fullmatch(normalise(rest)):
        return None
    unit = "" if named.unit == meant.unit else f" {named.unit}"
    return earlier[named.start : named.end], follow_up[meant.start : meant.end] + unit


def _matches(patterns: Callable[[], re.Pattern[str]], text: str, *, after_remark: bool = False) -> bool:
    if len(text) > _MAX_WRITTEN_CHARACTERS:
        return False
    normal = normalise(text)
    if len(normal) > _MAX_CHARACTERS:
        return False
    starts = {0, _remark_end(normal)} if after_remark else {0}
    return any(patterns().fullmatch(normal, start) for start in starts)


def _remark_end(text: str) -> int:
    """Return the end of the remarks before a question: of "great, " in "great, and hotels?"."""
    remark = _remarks().match(text)
    return remark.end() if remark and remark.end() < len(text) else 0


# Compiled on first use.
@cache
def _follow_ups() -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join((*_ENGLISH, *_JAPANESE, *_CORRECTION, *_ONCE_MORE))})[?.!。 ]*")


@cache
def _corrections() -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(_CORRECTION)})[?.!。 ]*")


@cache
def _correcting() -> re.Pattern[str]:
    english = r"(?:(?:no|nope|sorry|wait|oops|oh|ah|but|well|hmm|actually|rather)\b[,.! ]*)*"
    return re.compile(
        rf"^{english}(?:i (?:mean|meant|asked|was asking)\b(?: about| for)?[,: ]*)?"
        rf"(?:{_WRONG}[、。 ]+)*(?:[^は。、? ]{{1,12}}(?:じゃ|では)な(?:くて|く|いです)[、。 ]*)?"
    )


@cache
def _once_more() -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(_ONCE_MORE)})[?.!。 ]*")


@cache
def _small_talk() -> re.Pattern[str]:
    return re.compile(rf"(?:(?:{'|'.join((*_SMALL_TALK, *_COMPLAINT))})(?:[ねよ]?(?:[^\w]+|$)))+")


@cache
def _complaints() -> re.Pattern[str]:
    return re.compile("|".join(_COMPLAINT))


@cache
def _other_subject() -> re.Pattern[str]:
    return re.compile(
        rf"(?:{_COUPLED_JA})?([^のはがをに。、? ]{{1,12}})(?<!場合)(?<!とき)(?<!時)(?:は|だと|なら)[?？。 ]*"
    )


@cache
def _of_subject() -> re.Pattern[str]:
    return re.compile(r"[^のはがをに。、? ]{1,12}の([^。?？\n]{2,40}[?？。]?)")


@cache
def _around_amount() -> re.Pattern[str]:
    return re.compile(
        r"(?:(?:and|or|but|what about|how about|for|with|on|at|of|じゃあ?|では|の場合|は|だと|だったら|なら)\b|[ 、,.?。])*"
    )


@cache
def _remarks() -> re.Pattern[str]:
    more = r"and\b|but\b|or\b|what about\b|how about\b|in (?:english|japanese)\b|as a\b"
    tell = r"(?:(?:just|please|then|so|(?:can|could) you(?: please)?) )*tell me,? (?=who|what|when|where|why|how|if)"
    remarks = rf"(?:(?:{'|'.join(_SMALL_TALK)})[ねよ]?(?:[,.!。、…]+ ?| (?={more})))"
    return re.compile(rf"{remarks}*{tell}|{remarks}+", re.IGNORECASE)
