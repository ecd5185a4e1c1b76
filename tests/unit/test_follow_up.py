"""Follow-ups: which texts take up the question before, and what they mean then."""

import time

import pytest

from a2a_hub.text.follow_up import completed, is_acknowledgement, is_follow_up

FOLLOW_UPS = """and for international trips?
And how about hotels?
what about P-3
how about abroad
but without a receipt?
and if it was over 10,000 yen?
what if it was lost
And who signs it?
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
なぜですか""".splitlines()

WHOLE_TEXTS = """What is the height of Mount Fuji?
And what is the height of Mount Fuji?
But why is the sky blue?
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
では、また
それはいいですね
領収書をなくしました
ありがとう
もっと光を""".splitlines()


@pytest.mark.parametrize("text", FOLLOW_UPS)
def test_a_text_that_says_nothing_by_itself_is_a_follow_up(text: str) -> None:
    assert is_follow_up(text)


@pytest.mark.parametrize("text", [*WHOLE_TEXTS, "", "and " * 30, "what if " + "x" * 200])
def test_a_text_that_says_what_it_is_about_is_none(text: str) -> None:
    assert not is_follow_up(text)


ACKNOWLEDGEMENTS = """thanks!
ok
OK, thank you very much.
Great, that helps!
I see, thanks for the info
ありがとうございます！
なるほど、ありがとう
ＯＫです
承知いたしました。
分かりました、助かります
了解です""".splitlines()


@pytest.mark.parametrize("text", ACKNOWLEDGEMENTS)
def test_thanks_are_an_acknowledgement(text: str) -> None:
    assert is_acknowledgement(text)


@pytest.mark.parametrize(
    "text",
    ["", "ok, and in Tokyo?", "thanks, but that is wrong", "okra", "ありがとうと英語で", "承知しましたか", "ok " * 300],
)
def test_a_text_that_says_more_is_no_acknowledgement(text: str) -> None:
    assert not is_acknowledgement(text)


@pytest.mark.parametrize(
    ("earlier", "follow_up", "meant"),
    [
        ("When must a P-1 be reported?", "and a P-2?", "When must a P-2 be reported?"),
        ("P-1インシデントの連絡期限は", "じゃあＰ－２は？", "P-2インシデントの連絡期限は"),
        ("Ｐ－１の連絡期限は", "P-2は?", "P-2の連絡期限は"),
        ("Is a P-1 or a P-1 in doubt?", "and P-2", "Is a P-2 or a P-2 in doubt?"),
        ("When must a P-1 be reported?", "and a SEV2?", "When must a P-1 be reported?\nand a SEV2?"),
        ("What is the per diem?", "and abroad?", "What is the per diem?\nand abroad?"),
    ],
)
def test_another_member_of_a_series_takes_the_place_of_the_first_and_anything_else_is_added(
    earlier: str, follow_up: str, meant: str
) -> None:
    assert completed(earlier, follow_up) == meant


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
    ):
        for end in ("", "?", "step 1 !"):
            is_follow_up(piece * (70 // len(piece)) + end)
            is_acknowledgement(piece * (70 // len(piece)) + end)
    assert time.process_time() - started < 1
