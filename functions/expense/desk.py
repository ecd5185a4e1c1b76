"""The expense desk and its policy, one entry per topic: it answers from the policy only, and says so if no entry fits."""

from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.declining import Reason, declining
from a2a_hub.a2a.model import SendMessageRequest, text_of
from a2a_hub.a2a.reply import Data, Piece, Question, Text
from a2a_hub.agents.knowledge import Rule, Wording, read_folder, some_titles, topic_of, topics_of
from a2a_hub.agents.question_form import (
    AnswerFormat,
    asking_paragraph,
    first_sentence,
    requested_format,
    sentences,
    split_questions,
)
from a2a_hub.grounding.evidence import Evidence
from a2a_hub.text.follow_up import subject_of
from a2a_hub.text.language import Language, answer_language
from a2a_hub.text.normalization import question_text

Fact = str | int | float | bool
_ABOUT_EXPENSES = ""
_MAX_ANSWERS = 3
_HIGHEST_RANK = 1_000
_SOURCE = "expense-policy#"

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


class Topic(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry. `facts` are the figures of the answer, for programs."""

    id: str
    rank: int
    clues: tuple[str, ...]
    title: Wording
    answer: Wording
    facts: dict[str, Fact]


class Policy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All entries, and the terms of questions about expenses that no entry answers.

    `not_covered` are things of which the policy says nothing, whatever else stands in the question: a hotel for pets is no hotel.
    """

    about_expenses: tuple[str, ...] = ()
    not_covered: tuple[str, ...] = ()
    topics: tuple[Topic, ...] = ()


def load(folder: Path) -> Policy:
    """Return the policy in the TOML files of a folder. Raises ValueError if an entry is incomplete."""
    files = read_folder(folder, Policy)
    return Policy(
        about_expenses=tuple(term for file in files for term in file.about_expenses),
        not_covered=tuple(term for file in files for term in file.not_covered),
        topics=tuple(topic for file in files for topic in file.topics),
    )


class ExpenseDesk:
    """The agent. Holds no state between questions."""

    def __init__(self, policy: Policy) -> None:
        self._topics = {topic.id: topic for topic in policy.topics}
        self._rules = (
            *(Rule.of(topic.id, rank=topic.rank, clues=topic.clues) for topic in policy.topics),
            Rule.of(_ABOUT_EXPENSES, rank=0, clues=policy.about_expenses),
            Rule.of(_ABOUT_EXPENSES, rank=_HIGHEST_RANK, clues=policy.not_covered),
        )

    def answer(self, request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        """Yield the policy's answer in the question's language, and as data the topic and its figures."""
        text = text_of(request.message)
        question, asking = question_text(text), question_text(asking_paragraph(text))
        language = answer_language(asking)
        if not question:
            yield Question(_EMPTY_QUESTION[language].format(topics=self._titles(language)))
            return
        chosen = self._chosen(asking)
        if not any(each in self._topics for each in chosen):
            chosen = self._chosen(question)
        call.record["topic"] = chosen[0] if chosen else None
        topics = [self._topics[each] for each in chosen if each in self._topics]
        if not topics:
            yield from self.abstention(question, language)
            return
        answers = [topic.answer.in_(language) for topic in topics]
        if requested_format(question) is AnswerFormat.BRIEF:
            # The fact stands in the first sentence.
            answers = [first_sentence(answer) for answer in answers]
        answer = "\n\n".join(answers)
        yield Text(answer)
        yield Data({"topic": topics[0].id, "answered": True, "answer": answer, "facts": _facts(topics)})

    def evidence(self, question: str, language: Language) -> Sequence[Evidence]:
        """See `Knowledge`: the whole policy, the topics of the question first."""
        topics = dict.fromkeys((*topics_of(question, self._rules), *self._topics))
        numbers = count(1)
        return [
            Evidence(next(numbers), sentence, (topic.title.in_(language),), _SOURCE + topic.id)
            for topic in (self._topics[each] for each in topics if each in self._topics)
            for sentence in sentences(topic.answer.in_(language))
        ]

    def data(self, cited: Sequence[Evidence], _: Language) -> dict[str, Any]:
        """See `Knowledge`."""
        topics = [self._topics[each] for each in dict.fromkeys(each.source.removeprefix(_SOURCE) for each in cited)]
        return {"topic": topics[0].id, "facts": _facts(topics)}

    def abstention(self, question: str, language: Language) -> Iterator[Piece]:
        """See `Knowledge`."""
        text = _NOT_IN_POLICY if self._chosen(question) else _NOT_EXPENSES
        yield declining(Reason.NOTHING_KNOWN, {"topic": None, "answered": False, "topics": list(self._topics)})
        yield Text(text[language].format(topics=self._titles(language)))

    def _chosen(self, question: str) -> list[str]:
        """Return the topic of each question in the text if there are several, else that of the whole text."""
        question = subject_of(question)
        found = [topic_of(each, self._rules) for each in split_questions(question)]
        several = list(dict.fromkeys(topic for topic in found if topic in self._topics))
        if len(several) > 1:
            return several[:_MAX_ANSWERS]
        whole = topic_of(question, self._rules)
        return [] if whole is None else [whole]

    def _titles(self, language: Language) -> str:
        return some_titles([topic.title for topic in self._topics.values()], language)


def _facts(topics: Sequence[Topic]) -> dict[str, Any]:
    return {name: value for topic in reversed(topics) for name, value in topic.facts.items()}
