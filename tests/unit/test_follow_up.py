"""Follow-ups: which texts take up the question before, and what they mean then."""

import time

import pytest

from a2a_hub.text.follow_up import (
    asks_once_more,
    completed,
    is_complaint,
    is_follow_up,
    is_small_talk,
    meant_instead,
    of_another,
)

FOLLOW_UPS = """now rename it
間に合わなければどうなりますか？
show me three options please
学生の団体なら？
雨の日だったら？
close the second one
Explain those in more detail, please
up to how much?
how far?
for how long?
until which day?
with whom?
what are the exceptions?
who signs it then?
Can contractors do it as well?
We forgot about that. And now what?
He broke it! What next?
もっと具体的に
もっと細かく教えて
英語に直して
ok in Japanese please
and for international trips?
And how about hotels?
what about P-3
how about abroad
but without a receipt?
and if it was over 10,000 yen?
what if it was lost
And who signs it?
And what discount do we get if we order ten?
and 20%?
no, not hello, I meant "goodbye"
Should I tell them before or after I have a new plan?
Who do I call?
So I need a receipt even then, right?
That's not what I asked. I asked about applicants who were rejected.
and when do they expire?
And then?
Is that per person?
Does that include breakfast?
who approves that?
So what is the limit then?
Same question for Osaka
until when?
Which one is most important?
what is the third one about?
give me an example
Can you give me a short example?
per person?
in dollars?
and for ten people?
without approval?
Could you explain step 2?
two more
Give me two more, please
any more examples?
and as a table?
as a table, please
Could you make it shorter?
shorter please
anything else?
and in Japanese, please
can you say that in English?
Why?
じゃあ海外は？
海外だといくら?
社外の人だとどうなりますか
じゃあ、海外は?
では海外出張は
ホテルは?
Ｐ－２は？
海外の場合は?
1万円を超える場合は?
それを過ぎたら?
その場合は?
それは誰が承認しますか
リスクについても
あと交通費は？
もう2つ
英語で教えて
英語で
日本語で?
あと3つ挙げて
続きは?
もっと短く
表にしてもらえますか
短くまとめていただけませんか
もっと詳しく
もう一度お願いします
例を挙げて
上限を超えたら?
社外の人は?
いつから?
誰に連絡するの?
どこに連絡するの
いつ失効しますか
誰の署名が必要?
2番目を詳しく
ほかにもある?
どれが一番大事?
表にして
他には?
なぜですか
no, I meant abroad
Sorry, I mean taxis
actually, flights
No, in Germany
I asked about taxis
great, and what about trains?
Ok and hotels?
thanks! Why?
what was the limit again?
make it a list of 3
only the first 3
what now?
who should attend?
which is worse?
why not?
can you add one more?
ありがとうございます。では、7時間の便の場合はいかがでしょうか。
海外も？
just tell me who approves it
Thanks. Can you tell me when they expire?
どっちがいい？
そうじゃなくて海外の場合
違います、慶弔休暇です
いや、介護休暇のほう
育児の場合を聞いているんですが
承知いたしました。ちなみに海外の場合はいかがでしょうか。
3つに絞って
どうすればいい？
それから？
誰に連絡すればいい？電話番号は？
その研修って絶対出ないとだめ?自分はS等級
じゃあ52歳の父の分は?
それに加えて1人いくらかかるの
それぞれどれくらいかかる？
上長が承認していれば大丈夫ということでしょうか？""".splitlines()

ONCE_MORE = """make it 4 steps
only the first two
as a table, please
shorter please
in Japanese
Would it be possible to have that in Japanese?
Are you sure?
really?
is that right?
says who?
what now?
what should I do?
もう一度、簡潔に
テーブルで
どうすればいい？
who told you that?
can you show me the source?
表にして
英語で一言で
いや、日本語でお願い
もっとわかりやすく
本当ですか
念のため確認ですが、本当に間違いないでしょうか。
出典は？""".splitlines()

WHOLE_TEXTS = """Name three planets of the solar system
Let it snow
Thank them
I like it
not those
What are the risks of smoking?
how come?
Who is the president?
What is the height of Mount Fuji?
But I like cats
What time is it?
Is it raining?
Is it true that cats sleep all day?
How is it going?
Who is that?
Do you like that song?
How are you?
no more
How do I say thank you in Japanese?
thanks!
In which year did Mozart die?
On which day is Easter?
Give me an example sentence with "expense"
For sale
Who was the first one on the Moon?
ok
and
What is the deadline for notifying the infrastructure team for a P-1 incident?
富士山の高さは
富士山の高さは?
日本の首都は?
天気は?
誰が好き?
どこに住んでいますか
富士山はいつ噴火しましたか
誰が源氏物語を書きましたか
1+1は?
日本一高い山は?
東京と大阪だとどちらが人口が多いですか
世界で一番大きい国は?
今日は何日ですか
いま何時?
これは何ですか
じゃがいもの値段は
サーバーが落ちました！誰に連絡すればいい？
では、また
それはいいですね
領収書をなくしました
ありがとう
no, that is not it
Who will win the world cup?
Which is the highest mountain in Japan?
tell me a joke
No, who is the president of France?
actually I like cats
いや、富士山の高さ
ピアニストは団員じゃなくてもOK?
もっと光を""".splitlines()


@pytest.mark.parametrize("text", FOLLOW_UPS)
def test_a_text_that_says_nothing_by_itself_is_a_follow_up(text: str) -> None:
    assert is_follow_up(text)


@pytest.mark.parametrize("text", [*WHOLE_TEXTS, "", "and " * 30, "what if " + "x" * 200])
def test_a_text_that_says_what_it_is_about_is_none(text: str) -> None:
    assert not is_follow_up(text)


@pytest.mark.parametrize("text", ONCE_MORE)
def test_a_text_that_asks_for_the_same_answer_is_a_follow_up(text: str) -> None:
    assert is_follow_up(text)
    assert asks_once_more(text)


@pytest.mark.parametrize("text", ["and abroad?", "two more", "じゃあ海外は？", "Is it true that cats sleep?", "thanks"])
def test_a_text_that_asks_for_another_answer_does_not_ask_once_more(text: str) -> None:
    assert not asks_once_more(text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("no, I meant abroad", "abroad"),
        ("Actually, flights", "flights"),
        ("I asked about taxis", "taxis"),
        ("no, customer contracts", "customer contracts"),
        ("そうじゃなくて海外の場合", "海外の場合"),
        ("いや、介護休暇のほう", "介護休暇のほう"),
        ("and abroad?", ""),
        ("no, thanks", ""),
        ("no", ""),
        ("違います", ""),
        ("in Japanese, please", ""),
    ],
)
def test_a_correction_says_what_was_meant(text: str, meant: str) -> None:
    assert meant_instead(text) == meant
    assert is_follow_up(text) or not meant


SMALL_TALK = """thanks!
ok
OK, thank you very much.
Great, that helps!
I see, thanks for the info
ありがとうございます！
なるほど、ありがとう
ＯＫです
承知いたしました。
分かりました、助かります
了解です
ありがとう、助かりました！
thanks 👍
Lovely, have a nice day!
ok cool
yes please
no
never mind
forget it
that's right
yes, that is correct
How are you?
はい
いえ、大丈夫です
お願いします
すみません
キャンセル
やっぱりやめます
以上です
お疲れ様です""".splitlines()

COMPLAINTS = """that's not what I asked
You didn't answer my question!
Your last answer was wrong
you are useless
thanks, but that is wrong
答えになってない
質問と違います
そんなこと聞いてない
わかりにくい
は？""".splitlines()


@pytest.mark.parametrize("text", [*SMALL_TALK, *COMPLAINTS])
def test_a_text_that_asks_nothing_is_small_talk(text: str) -> None:
    assert is_small_talk(text)
    assert not is_follow_up(text)


@pytest.mark.parametrize("text", SMALL_TALK)
def test_thanks_are_no_complaint(text: str) -> None:
    assert not is_complaint(text)


@pytest.mark.parametrize("text", COMPLAINTS)
def test_a_text_that_says_that_an_answer_was_no_help_is_a_complaint(text: str) -> None:
    assert is_complaint(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ok, and in Tokyo?",
        "right of way",
        "okra",
        "いいレストラン",
        "是正は？",
        "ありがとうと英語で",
        "承知しましたか",
        "ok " * 300,
    ],
)
def test_a_text_that_says_more_is_no_small_talk(text: str) -> None:
    assert not is_small_talk(text)


@pytest.mark.parametrize(
    ("earlier", "follow_up", "meant"),
    [
        ("When must a P-1 be reported?", "and a P-2?", "When must a P-2 be reported?"),
        ("P-1インシデントの連絡期限は", "じゃあＰ－２は？", "P-2インシデントの連絡期限は"),
        ("Ｐ－１の連絡期限は", "P-2は?", "P-2の連絡期限は"),
        ("Is a P-1 or a P-1 in doubt?", "and P-2", "Is a P-2 or a P-2 in doubt?"),
        ("When must a P-1 be reported?", "and a SEV2?", "When must a P-1 be reported?\nand a SEV2?"),
        ("What is the per diem?", "and abroad?", "What is the per diem?\nand abroad?"),
        ("Who approves a contract of 500k yen?", "and 6 million?", "Who approves a contract of 6 million jpy?"),
        ("50万円の契約は誰が承認しますか", "6,000,000円なら？", "6,000,000円の契約は誰が承認しますか"),
        ("12月24日に本番変更できますか", "１月６日は？", "1月6日に本番変更できますか"),
        ("Who approves 500k yen?", "and for 3 people?", "Who approves 500k yen?\nand for 3 people?"),
        ("Who approves 500k yen?", "and if it is over 2m yen?", "Who approves 500k yen?\nand if it is over 2m yen?"),
        ("May I drive 10 km?", "and 20?", "May I drive 10 km?\nand 20?"),
        ("Name 3 tasks", "2 more", "Name 3 tasks\n2 more"),
        ("What is the per diem?", "Great, and abroad?", "What is the per diem?\nand abroad?"),
        ("Ｐ－１の連絡期限は", "What about P-2?", "P-2の連絡期限は\nin English"),
        ("日当はいくら？", "and for trips abroad?", "日当はいくら？\nand for trips abroad?\nin English"),
        ("日当はいくら？\nin English", "じゃあ海外は？", "日当はいくら？\nじゃあ海外は？"),
        ("日当はいくら？", "USA?", "日当はいくら？\nUSA?"),
        ("日当を英語で教えて", "and for trips abroad?", "日当を英語で教えて\nand for trips abroad?"),
    ],
)
def test_another_member_of_a_series_takes_the_place_of_the_first_and_anything_else_is_added(
    earlier: str, follow_up: str, meant: str
) -> None:
    assert completed(earlier, follow_up) == meant


@pytest.mark.parametrize(
    ("earlier", "follow_up", "meant"),
    [
        ("北館の開館時間は？", "南館は？", "南館の開館時間は?"),
        ("北館の開館時間は何時からですか", "ありがとう。じゃあ南館だと？", "南館の開館時間は何時からですか"),
        ("国内のDSA手当は？", "USAなら", "USAのDSA手当は?"),
        ("北館の開館時間は？", "日曜の場合は？", None),
        ("北館はどこ？", "南館は？", None),
        ("P-1の期限は？", "P-2は？", None),
        ("What about 北館の開館時間?", "and the south?", None),
    ],
)
def test_a_follow_up_that_names_another_subject_is_the_question_of_that(
    earlier: str, follow_up: str, meant: str | None
) -> None:
    assert of_another(earlier, follow_up) == meant


def test_no_text_takes_long_to_be_told_apart() -> None:
    started = time.process_time()
    for piece in (
        "and ",
        "あと",
        "もっと",
        "短く",
        "a ",
        "だと",
        "please and ",
        "can you ",
        "what about ",
        "ok ",
        "どうも",
        "thanks ",
        "no, ",
        "really ",
        "not what i asked ",
        "いや、",
        "そうじゃなくて",
        "です",
        "本当に",
    ):
        for end in ("", "?", "step 1 !"):
            is_follow_up(piece * (70 // len(piece)) + end)
            is_small_talk(piece * (70 // len(piece)) + end)
    assert time.process_time() - started < 1
