"""The advisor: it answers from the practices, with the requested number of tasks in order, and invents none."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import SendMessageRequest, text_of
from a2a_hub.a2a.reply import Data, Piece, Question, Text
from a2a_hub.agents.knowledge import Rule, some_titles, topic_of, topics_of
from a2a_hub.agents.question_form import AnswerFormat, first_sentence, requested_format, split_questions
from a2a_hub.text.language import Language, answer_language
from a2a_hub.text.normalization import question_text
from functions.pm.counting import requested_portion
from functions.pm.knowledge import Practices, Task, Topic

_DEFAULT_COUNT = 5
_MAX_ANSWERS = 3

_EMPTY_QUESTION = {
    Language.EN: "What would you like to know about running a project? I can help with: {topics}.",
    Language.JA: "プロジェクトの進め方について、何をお手伝いしましょうか。対応できる項目：{topics}。",
}
_NOT_KNOWN = {
    Language.EN: "I have nothing on this among the project management practices that I know. "
    "I can help with: {topics}.",
    Language.JA: "この点は、私の知っているプロジェクト管理の知識にはありません。対応できる項目：{topics}。",
}
_FEWER = {
    Language.EN: "These are all {known} that I know; you asked for {requested}.",
    Language.JA: "ご希望は{requested}件でしたが、私が知っているのは以上の{known}件です。",
}
_NO_MORE = {
    Language.EN: "I know no more than these {known}.",
    Language.JA: "私が知っているのは全部で{known}件です。",
}
_COLUMNS = {Language.EN: "| No. | What | How |", Language.JA: "| 番号 | 項目 | 内容 |"}
_COMPARES = re.compile(
    r"\bdifferen(?:ce|t)\b|\bdiffers?\b|\bcompar|\bvs\b|\bversus\b|違い|ちがい|差は|比較|比べ|使い分け"
)


class Advisor:
    """The agent. Holds no state between questions."""

    def __init__(self, practices: Practices) -> None:
        self._topics = {topic.id: topic for topic in practices.topics}
        self._rules = tuple(Rule.of(topic.id, rank=topic.rank, clues=topic.clues) for topic in practices.topics)

    def answer(self, request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        """Yield a practice and its tasks; only tasks if a number is requested; a sentence each if two practices are compared."""
        question = question_text(text_of(request.message))
        language = answer_language(question)
        if not question:
            yield Question(_EMPTY_QUESTION[language].format(topics=self._titles(language)))
            return
        found = topics_of(question, self._rules)
        chosen = found[0] if found else None
        call.record["topic"] = chosen
        if chosen is None:
            yield Text(_NOT_KNOWN[language].format(topics=self._titles(language)))
            yield Data({"topic": None, "answered": False, "topics": list(self._topics)})
            return
        if len(found) > 1 and _COMPARES.search(question.casefold()):
            yield from _compare([self._topics[each] for each in found[:2]], language)
            return
        several = self._several(question)
        if len(several) > 1:
            yield from _answer_each(several, language)
            return
        yield from _answer(self._topics[chosen], question, language)

    def _several(self, question: str) -> list[tuple[str, Topic]]:
        """Return the practices of separate questions, each with its question; a follow-up is one question."""
        if "\n" in question:
            return []
        found = [(each, topic_of(each, self._rules)) for each in split_questions(question)]
        parts = {topic: (each, self._topics[topic]) for each, topic in found if topic is not None}
        return list(parts.values())[:_MAX_ANSWERS]

    def _titles(self, language: Language) -> str:
        return some_titles([topic.title.in_(language) for topic in self._topics.values()], language)


def _answer_each(parts: Sequence[tuple[str, Topic]], language: Language) -> Iterator[Piece]:
    tasks: list[Any] = []
    for number, (question, topic) in enumerate(parts):
        if number:
            yield Text("\n\n")
        for piece in _answer(topic, question, language):
            if isinstance(piece, Data):
                tasks += piece.value["tasks"]
            else:
                yield piece
    first = parts[0][1]
    yield Data({"topic": first.id, "answered": True, "also": [topic.id for _, topic in parts[1:]], "tasks": tasks})


def _compare(topics: Sequence[Topic], language: Language) -> Iterator[Piece]:
    yield Text("\n".join(f"- {first_sentence(topic.about.in_(language))}" for topic in topics))
    yield Data({"topic": topics[0].id, "answered": True, "compared": [topic.id for topic in topics], "tasks": []})


def _answer(topic: Topic, question: str, language: Language) -> Iterator[Piece]:
    portion, form = requested_portion(question, usual=_DEFAULT_COUNT), requested_format(question)
    counted = portion.count is not None
    if form is AnswerFormat.BRIEF and not counted:
        yield Text(first_sentence(topic.about.in_(language)))
        yield Data(_data(topic, (), language, requested=None))
        return
    end = portion.skipped + (portion.count or _DEFAULT_COUNT)
    tasks = topic.tasks[portion.skipped : end]
    if tasks:
        yield Text(_heading(topic, tasks, language, counted=counted or portion.skipped > 0))
        write = _WRITERS[form]
        yield from (Text(line) for line in write(tasks, language, portion.skipped + 1))
    if counted and end > len(topic.tasks):
        fewer = _FEWER if tasks and not portion.skipped else _NO_MORE
        note = fewer[language].format(known=len(topic.tasks), requested=portion.count)
        yield Text(f"\n\n{note}" if tasks else note)
    yield Data(_data(topic, tasks, language, requested=portion.count))


def _heading(topic: Topic, tasks: Sequence[Task], language: Language, *, counted: bool) -> str:
    items = topic.items.in_(language)
    if language is Language.JA:
        items = f"{items}（{len(tasks)}件）：" if counted else f"{items}："
    else:
        counted_items = f"{len(tasks)} {items}" if counted and len(tasks) > 1 else items
        items = f"{counted_items[:1].upper()}{counted_items[1:]}:"
    return items if counted else f"{topic.about.in_(language).strip()}\n\n{items}"


def _lines(tasks: Sequence[Task], language: Language, first: int) -> Iterator[str]:
    separator = "：" if language is Language.JA else ": "
    for number, task in enumerate(tasks, start=first):
        yield f"\n{number}. {task.title(language)}{separator}{task.description(language)}"


def _titles_only(tasks: Sequence[Task], language: Language, first: int) -> Iterator[str]:
    for number, task in enumerate(tasks, start=first):
        yield f"\n{number}. {task.title(language)}"


def _table(tasks: Sequence[Task], language: Language, first: int) -> Iterator[str]:
    yield f"\n\n{_COLUMNS[language]}\n| --- | --- | --- |"
    for number, task in enumerate(tasks, start=first):
        yield f"\n| {number} | {task.title(language)} | {task.description(language)} |"


_WRITERS = {AnswerFormat.FULL: _lines, AnswerFormat.BRIEF: _titles_only, AnswerFormat.TABLE: _table}


def _data(topic: Topic, tasks: Sequence[Task], language: Language, *, requested: int | None) -> dict[str, Any]:
    return {
        "topic": topic.id,
        "answered": True,
        "asked": requested,
        "tasks": [{"title": task.title(language), "description": task.description(language)} for task in tasks],
    }
