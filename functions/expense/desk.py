"""The expense desk: it answers from the policy only, and says so if no entry fits."""

from collections.abc import Iterator

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import SendMessageRequest, text_of
from a2a_hub.a2a.reply import Data, Piece, Question, Text
from a2a_hub.agents.knowledge import Rule, some_titles, topic_of
from a2a_hub.agents.question_form import AnswerFormat, first_sentence, requested_format, split_questions
from a2a_hub.text.language import Language, answer_language
from a2a_hub.text.normalization import question_text
from functions.expense.knowledge import Policy

_ABOUT_EXPENSES = ""
_MAX_ANSWERS = 3

_EMPTY_QUESTION = {
    Language.EN: "What would you like to know about expenses? I can answer questions on: {topics}.",
    Language.JA: "経費について何をお知りになりたいですか。お答えできるのは次の項目です：{topics}。",
}
_NOT_IN_POLICY = {
    Language.EN: "The expense policy that I know has no entry on this, so I do not want to guess. "
    "I can answer questions on: {topics}. For anything else please ask the accounting department.",
    Language.JA: "この点についての記載は、私の持っている経費規程にはありません。推測でのお答えは控えます。"
    "お答えできるのは次の項目です：{topics}。それ以外は経理部にお問い合わせください。",
}
_NOT_EXPENSES = {
    Language.EN: "I only answer questions on expenses. I can tell you about: {topics}.",
    Language.JA: "私がお答えできるのは経費についての質問だけです。お答えできる項目：{topics}。",
}


class ExpenseDesk:
    """The agent. Holds no state between questions."""

    def __init__(self, policy: Policy) -> None:
        self._topics = {topic.id: topic for topic in policy.topics}
        self._rules = (
            *(Rule.of(topic.id, rank=topic.rank, clues=topic.clues) for topic in policy.topics),
            Rule.of(_ABOUT_EXPENSES, rank=0, clues=policy.about_expenses),
        )

    def answer(self, request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        """Yield the policy's answer in the question's language, and as data the topic and its figures."""
        question = question_text(text_of(request.message))
        language = answer_language(question)
        if not question:
            yield Question(_EMPTY_QUESTION[language].format(topics=self._titles(language)))
            return
        chosen = self._chosen(question)
        call.record["topic"] = chosen[0] if chosen else None
        topics = [self._topics[each] for each in chosen if each in self._topics]
        if not topics:
            text = _NOT_IN_POLICY if chosen else _NOT_EXPENSES
            yield Text(text[language].format(topics=self._titles(language)))
            yield Data({"topic": None, "answered": False, "topics": list(self._topics)})
            return
        answers = [topic.answer_ja if language is Language.JA else topic.answer_en for topic in topics]
        if requested_format(question) is AnswerFormat.BRIEF:
            # The fact stands in the first sentence.
            answers = [first_sentence(answer) for answer in answers]
        answer = "\n\n".join(answers)
        facts = {name: value for topic in reversed(topics) for name, value in topic.facts.items()}
        yield Text(answer)
        yield Data({"topic": topics[0].id, "answered": True, "answer": answer, "facts": facts})

    def _chosen(self, question: str) -> list[str]:
        """Return the topic of each question in the text if there are several, else that of the whole text."""
        found = [topic_of(each, self._rules) for each in split_questions(question)]
        several = list(dict.fromkeys(topic for topic in found if topic in self._topics))
        if len(several) > 1:
            return several[:_MAX_ANSWERS]
        whole = topic_of(question, self._rules)
        return [] if whole is None else [whole]

    def _titles(self, language: Language) -> str:
        topics = self._topics.values()
        return some_titles(
            [topic.title_ja if language is Language.JA else topic.title_en for topic in topics], language
        )
