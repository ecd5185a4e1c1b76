"""The agent for general questions, and the almanac: a model that answers from bundled facts, word for word, or not at all."""

import re
from collections.abc import Iterator
from typing import Protocol

from a2a_hub.a2a.agent import Answer
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.declining import Reason, declining
from a2a_hub.a2a.model import SendMessageRequest, text_of
from a2a_hub.a2a.reply import Data, Piece, Question, Text
from a2a_hub.agents.knowledge import searchable
from a2a_hub.grounding.evidence import Evidence
from a2a_hub.text.follow_up import is_complaint, is_follow_up, is_small_talk, subject_of
from a2a_hub.text.language import Language, answer_language
from functions.general.knowledge import Fact

_EMPTY_QUESTION = {
    Language.EN: "What would you like to know?",
    Language.JA: "どのようなことをお知りになりたいですか。",
}
_UNKNOWN = {
    Language.EN: "I do not know the answer, and I do not guess. "
    "No language model is configured, so I can only look things up in a small built-in almanac: "
    "capitals, mountains, rivers, planets, science, units, history, Japan. "
    "An administrator can configure a language model, and then I can answer general questions. "
    "If another agent of the hub should know, name the subject in your question; “/routes” lists the agents.",
    Language.JA: "その答えはわかりません。推測でのお答えは控えます。"
    "言語モデルが設定されていないため、内蔵の小さな年鑑（首都、山、川、惑星、科学、単位、歴史、日本のことなど）"
    "にある事柄だけをお答えできます。"
    "管理者が言語モデルを設定すると、一般的な質問にお答えできるようになります。"
    "ハブのほかのエージェントへのご質問でしたら、何についての質問かを書き添えてください。「/ルート」で一覧を確認できます。",
}
_NO_WORDS = {
    # Emoji and ASCII marks show no language.
    Language.EN: "What would you like to know? Please write your question in words.\n"
    "どのようなことをお知りになりたいですか。ご質問を言葉で入力してください。",
    Language.JA: "どのようなことをお知りになりたいですか。ご質問を言葉で入力してください。",
}
_UNDERSTOOD = {
    Language.EN: "All right. Just ask whenever you want to know something.",
    Language.JA: "承知しました。ほかに知りたいことがあれば、いつでもご質問ください。",
}
_NO_HELP = {
    Language.EN: "I am sorry that this did not help. Please ask again in other words, and name the subject of your question. "
    "“/routes” lists the agents, and “/bad” rates the last answer.",
    Language.JA: "お役に立てず申し訳ありません。何についてのご質問かを書き添えて、別の言い方でもう一度お尋ねください。"
    "「/ルート」でエージェントの一覧を確認でき、「/悪い」で直前の回答を評価できます。",
}
_REST_UNKNOWN = {
    Language.EN: "The rest of your question is not in my built-in almanac, so I cannot answer it.",
    Language.JA: "そのほかのご質問は内蔵の年鑑にないため、お答えできません。",
}
_HINT = (
    "No model is configured, so this function answers from its almanac alone. "
    "Set ANSWER_MODEL to a Gemini model on Vertex AI, and GOOGLE_CLOUD_PROJECT; or ANSWER_MODEL_URL."
)
# A returned greeting does not count as the answer to a question.
_COURTESIES = frozenset({"greeting", "thanks", "goodbye", "understood"})
# The almanac's questions are shorter.
_MAX_QUESTION_CHARACTERS = 500
_MAX_EVIDENCE = 40
_TITLE = {Language.EN: "Almanac", Language.JA: "年鑑"}
# After a mark that ends a sentence; a point only after a word, so that "Mt. Fuji" stays whole.
_SENTENCE_END = re.compile(
    r"(?<=[?!。？！\n])|(?<=[a-z0-9)]{3}\.)\s|,? and (?=(?:how|what|where|who|when|which)\b)", re.IGNORECASE
)
# The requested language is no part of the question.
_LANGUAGE = re.compile(
    r"(?:^|,? )(?:and |now )?in (?:english|japanese)(?:,? please)?(?=[?.!]*$)"
    r"|(?:日本語|英語)で(?:も)?(?=教え|答え|お願い|言って|説明)",
    re.IGNORECASE | re.MULTILINE,
)
# Nor is the person who wants to know it, or a remark such as "by the way".
_INTRODUCTION = re.compile(
    r"^[^、。?？]{1,12}?(?:に|から)(?:(?P<subject>[^、。?？]{2,20})を)?[聞訊]かれ(?:た|まし(?:た|て))"
    r"(?:の|ん)?(?:です|だ)?(?:けれども?|けど|が)?、?"
    r"|^(?:ちょっと|すこし|少し|一つ|ひとつ)?(?:お?(?:聞き|伺い|尋ね)し?たい)(?:の|ん|こと)(?:です|だ|があるの?です|があるんだ)?(?:けれども?|けど|が)、?"
    r"|^(?:(?:by the way|in passing|just curious|out of curiosity|(?:a |one )?(?:quick|short|last|silly) question)"
    r"(?: [^,:.?!]{1,24})?(?:[,:]| ?[-–—]) ?)?"
    r"(?:(?:my|our|an?|the|one of my) (?:[\w-]+ ){1,3}(?:just |often )?"
    r"(?:asked|asks|wonders|wondered|(?:wants?|wanted|would like|needs) to know)(?: me| us)? "
    r"(?=how|what|who|when|where|which))?",
    re.IGNORECASE,
)
_IS_QUESTION = re.compile(r"[?？]\s*$|か。?\s*$")


class Model(Protocol):
    """A source of answers: the bundled almanac, or a language model. Thread-safe; one per process."""

    def answer(self, question: str, *, language: Language, call: Call) -> Iterator[Piece]:
        """Yield the answer to a non-empty question in `language`, its text piece by piece as it becomes known.

        Each question is answered independently. The outcome is added to `call.record`.
        """
        ...


def answered_by(model: Model) -> Answer:
    """Return the agent: it answers with the model; with a question in return if there is no text."""

    def answer(request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        question = text_of(request.message)
        language = answer_language(question)
        if not question:
            yield Question(_EMPTY_QUESTION[language])
            return
        yield from model.answer(question, language=language, call=call)

    return answer


class Almanac:
    """A `Model` that knows a few hundred facts and nothing else."""

    def __init__(self, facts: tuple[Fact, ...]) -> None:
        self._facts = facts

    def answer(self, question: str, *, language: Language, call: Call) -> Iterator[Piece]:
        """See `Model`."""
        call.record["model"] = "almanac"
        facts, open_questions = self.look_up(question)
        if not facts and is_small_talk(question):
            yield Text((_NO_HELP if is_complaint(question) else _UNDERSTOOD)[language])
            yield Data({"source": "almanac", "answered": True, "facts": []})
            return
        if not facts:
            data = {"source": "almanac", "answered": False, "hint": _HINT}
            if len(question) > _MAX_QUESTION_CHARACTERS or searchable(question).strip():
                yield declining(Reason.NOTHING_KNOWN, data)
                yield Text(_UNKNOWN[language])
            else:
                yield Text(_NO_WORDS[language])
                yield Data(data)
            return
        rest = f"\n{_REST_UNKNOWN[language]}" if open_questions else ""
        yield Text(self.text_of(facts, language) + rest)
        yield Data({"source": "almanac", "answered": not open_questions, "facts": [fact.id for fact in facts]})

    @staticmethod
    def text_of(facts: list[Fact], language: Language) -> str:
        """Return the facts as text, one per line."""
        return "\n".join(fact.text(language) for fact in facts)

    def evidence(self, question: str, language: Language) -> list[Evidence]:
        """Return the facts that a question touches, also one that none of them answers alone."""
        words = searchable(question[:_MAX_QUESTION_CHARACTERS])
        found = [fact for fact in self._facts if fact.touches(words)][:_MAX_EVIDENCE]
        context = _TITLE[language]
        return [
            Evidence(number, fact.text(language), (context,), f"almanac#{fact.id}")
            for number, fact in enumerate(found, 1)
        ]

    def look_up(self, question: str) -> tuple[list[Fact], bool]:
        """Return the facts that answer the question, and True if a question in it has no answer.

        One fact answers the whole text, or else one fact per sentence. A follow-up on a line of its own is read together with the
        lines before.
        """
        if len(question) > _MAX_QUESTION_CHARACTERS:
            return [], True
        question = subject_of(question)
        question = _INTRODUCTION.sub(r"\g<subject>", _LANGUAGE.sub("", question).strip())
        if whole := self._fact_for(question):
            return [whole], False
        before, _, last = question.rpartition("\n")
        if before and is_follow_up(last):
            # Without an answer of its own, the earlier question's is none.
            fact = self._fact_for(last, before=before)
            return ([fact], False) if fact else ([], True)
        sentences = [sentence for sentence in _SENTENCE_END.split(question) if sentence.strip()]
        answers = [(sentence, self._fact_for(sentence)) for sentence in sentences]
        is_open = any(not fact and _IS_QUESTION.search(text) for text, fact in answers)
        facts = {fact.id: fact for _, fact in answers if fact and not (is_open and fact.id in _COURTESIES)}
        return list(facts.values()), is_open

    def _fact_for(self, text: str, *, before: str = "") -> Fact | None:
        words, words_before = searchable(text), searchable(before)
        strengths = ((fact.strength(words, before=words_before), fact) for fact in self._facts)
        strongest = max(strengths, key=lambda pair: pair[0])
        return strongest[1] if strongest[0] else None
