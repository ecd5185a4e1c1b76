"""Answers from the practices: as many tasks as were asked for, in order, and no invented ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import SendMessageRequest
from a2a_hub.a2a.reply import Data, Piece, Question, Text
from a2a_hub.a2a.text import text_of
from a2a_hub.agents.clauses import questions_in
from a2a_hub.agents.form import Form, asked_form, first_sentence
from a2a_hub.agents.topics import Rule, some_titles, topic_of, topics_of
from a2a_hub.text.language import Language, answer_language
from a2a_hub.text.quoted_mail import asked_in
from functions.pm.counting import asked_portion
from functions.pm.knowledge import Practices, Task, Topic

_DEFAULT_COUNT = 5
_MOST_ANSWERS = 3

_WHAT_IS_ASKED = {
    Language.EN: "What would you like to know about running a project? I can help with: {topics}.",
    Language.JA: "プロジェクトの進め方について、何をお手伝いしましょうか。対応できる項目：{topics}。",
}
_NOT_KNOWN = {
    Language.EN: "I have nothing on this among the project management practices that I know. "
    "I can help with: {topics}.",
    Language.JA: "この点は、私の知っているプロジェクト管理の知識にはありません。対応できる項目：{topics}。",
}
_FEWER = {
    Language.EN: "These are all {known} that I know; you asked for {asked}.",
    Language.JA: "ご希望は{asked}件でしたが、私が知っているのは以上の{known}件です。",
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
        self._rules = tuple(
            Rule.of(topic.id, rank=topic.rank, clues=topic.clues) for topic in practices.topics
        )

    def answer(self, request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        """What the practice is, unless a number of things was asked for; then its tasks. Two compared: each in a sentence."""
        question = asked_in(text_of(request.message))
        language = answer_language(question)
        if not question:
            yield Question(_WHAT_IS_ASKED[language].format(topics=self._titles(language)))
            return
        found = topics_of(question, self._rules)
        chosen = found[0] if found else None
        call.record["topic"] = chosen
        if chosen is None:
            yield Text(_NOT_KNOWN[language].format(topics=self._titles(language)))
            yield Data({"topic": None, "answered": False, "topics": list(self._topics)})
            return
        if len(found) > 1 and _COMPARES.search(question.casefold()):
            yield from _compared([self._topics[each] for each in found[:2]], language)
            return
        several = self._several(question)
        if len(several) > 1:
            yield from _each_told(several, language)
            return
        yield from _told(self._topics[chosen], question, language)

    def _several(self, question: str) -> list[tuple[str, Topic]]:
        """The practices that the text asks about one after the other, each with its part; a follow-up asks about one."""
        if "\n" in question:
            return []
        asked = [(each, topic_of(each, self._rules)) for each in questions_in(question)]
        parts = {topic: (each, self._topics[topic]) for each, topic in asked if topic is not None}
        return list(parts.values())[:_MOST_ANSWERS]

    def _titles(self, language: Language) -> str:
        return some_titles([topic.title.in_(language) for topic in self._topics.values()], language)


def _each_told(parts: Sequence[tuple[str, Topic]], language: Language) -> Iterator[Piece]:
    tasks: list[Any] = []
    for number, (question, topic) in enumerate(parts):
        if number:
            yield Text("\n\n")
        for piece in _told(topic, question, language):
            if isinstance(piece, Data):
                tasks += piece.value["tasks"]
            else:
                yield piece
    first = parts[0][1]
    yield Data(
        {"topic": first.id, "answered": True, "also": [topic.id for _, topic in parts[1:]], "tasks": tasks}
    )


def _compared(topics: Sequence[Topic], language: Language) -> Iterator[Piece]:
    yield Text("\n".join(f"- {first_sentence(topic.about.in_(language))}" for topic in topics))
    yield Data(
        {"topic": topics[0].id, "answered": True, "compared": [topic.id for topic in topics], "tasks": []}
    )


def _told(topic: Topic, question: str, language: Language) -> Iterator[Piece]:
    portion, form = asked_portion(question, usual=_DEFAULT_COUNT), asked_form(question)
    counted = portion.count is not None
    if form is Form.BRIEF and not counted:
        yield Text(first_sentence(topic.about.in_(language)))
        yield Data(_data(topic, (), language, asked=None))
        return
    end = portion.told + (portion.count or _DEFAULT_COUNT)
    tasks = topic.tasks[portion.told : end]
    if tasks:
        yield Text(_heading(topic, tasks, language, counted=counted or portion.told > 0))
        write = _WRITERS[form]
        yield from (Text(line) for line in write(tasks, language, portion.told + 1))
    if counted and end > len(topic.tasks):
        fewer = _FEWER if tasks and not portion.told else _NO_MORE
        words = fewer[language].format(known=len(topic.tasks), asked=portion.count)
        yield Text(f"\n\n{words}" if tasks else words)
    yield Data(_data(topic, tasks, language, asked=portion.count))


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


_WRITERS = {Form.FULL: _lines, Form.BRIEF: _titles_only, Form.TABLE: _table}


def _data(topic: Topic, tasks: Sequence[Task], language: Language, *, asked: int | None) -> dict[str, Any]:
    return {
        "topic": topic.id,
        "answered": True,
        "asked": asked,
        "tasks": [
            {"title": task.title(language), "description": task.description(language)} for task in tasks
        ],
    }
