"""The almanac: what it knows in many wordings, and silence about everything else."""

import pytest

from a2a_hub.agents.conversation import in_conversation
from a2a_hub.text.language import language_of
from functions.general.almanac import Almanac, answered_by
from functions.general.app import KNOWLEDGE
from functions.general.knowledge import load
from tests.unit.agent_answers import ask

FACTS = load(KNOWLEDGE)
AGENT = answered_by(Almanac(FACTS))

KNOWN = {
    "What is the height of Mount Fuji?": "3,776 m",
    "how high is fuji?": "3,776 m",
    "What's Mt. Fuji's elevation in feet?": "12,389 ft",
    "Could you tell me the exact height of Mount Fuji, please?": "3,776.24 m",
    "Hello! How tall is Mount Fuji in Japan?": "3,776 m",
    "富士山の高さは": "3,776 m",
    "富士山の標高は何メートルですか？": "3,776 m",
    "Mt.Fujiの高さを教えてください": "3,776 m",
    "ふじさんのたかさは？": "3,776 m",
    "富士山ってどのくらい高い?": "3,776 m",
    "日本で一番高い山は？": "富士山",
    "Which mountain is the highest in Africa?": "Kilimanjaro",
    "北岳の高さは": "3,193 m",
    "富士山はどこの県にありますか": "静岡県と山梨県",
    "What is the longest river in the world?": "Nile",
    "日本で一番長い川は何ですか": "信濃川",
    "What is the capital of Australia?": "Canberra",
    "オーストラリアの首都はどこ?": "キャンベラ",
    "Canberra is the capital of which country?": "Australia",
    "キャンベラはどこの国の首都?": "オーストラリア",
    "How far is the Moon from the Earth?": "384,400 km",
    "光の速さはどれくらい?": "299,792,458 m",
    "水の沸点は何度?": "100 °C",
    "金の元素記号は?": "Au",
    "How many minutes are in a day?": "1,440",
    "1マイルは何キロ?": "1.609344",
    "円周率を小数点以下10桁まで教えて": "3.1415926535",
    "When did the Berlin Wall fall?": "1989",
    "第二次世界大戦はいつ終わりましたか": "1945年",
    "Who wrote The Tale of Genji?": "Murasaki Shikibu",
    "源氏物語の作者は誰ですか": "紫式部",
    "Who painted the Mona Lisa?": "Leonardo da Vinci",
    "What does CPU stand for?": "central processing unit",
    "日本の都道府県はいくつありますか": "47",
    "Thanks, that helped a lot.": "You are welcome",
    "Thanks, that was very helpful!": "You are welcome",
    "ありがとう😊助かった!": "どういたしまして",
    "何ができますか": "年鑑",
    "このハブはどんな質問に答えられますか": "/ルート",
    "What can you do?": "/routes",
    "OK!": "All right",
    "了解です": "承知しました",
    "Are you ChatGPT?": "a program",
    "あなたは人間ですか": "プログラム",
    "Can I speak to a human?": "cannot connect you",
    "人間の担当者と話したい": "おつなぎすることはできません",
    "In passing, my son asked me how high Mount Fuji is – do you know?": "3,776 m",
    "A friend wants to know what the capital of Australia is": "Canberra",
    "Quick question before lunch: how high is Mount Fuji?": "3,776 m",
    "By the way, what's the capital of Australia?": "Canberra",
    "息子に富士山の高さを聞かれたんだけど、何メートルだっけ?": "3,776 m",
    "友達に聞かれたんですが、オーストラリアの首都はどこですか": "キャンベラ",
    "ちょっと聞きたいんだけど、富士山の高さは?": "3,776 m",
}

NOT_KNOWN = [
    "Are you sure?",
    "Is it OK to eat raw eggs?",
    "talk about people",
    "What is the population of Mount Fuji?",
    "富士山の人口は",
    "富士山の天気は?",
    "What is the height of Mount Tate?",
    "My son asked me what the height of Mount Tate is",
    "My son asked Mount Fuji",
    "息子に槍ヶ岳の高さを聞かれたんだけど、何メートルだっけ?",
    "槍ヶ岳の高さは?",
    "How high is the crater of Mount Fuji?",
    "富士山の火口の高さは",
    "How tall is Fuji Television?",
    "富士通の高さは",
    "新富士駅の高さは",
    "富士山より高い山は?",
    "Mount Fuji",
    "What is the height of Mount Fuji compared to K2?",
    "What is the highest mountain in Europe?",
    "What is the capital of New South Wales?",
    "What is the capital of Papua New Guinea?",
    "What is the former capital of Japan?",
    "Is Sydney the capital of Australia?",
    "What is not the capital of France?",
    "東京の高さは",
    "東京都の首都は",
    "What is the boiling point of water at 3,000 metres?",
    "Who created C++?",
    "Who is the prime minister of Japan?",
    "Why is the Moon 384,400 km from the Earth?",
    "明日の天気は?",
    "Tell me a joke.",
    "Who wrote The Tale of Genji Museum guide?",
    "What is the height of Mount Фудзи?",
]


@pytest.mark.parametrize(("question", "fact"), KNOWN.items())
def test_a_fact_is_told_in_the_language_of_the_question(question: str, fact: str) -> None:
    text, data = ask(AGENT, question)
    assert fact in text
    assert data["answered"] is True
    assert language_of(text) is language_of(question)


@pytest.mark.parametrize("question", NOT_KNOWN)
def test_a_near_miss_is_not_answered(question: str) -> None:
    text, data = ask(AGENT, question)
    assert data["answered"] is False
    assert "facts" not in data
    assert language_of(text) is language_of(question)
    assert "language model" in text or "言語モデル" in text


def test_two_questions_get_two_answers() -> None:
    text, data = ask(AGENT, "What is the height of Mount Fuji? And what is the capital of France?")
    assert "3,776 m" in text
    assert "Paris" in text
    assert data["answered"] is True


def test_the_part_that_is_not_known_is_said_to_be_unknown() -> None:
    text, data = ask(AGENT, "富士山の高さは？槍ヶ岳の高さは？")
    assert "3,776 m" in text
    assert text.endswith("そのほかのご質問は内蔵の年鑑にないため、お答えできません。")
    assert data["answered"] is False


def test_two_questions_in_one_sentence_get_two_answers() -> None:
    question = "How high is Mount Fuji and how long is the Shinano river?"
    assert ask(AGENT, question)[1]["facts"] == ["height:Mount Fuji", "length:The Shinano River"]


@pytest.mark.parametrize(
    "question", ["富士山の高さを英語で教えて", "What is the height of Mount Fuji? In English, please."]
)
def test_the_language_that_is_asked_for_is_no_part_of_the_question(question: str) -> None:
    assert ask(AGENT, question)[0].startswith("Mount Fuji is 3,776 m")


def test_a_long_text_is_no_question_for_an_almanac() -> None:
    _, data = ask(AGENT, "What is the height of Mount Fuji? " * 100)
    assert data["answered"] is False


def test_the_administrators_hint_is_data_and_no_part_of_the_text() -> None:
    text, data = ask(AGENT, "Tell me a joke.")
    assert "Vertex AI" in data["hint"]
    assert "Vertex AI" not in text


def test_without_a_text_the_agent_asks_back() -> None:
    assert ask(AGENT, "") == ("What would you like to know?", {})


def test_every_fact_is_told_in_both_languages_and_has_an_id_of_its_own() -> None:
    assert len(FACTS) > 120
    assert len({fact.id for fact in FACTS}) == len(FACTS)
    for fact in FACTS:
        assert (language_of(fact.en), language_of(fact.ja)) == ("en", "ja"), fact.id


def test_a_text_without_a_word_is_asked_for_one() -> None:
    english, japanese = "What would you like to know?", "どのようなことをお知りになりたいですか。"
    for text in ("👍", "?"):
        assert english in ask(AGENT, text)[0]
        assert japanese in ask(AGENT, text)[0]
    assert ask(AGENT, "。。。")[0].startswith(japanese)


@pytest.mark.parametrize(
    ("questions", "told"),
    [
        (("What is the height of Mount Fuji?", "and Everest?", "what about K2"), ("3,776", "8,849", "8,611")),
        (("フランスの首都は", "じゃあドイツは?", "スペインは?"), ("パリ", "ベルリン", "マドリード")),
        (("What is the capital of France?", "and of Mars?"), ("Paris", "I do not know the answer")),
    ],
)
def test_a_follow_up_asks_the_same_of_something_else(questions: tuple[str, ...], told: tuple[str, ...]) -> None:
    answer = in_conversation(AGENT, alone_first=False)
    for question, words in zip(questions, told, strict=True):
        assert words in ask(answer, question, context_id="c")[0]


def test_what_is_unknown_is_said_with_the_way_to_the_agents_that_may_know() -> None:
    assert "/routes" in ask(AGENT, "Who will win the next election?")[0]
    assert "/ルート" in ask(AGENT, "次の選挙で勝つのは誰ですか")[0]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("never mind", "All right."),
        ("yes please", "All right."),
        ("はい", "承知しました。"),
        ("いえ、大丈夫です", "承知しました。"),
        ("that's not what I asked", "I am sorry"),
        ("答えになってない", "申し訳ありません"),
        ("thanks!", "You are welcome."),
    ],
)
def test_small_talk_without_an_entry_gets_a_reply_too(text: str, told: str) -> None:
    reply, data = ask(AGENT, text)
    assert told in reply
    assert data["answered"] is True


@pytest.mark.parametrize(
    "text",
    [
        "お疲れ様です。P-1の件ですが、顧客への報告は何分ごとですか？",
        "Hello all,\nthe portal is down.\nDo we have to tell the customers?",
        "承知いたしました。ちなみに海外の場合はいかがでしょうか。",
    ],
)
def test_a_greeting_back_is_no_answer_to_the_question_behind_the_greeting(text: str) -> None:
    reply, data = ask(AGENT, text)
    assert data["declines"] == "nothing_known"
    assert not reply.startswith(("こんにちは", "Hello", "承知"))


def test_a_follow_up_without_an_answer_does_not_get_that_of_the_question_before() -> None:
    agent = in_conversation(AGENT, alone_first=False)
    ask(agent, "Who are you?", context_id="one")
    assert ask(agent, "and taxis?", context_id="one")[1]["answered"] is False
    ask(agent, "富士山の高さは", context_id="two")
    assert ask(agent, "本当ですか", context_id="two")[0].startswith("富士山の高さは3,776 m")
